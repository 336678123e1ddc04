"""The settings of a cluster: what stands in the file, and every mistake in one sentence."""

from pathlib import Path

import pytest

from core.jobs.cluster import VARIABLE, Cluster, cluster_here, read_cluster, seconds_of

WHOLE = """
partition = "gpu"
account = "course-224"
time = "4:00:00"
gpus = 1
setup = ["module load cuda", "source /shared/venv/bin/activate"]
python = "/shared/venv/bin/python"
runs = "/shared/explorer/runs"
options = ["--qos=low", "--exclusive"]
"""


LONG = 'setup = ["' + "x" * 1001 + '"]'
MANY = "setup = [" + '"", ' * 101 + "]"


def put(folder: Path, text: str | bytes) -> dict[str, str]:
    path = folder / "cluster.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return {VARIABLE: str(path)}


def test_a_file_says_what_a_job_asks_for(tmp_path: Path):
    assert read_cluster(put(tmp_path, WHOLE)) == Cluster(
        partition="gpu",
        account="course-224",
        time="4:00:00",
        gpus=1,
        setup=("module load cuda", "source /shared/venv/bin/activate"),
        python="/shared/venv/bin/python",
        runs="/shared/explorer/runs",
        options=("--qos=low", "--exclusive"),
    )
    assert read_cluster(put(tmp_path, "")) == Cluster()
    assert read_cluster({}) is None
    assert read_cluster({VARIABLE: "  "}) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('partition = "a b; rm -rf /"', "partition is 'a b; rm -rf /'"),
        ('partition = "a\\n#SBATCH --x"', "partition is "),
        ('account = "$(id)"', r"account is '\$\(id\)': letters, digits"),
        ("partition = 3", "partition is 3, str is needed"),
        ('time = "soon"', "time is 'soon': such as 90, 4:00:00"),
        ('time = "1:60:00"', "at most 59 minutes"),
        ('time = "1"', "time is '1': 2 minutes to 30 days"),
        ('time = "31-0"', "time is '31-0': 2 minutes to 30 days"),
        ("time = 60", "time is 60, str is needed"),
        ("gpus = -1", "gpus is -1: 0 to 64"),
        ("gpus = 65", "gpus is 65: 0 to 64"),
        ("gpus = true", "gpus is True, int is needed"),
        ('setup = "module load"', "setup is 'module load', a list of texts"),
        ("setup = [1]", "setup is .1., a list of texts"),
        ('setup = ["a\\nb"]', "setup has 'a.nb': one line"),
        (LONG, "one line of at most 1000 characters"),
        (MANY, "setup has 101 lines: at most 100"),
        ('runs = "here"', "runs is 'here': a path that begins with /"),
        ('python = "a\\nb"', "python is 'a.nb': the path of a program"),
        ('options = ["-p gpu"]', "options has '-p gpu': --name or --name=value"),
        ('options = ["--comment=a b"]', "options has '--comment=a b'"),
        ('nodes = "3"', "unknown keys: nodes"),
        ("partition", "not TOML"),
    ],
)
def test_every_mistake_names_the_file_and_the_key(tmp_path: Path, text: str, said: str):
    with pytest.raises(ValueError, match=rf"cluster\.toml: .*{said}"):
        read_cluster(put(tmp_path, text))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path):
    with pytest.raises(ValueError, match=r"none\.toml: cannot be read"):
        read_cluster({VARIABLE: str(tmp_path / "none.toml")})
    with pytest.raises(ValueError, match=r"cluster\.toml: not TOML"):
        read_cluster(put(tmp_path, b"\xff\xfe"))
    with pytest.raises(ValueError, match=r"cluster\.toml: .*more|bytes"):
        read_cluster(put(tmp_path, "#" * 100_001))


@pytest.mark.parametrize(
    ("time", "seconds"),
    [
        ("90", 5400),
        ("2:30", 150),
        ("4:00:00", 14400),
        ("1-0", 86400),
        ("1-12:30", 131400),
        ("2-01:00:05", 176405),
    ],
)
def test_a_time_is_read_as_the_scheduler_reads_it(time: str, seconds: int):
    assert seconds_of(time) == seconds


def test_a_job_may_ask_for_something_else():
    asked = Cluster(partition="cpu", gpus=1).asked(partition="gpu", time="30", gpus=0)
    assert (asked.partition, asked.time, asked.gpus) == ("gpu", "30", 0)
    assert Cluster(partition="cpu").asked() == Cluster(partition="cpu")
    with pytest.raises(ValueError, match="partition is 'a;b'"):
        Cluster().asked(partition="a;b")


def test_there_is_no_cluster_without_sbatch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    environment = put(tmp_path, WHOLE)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert cluster_here(environment) is None
    program = tmp_path / "sbatch"
    program.write_text("")
    program.chmod(0o755)
    assert cluster_here(environment) == read_cluster(environment)
    assert cluster_here({}) is None
