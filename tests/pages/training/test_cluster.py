"""Trainings on a cluster: the choice of place, the script, how a job stands there, who may."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.jobs.state import list_jobs, show
from core.jobs.submission import SCRIPT
from tests.fake_slurm import calls, listed, put_programs

Open = Callable[..., AppTest]
Told = Callable[[AppTest], str]
FOUR = {"training-minutes": "4"}


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Programs of SLURM and settings; the folder of what they say."""
    path = tmp_path / "cluster.toml"
    path.write_text('partition = "gpu"\ntime = "2:00:00"\n')
    monkeypatch.setenv("EXPLORER_CLUSTER", str(path))
    return put_programs(tmp_path / "slurm", monkeypatch)


@pytest.fixture
def sent(slurm: Path, open_training: Open, runs: Path) -> Path:
    """The folder of a training that was sent to the cluster by the page."""
    app = open_training(**FOUR, **{"training-on": "cluster"})
    app.button(key="training-start").click().run()
    assert not app.exception
    (job,) = list_jobs(runs)
    return runs / job.id


def places(app: AppTest) -> list[str]:
    found: list[Any] = [group for group in app.get("button_group") if group.key == "training-on"]
    return list(found[0].options) if found else []


def test_without_settings_or_sbatch_there_is_no_choice(
    open_training: Open, slurm: Path, monkeypatch: pytest.MonkeyPatch
):
    assert places(open_training()) == ["this machine", "cluster"]
    with monkeypatch.context() as patch:
        patch.delenv("EXPLORER_CLUSTER")
        assert places(open_training()) == []
    monkeypatch.setattr("core.jobs.cluster.shutil.which", lambda _: None)
    assert places(open_training()) == []


def test_settings_with_a_mistake_are_told_and_offer_nothing(
    open_training: Open, slurm: Path, told: Told
):
    (slurm.parent / "cluster.toml").write_text("gpus = 100\n")
    app = open_training()
    assert places(app) == []
    assert "cluster.toml: gpus is 100: 0 to 64 are possible" in told(app)
    assert not app.button(key="training-start").disabled


def test_the_script_can_be_looked_at_before_it_is_submitted_and_after(
    open_training: Open, slurm: Path, told: Told
):
    assert "#SBATCH" not in told(open_training())
    app = open_training(**FOUR, **{"training-on": "cluster"})
    assert "#SBATCH --partition=gpu\n#SBATCH --signal=B:TERM@60" in told(app)
    assert calls(slurm, "sbatch") == []


def test_a_node_has_a_gpu_where_the_settings_say_so(
    slurm: Path, open_training: Open, told: Told, runs: Path
):
    there = {"training-on": "cluster", **FOUR}
    app = open_training(**there)
    assert "the settings give a job no GPU" in told(app)
    (slurm.parent / "cluster.toml").write_text("gpus = 1\n")
    app = open_training(**there)
    assert app.selectbox(key="training-device-there").options == ["cpu", "cuda"]
    app.selectbox(key="training-precision").set_value("bfloat16").run()
    app.button(key="training-start").click().run()
    assert not app.exception, app.exception[0].value
    (job,) = list_jobs(runs)
    assert job.spec is not None
    assert (job.on, job.spec.device, job.spec.precision) == ("slurm", "cuda", "bfloat16")


def test_a_start_sends_it_and_the_page_watches_how_it_stands(
    sent: Path, slurm: Path, open_training: Open, told: Told
):
    assert len(calls(slurm, "sbatch")) == 1
    listed(slurm, sent, "PENDING", reason="Resources")
    app = open_training(job=sent.name)
    said = told(app)
    assert "waits on the cluster: no node is free, expected to begin about" in said
    assert "On the cluster as job 17." in said
    assert (sent / SCRIPT).read_text().strip() in said
    listed(slurm, sent, "RUNNING")
    app.run()
    assert "On the cluster as job 17, on node node7." in told(app)
    listed(slurm, sent, "TIMEOUT")
    app = open_training(job=sent.name)
    assert "the cluster's time limit was reached before it could save" in told(app)
    (slurm / "sbatch.out").write_text("18\n")
    app.button(key=f"training-resume-{sent.name}").click().run()
    assert len(calls(slurm, "sbatch")) == 2
    job = show(sent.parent, sent.name)
    assert (job.state, job.on, job.there and job.there.number) == ("queued", "slurm", "18")


def test_what_the_cluster_refuses_is_told(open_training: Open, slurm: Path, runs: Path, told: Told):
    (slurm / "sbatch.err").write_text("sbatch: error: Batch job submission failed: no *account*\n")
    app = open_training(**FOUR, **{"training-on": "cluster"})
    app.button(key="training-start").click().run()
    said = "does not take the job: Batch job submission failed: no *account*"
    assert said in told(app)
    assert list_jobs(runs) == []


def test_the_lesson_is_trained_on_the_cluster_too(open_training: Open, slurm: Path, runs: Path):
    app = open_training(**{"training-view": "Lesson", "training-on": "cluster"})
    assert "on the cluster" in app.button(key="training-lesson").label
    app.button(key="training-lesson").click().run()
    assert not app.exception
    assert [job.on for job in list_jobs(runs)] == ["slurm", "slurm"]


@pytest.mark.parametrize("visitor", ["open", "pupil", "teacher", "show"])
def test_in_class_the_cluster_needs_the_teachers_code_and_in_show_it_is_not_offered(
    visitor: str,
    serve_as: Callable,
    open_training: Open,
    as_teacher: Callable,
    slurm: Path,
    runs: Path,
    told: Told,
):
    serve_as("class" if visitor in ("pupil", "teacher") else visitor)
    app = open_training(**FOUR)
    app = as_teacher(app) if visitor == "teacher" else app
    allowed = visitor in ("open", "teacher")
    assert bool(places(app)) == allowed
    assert ("The cluster: only with the teacher's code" in told(app)) == (visitor == "pupil")
    if not allowed:  # as if it had been drawn before
        mode = "class" if visitor == "pupil" else visitor
        serve_as("open")
        app = open_training(**FOUR, **{"training-on": "cluster"})
        serve_as(mode)
        app.button(key="training-start").click().run()
        assert list_jobs(runs) == []
        assert "only" in app.error[0].value
        assert calls(slurm, "sbatch") == []


def test_in_class_a_pupils_job_of_the_cluster_goes_on_with_the_code_alone(
    serve_as: Callable, open_training: Open, sent: Path, slurm: Path
):
    listed(slurm, sent, "NODE_FAIL")
    serve_as("class")
    app = open_training(job=sent.name)
    assert app.button(key=f"training-resume-{sent.name}").disabled
