"""Sweeps over networks of pictures as jobs: in one queue with all others, stopped, gone on with."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.bench import machine
from core.cli.main import build_parser
from core.files import read_json
from core.jobs import actions, look_job, looking, status
from core.jobs.estimate import seconds_ahead
from core.jobs.folder import JOB
from core.jobs.keep import keep
from core.jobs.look_job import LookJob, look_from_dict, look_jobs, runs_of, sweep_of, sweep_of_all
from core.jobs.quota import minutes_of, shortened
from core.jobs.state import Job, list_all, list_benches, list_jobs, list_looks, read_spec, show
from core.pictures.drawn import drawn_digits
from core.pictures.pictures import Pictures
from core.pictures.sweep import LOOK, Run, read_sweep
from core.pictures.sweep_spec import SweepSpec, seconds_of
from core.runs import stopping
from core.runs.journal import METRICS, read_metrics
from core.server import Server
from core.training import pictures as training

Work = Callable[[Path], Job]


def spec(**changes: Any) -> SweepSpec:
    base: dict[str, Any] = {"source": "drawn", "networks": ("pooling", "strides"), "rates": (0.05,)}
    base |= {"seeds": 2, "epochs": 1, "batch": 16, "threads": 1}
    return SweepSpec(**base | changes)


@pytest.fixture(scope="module")
def drawn() -> Pictures:
    return drawn_digits(32, 10, 10)


@pytest.fixture(autouse=True)
def few(drawn: Pictures, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "load_pictures", lambda _: drawn)
    monkeypatch.setattr(stopping, "LOOK_EVERY_SECONDS", -1.0)
    monkeypatch.setattr(status, "WRITE_EVERY_SECONDS", -1.0)


@pytest.fixture
def begin(runs: Path, launcher: Any) -> Callable[..., Path]:
    def put(**changes: Any) -> Path:
        return runs / actions.start(runs, look_job.look_job(spec(**changes)), launcher)

    return put


@pytest.fixture
def at_training(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, Callable[[], Any]], None]:
    """Do something as the n-th training begins."""

    def arrange(n: int, act: Callable[[], Any]) -> None:
        real, calls = training.make_network, 0

        def make_network(*given: Any, **more: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == n:
                act()
            return real(*given, **more)

        monkeypatch.setattr(training, "make_network", make_network)

    return arrange


def timeless(runs: list[Run] | tuple[Run, ...]) -> list[Run]:
    return [replace(run, seconds=0.0, others=None) for run in runs]


def test_a_sweep_runs_to_its_end_with_a_line_a_training(begin: Any, work: Work, drawn: Pictures):
    folder = begin()
    job = work(folder)
    assert (job.state, job.message, job.progress) == ("finished", "", 1.0)
    assert job.status is not None
    assert job.status.figures == {"n_runs": 4}
    assert [row["step"] for row in read_metrics(folder)] == [1, 2, 3, 4]
    sweep = read_sweep(folder / LOOK)
    assert sweep == sweep_of(folder)
    assert [run.case for run in sweep.runs] == spec().cases
    assert (sweep.pictures.digest, sweep.is_whole) == (drawn.digest, True)
    assert sweep.machine["processor"]
    assert sweep.environment["threads"] == 1
    assert all(run.others is not None and 0 <= run.others <= 1 for run in sweep.runs)


def test_what_is_trained_can_be_read_while_it_goes_on(begin: Any, work: Work, at_training: Any):
    folder, seen = begin(), list[Any]()
    at_training(3, lambda: seen.extend([show(folder.parent, folder.name), sweep_of(folder)]))
    assert sweep_of(folder) is None
    work(folder)
    job, sweep = seen
    assert (job.state, job.status.step, job.status.n_steps, job.progress) == ("running", 2, 4, 0.5)
    assert job.status.seconds_left > 0
    assert len(sweep.runs) == 2


def test_a_stopped_sweep_goes_on_where_it_was(
    begin: Any, work: Work, at_training: Any, runs: Path, launcher: Any
):
    folder = begin()
    at_training(3, lambda: actions.stop(runs, folder.name))
    job = work(folder)
    assert (job.state, job.message) == ("stopped", "stopped as asked")
    assert len(read_sweep(folder / LOOK).runs) == 2
    kept = (folder / METRICS).read_bytes()
    actions.resume(runs, folder.name, launcher)
    assert work(folder).state == "finished"
    assert (folder / METRICS).read_bytes().startswith(kept)
    work(whole := begin())
    one, other = (read_sweep(path / LOOK).runs for path in (folder, whole))
    assert timeless(one) == timeless(other)


def test_a_half_written_line_is_trained_again(
    begin: Any, work: Work, at_training: Any, runs: Path, launcher: Any
):
    folder = begin()
    at_training(2, lambda: actions.stop(runs, folder.name))
    work(folder)
    with (folder / METRICS).open("a") as file:
        file.write('{"step": 2, "netw')
    actions.resume(runs, folder.name, launcher)
    assert work(folder).state == "finished"
    assert len(runs_of(folder, spec())) == 4


def test_other_pictures_do_not_go_on_with_it(
    begin: Any,
    work: Work,
    at_training: Any,
    runs: Path,
    launcher: Any,
    monkeypatch: pytest.MonkeyPatch,
):
    folder = begin()
    at_training(2, lambda: actions.stop(runs, folder.name))
    work(folder)
    monkeypatch.setattr(looking, "load_pictures", lambda _: drawn_digits(32, 10, 10, seed=1))
    actions.resume(runs, folder.name, launcher)
    job = work(folder)
    assert (job.state, job.message) == (
        "failed",
        "the pictures of 'drawn' are not those that it was begun with",
    )


def test_all_verbs_share_one_queue_and_have_their_own_lists(
    begin: Any, start: Callable[..., Path], runs: Path
):
    first, second = start(), begin()
    assert {job.id: job.place for job in list_all(runs)} == {first.name: 1, second.name: 2}
    assert [job.id for job in list_jobs(runs)] == [first.name]
    assert list_benches(runs) == []
    (look,) = list_looks(runs)
    assert (look.look, look.spec, look.bench) == (look_job.look_job(spec()), None, None)
    assert (look.row()["verb"], look.name) == ("look", "4 trainings on drawn, 2 seeds")
    assert seconds_ahead([look], "cpu") == seconds_of(spec())


def test_a_sweep_is_no_model_to_be_kept(begin: Any, work: Work, runs: Path, tmp_path: Path):
    folder = begin()
    work(folder)
    with pytest.raises(ValueError, match="is a sweep over networks; only a model can be kept"):
        keep(runs, folder.name, "mine", checkpoints=tmp_path)


def test_a_job_comes_back_from_its_file_and_its_arguments_repeat_it(begin: Any):
    from core.cli.look import _spec

    asked = {"rates": (0.5, 0.001), "networks": ("patches",), "padding": 1, "patch_rate": 1e-4}
    asked |= {"first_seed": 7}
    job = read_spec(begin(**asked))
    assert job == look_job.look_job(spec(**asked))
    assert isinstance(job, LookJob)
    assert _spec(build_parser().parse_args(job.arguments())) == spec(**asked)


def test_a_job_of_before_devices_is_one_of_the_processor():
    data = look_job.look_job(spec(), device="cuda:1").to_dict()
    assert data["arguments"][-2:] == ["--device", "cuda:1"]
    assert look_from_dict(data).device == data.pop("device") == "cuda:1"
    assert look_from_dict(data).device == "cpu"


def test_a_job_for_each_seed_trains_what_one_job_trains(
    begin: Any, work: Work, runs: Path, launcher: Any
):
    work(whole := begin())
    launcher.patience = 0.0  # the second does not wait for the worker of the first
    jobs = look_jobs(spec())
    assert [job.name for job in jobs] == [f"2 trainings on drawn, seed {seed}" for seed in (0, 1)]
    _, ids = actions.start_sweep(runs, jobs, launcher, name="both")
    folders = [runs / job_id for job_id in ids]
    work(folders[1])
    with pytest.raises(ValueError, match=f"job {ids[0]} has not begun"):
        sweep_of_all(folders)
    work(folders[0])
    one, other = sweep_of_all(folders), read_sweep(whole / LOOK)
    assert timeless(one.runs) == timeless(other.runs)
    assert replace(one, runs=()) == replace(other, runs=(), environment=one.environment)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"colour": 1}, "job.json: unknown keys: colour"),
        ({"device": 3}, "job.json: device is 3; the name of one is needed"),
        ({"name": 3}, "job.json: a name and a spec are needed"),
        ({"spec": []}, "job.json: a name and a spec are needed"),
        ({"spec": {"seeds": 1}}, "job.json: missing keys: source, networks, rates"),
        ({"spec": {**spec().to_dict(), "rates": [-1.0]}}, "job.json: rate -1; above 0"),
    ],
)
def test_a_damaged_file_is_a_failed_job_with_its_reason(
    begin: Any, runs: Path, changes: dict[str, Any], message: str
):
    folder = begin()
    (folder / JOB).write_text(json.dumps({**read_json(folder / JOB), **changes}))
    job = show(runs, folder.name)
    assert job.look is None
    assert job.message.startswith(message)
    assert look_from_dict(look_job.look_job(spec()).to_dict()) == look_job.look_job(spec())


@pytest.mark.parametrize(
    ("changes", "name", "message"),
    [
        ({}, "x" * 81, "1 to 80 printable characters are needed"),
        (
            {"epochs": 200, "seeds": 20, "rates": (0.1, 0.2, 0.3)},
            "",
            "hours: at most 4 are allowed",
        ),
        ({"source": "../etc/passwd"}, "", "no pictures named '../etc/passwd'; at hand: drawn"),
    ],
)
def test_what_is_not_trained_on_a_server_is_refused(
    changes: dict[str, Any], name: str, message: str
):
    with pytest.raises(ValueError, match=message):
        look_job.look_job(spec(**changes), name=name)


def test_a_device_that_torch_does_not_name_is_refused():
    with pytest.raises(ValueError, match="device 'gpu'; devices: cpu, cuda"):
        look_job.look_job(spec(), device="gpu")


def test_a_worker_checks_again(begin: Any, work: Work, monkeypatch: pytest.MonkeyPatch):
    folder = begin()
    monkeypatch.setattr(look_job, "sources", lambda: ("digits",))
    assert work(folder).message == "no pictures named 'drawn'; at hand: digits"


def test_a_pupil_s_quota_counts_its_minutes():
    job = look_job.look_job(spec(epochs=100))
    assert minutes_of(job) == seconds_of(job.spec) / 60
    assert shortened(Server(mode="class"), job) == job


def test_the_machine_is_said_once(begin: Any, work: Work, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(machine, "processor_name", lambda: "a processor")
    folder = begin()
    work(folder)
    assert read_json(folder / LOOK)["machine"]["processor"] == "a processor"
