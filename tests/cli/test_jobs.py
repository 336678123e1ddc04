"""`jobs`: everything the page does with trainings, without a browser."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from core import paths
from core.checkpoints.shelf import list_checkpoints
from core.cli import jobs as verb
from core.devices import Device, only_processor
from core.jobs import recorder, training, worker
from core.jobs.estimate import TrainingEstimate
from core.jobs.folder import LOG
from core.jobs.state import list_all
from core.runs.folder import STATE

Run = Callable[..., Any]


class FakeLauncher:
    """Launches nothing; the test runs the worker when it wants to."""

    patience = 30.0

    def obstacle(self) -> str | None:
        return None

    def launch(self, folder: Path, *, threads: int) -> None:
        (folder / LOG).write_text("hello\n")

    def launch_all(self, folders: Sequence[Path], *, threads: int) -> None:
        for folder in folders:
            self.launch(folder, threads=threads)


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing is started and nothing outside of this folder is written."""
    monkeypatch.setattr(paths, "CHECKPOINTS", tmp_path / "checkpoints")
    monkeypatch.setattr(paths, "RUNS", tmp_path / "checkpoints" / "runs")
    monkeypatch.setattr("core.jobs.places.LocalLauncher", FakeLauncher)
    monkeypatch.setattr(training, "NICENESS", 0)
    monkeypatch.setattr(recorder, "N_PROBES", 2)
    return paths.RUNS


def start(run: Run, *more: object) -> str:
    options = ("--preset", "tiny", "--steps", 10, "--threads", 1)
    report = run("jobs", "start", *options, *more, "--json").report
    assert list(report) == ["id", "device", "on"]
    return report["id"]


def state(run: Run, job_id: str) -> str:
    return run("jobs", "show", job_id, "--json").report["state"]


def test_a_list_has_the_keys_of_every_job(run: Run, runs: Path):
    assert run("jobs", "list", "--json").report == {"jobs": [], "leftovers": []}
    assert run("jobs", "list").out == "there are no jobs\n"
    job_id = start(run, "--name", "Ada's first")
    (row,) = run("jobs", "list", "--json").report["jobs"]
    assert row == {
        "id": job_id,
        "name": "Ada's first",
        "verb": "train",
        "state": "queued",
        "step": 0,
        "progress": 0.0,
        "started": None,
        "device": "cpu",
        "on": "local",
        "host": None,
        "reason": None,
        "sweep": None,
    }
    assert run("jobs", "list").out == f"{job_id}  queued (1. in line) 0%  Ada's first\n"


def test_a_job_goes_from_the_queue_to_a_checkpoint(run: Run, runs: Path):
    job_id = start(run, "--seed", 2)
    assert worker.main([str(runs / job_id)]) == 0
    report = run("jobs", "show", job_id, "--json").report
    assert (report["state"], report["step"], report["progress"]) == ("finished", 10, 1.0)
    assert report["started"].startswith("20")
    assert report["spec"]["seed"] == 2
    assert report["status"]["figures"]["dev"]["total"] > 0
    assert report["measurement"]["step"] == 10
    assert report["log"] == ["hello"]
    kept = run("jobs", "keep", job_id, "mine", "--json").report
    assert kept == {"id": job_id, "checkpoint": str(paths.CHECKPOINTS / "mine")}
    assert list_checkpoints(paths.CHECKPOINTS) == ["mine"]
    answer = run("ask", "--checkpoint", kept["checkpoint"], "--json", "Where was Ada Arden born?")
    assert isinstance(answer.report["answer"], str)


def test_a_show_without_json_is_a_line_the_message_and_the_log(run: Run, runs: Path):
    job_id = start(run)
    run("jobs", "stop", "no id")
    (runs / job_id / "ticket.json").unlink()
    first, second, third = run("jobs", "show", job_id).out.splitlines()
    assert first.startswith(f"{job_id}  failed")
    assert "ticket.json: cannot be read" in second
    assert third == "hello"


def test_stop_waits_until_the_worker_is_gone(run: Run, runs: Path, monkeypatch: pytest.MonkeyPatch):
    job_id = start(run)
    turns: list[float] = []

    def work_meanwhile(seconds: float) -> None:
        turns.append(seconds)
        if len(turns) == 3:
            worker.main([str(runs / job_id)])

    monkeypatch.setattr(verb.time, "sleep", work_meanwhile)
    report = run("jobs", "stop", job_id, "--json").report
    assert report == {"id": job_id, "state": "stopped"}
    assert len(turns) == 3


def test_a_stopped_job_is_resumed_and_removed(
    run: Run, runs: Path, monkeypatch: pytest.MonkeyPatch
):
    job_id = start(run)
    monkeypatch.setattr(verb.time, "sleep", lambda _: worker.main([str(runs / job_id)]))
    run("jobs", "stop", job_id)
    assert run("jobs", "resume", job_id, "--json").report == {"id": job_id}
    assert state(run, job_id) == "queued"
    assert "is queued: stop it first" in run("jobs", "remove", job_id).error
    run("jobs", "stop", job_id)
    assert run("jobs", "remove", job_id).out == f"{job_id} is removed\n"
    assert run("jobs", "show", job_id).error == f"error: there is no job {job_id}"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("start", "--preset", "tiny", "--minutes", "0"), "0.0 minutes: more than 0"),
        (("start", "--preset", "tiny", "--steps", "5", "--width", "7"), "width 7 cannot be cut"),
        (("start", "--preset", "tiny", "--learning-rate", "2"), "learning rate 2.0: more than 0"),
        (("start", "--preset", "huge"), "argument --preset: invalid choice: 'huge'"),
        (("start", "--preset", "tiny", "--steps", "1", "--minutes", "1"), "not allowed with"),
        (("start", "--preset", "tiny", "--corpus", "/etc"), "unrecognized arguments: --corpus"),
        (("stop", "../../etc"), "'../../etc' is no id of a job"),
        (("resume", "20260131-235959-0a1b2c"), "there is no job 20260131-235959-0a1b2c"),
        (("keep", "20260131-235959-0a1b2c", "a/b"), "name 'a/b': 1 to 40 small letters"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    run: Run, runs: Path, arguments: tuple[str, ...], message: str
):
    assert message in run("jobs", *arguments).error
    assert run("jobs", "list", "--json").report == {"jobs": [], "leftovers": []}


def test_overrides_reach_the_spec(run: Run, runs: Path):
    sizes = ("--width", 8, "--layers", 3, "--heads", 1, "--positions", "learned")
    latents = ("--latents", 5, "--latent-stride", 2)
    job_id = start(run, *sizes, *latents, "--learning-rate", 0.5)
    spec = run("jobs", "show", job_id, "--json").report["spec"]
    assert (spec["recipe"]["width"], spec["recipe"]["n_layers"]) == (8, 3)
    assert (spec["recipe"]["n_heads"], spec["recipe"]["positions"]) == (1, "learned")
    assert (spec["recipe"]["n_latents"], spec["recipe"]["latent_stride"]) == (5, 2)
    assert spec["recipe"]["matrix_rate"] == 0.5
    arguments = spec["arguments"]
    assert arguments[:2] == ["jobs", "start"]
    again = run(*arguments, "--json").report["id"]
    assert run("jobs", "show", again, "--json").report["spec"]["overrides"] == spec["overrides"]


def test_an_estimate_is_printed(run: Run, runs: Path, monkeypatch: pytest.MonkeyPatch):
    guess = TrainingEstimate(
        n_parameters=12345, n_steps=600, steps_per_second=5.0, tokens_per_second=9e3, seconds=120.0
    )
    monkeypatch.setattr(verb, "estimate", lambda spec: guess)
    options = ("jobs", "estimate", "--preset", "tiny", "--minutes", 2)
    assert run(*options, "--json").report["n_parameters"] == 12345
    assert run(*options).out == (
        "12,345 parameters, 9,000 tokens a second, 600 steps in 2.0 minutes\n"
    )


def test_a_job_cannot_be_resumed_by_train_behind_its_back(run: Run, runs: Path):
    job_id = start(run)
    error = run("train", "--resume", runs / job_id).error
    assert error.endswith(f"is a job: continue it with jobs resume {job_id}")


def test_a_fine_tuning_starts_from_a_checkpoint_by_its_name(run: Run, runs: Path):
    job_id = start(run)
    worker.main([str(runs / job_id)])
    run("jobs", "keep", job_id, "base")
    tune = ("jobs", "start", "--preset", "notable-fine-tune", "--steps", 4, "--threads", 1)
    assert "goes on with a checkpoint: name one" in run(*tune).error
    assert "there is no checkpoint 'absent'" in run(*tune, "--start-from", "absent").error
    tuned = run(*tune, "--start-from", "base", "--json").report["id"]
    worker.main([str(runs / tuned)])
    report = run("jobs", "show", tuned, "--json").report
    assert (report["state"], report["spec"]["start_from"]) == ("finished", "base")
    assert report["spec"]["recipe"]["width"] == 16  # the checkpoint's


def test_leftovers_are_listed_and_cleaned_and_what_was_trained_is_removed_by_its_name(
    run: Run, runs: Path
):
    job_id, gone, held = start(run), "20200101-000000-0a1b2c", "20200102-000000-0a1b2c"
    for name in (gone, held):
        (runs / name).mkdir()
    (runs / held / STATE).write_bytes(b"12345")
    (half, kept) = run("jobs", "list", "--json").report["leftovers"]
    why = "has no job.json"
    assert half == {"path": str(runs / gone), "why": why, "bytes": 0, "pid": None}
    assert (kept["path"], kept["bytes"]) == (str(runs / held), 5)
    first, second, third, fourth = run("jobs", "list").out.splitlines()
    assert first.startswith(job_id)
    assert second == f"left over: runs/{gone}, 0.0 MB: has no job.json"
    assert third.endswith(f"but {STATE}: put it back, or jobs remove {held}")
    assert fourth == "jobs clean removes what is left over"
    assert run("jobs", "clean", "--json").report == {"removed": [half]}
    assert run("jobs", "clean").out == "there is nothing to remove\n"
    assert len(run("jobs", "list").out.splitlines()) == 2  # the job, and what is kept
    assert run("jobs", "remove", held).out == f"{held} is removed\n"
    assert run("jobs", "list", "--json").report["leftovers"] == []
    (runs / gone).mkdir()
    assert run("jobs", "clean").out == f"removed: runs/{gone}, 0.0 MB: has no job.json\n"
    assert state(run, job_id) == "queued"


@pytest.fixture
def died_at_7(run: Run, runs: Path, at_step: Any) -> str:
    """A job whose worker failed in its seventh step, before its first save."""
    job_id = start(run)

    def fail() -> None:
        raise MemoryError

    at_step(7, fail)
    worker.main([str(runs / job_id)])
    assert state(run, job_id) == "failed"
    return job_id


def test_a_resume_says_where_it_goes_on_if_steps_are_taken_again(
    run: Run, runs: Path, died_at_7: str
):
    said = "it was at step 6 and goes on behind step 0, the last one saved"
    assert run("jobs", "resume", died_at_7).out == f"{died_at_7} is in the queue; {said}\n"
    worker.main([str(runs / died_at_7)])
    assert state(run, died_at_7) == "finished"
    other = start(run)
    (runs / other / "ticket.json").write_text(
        '{"attempt": 1, "order": 1, "written_at": 0, "patience": 0}'
    )
    assert run("jobs", "resume", other).out == f"{other} is in the queue\n"


def test_a_job_that_lost_its_state_is_not_resumed_and_says_why(
    run: Run, runs: Path, died_at_7: str
):
    (runs / died_at_7 / STATE).unlink()
    why = f"it cannot go on: {STATE} is missing"
    error = run("jobs", "resume", died_at_7).error
    assert error.startswith(f"error: job {died_at_7} is failed, but {why}")
    assert run("jobs", "show", died_at_7).out.splitlines()[1].startswith(why)


@pytest.fixture
def two_cards(monkeypatch: pytest.MonkeyPatch, runs: Path) -> Path:
    """A machine with two cards, and where its jobs are."""
    cards = [
        Device(name=f"cuda:{n}", title="A card", total_bytes=9, free_bytes=7) for n in range(2)
    ]
    monkeypatch.setattr("core.cli.places.at_hand", lambda: (only_processor(), *cards))
    return runs


def test_jobs_are_started_on_a_device_and_listed_with_it(run: Run, two_cards: Path):
    for _ in range(2):
        run("jobs", "start", "--preset", "tiny", "--steps", 5, "--device", "auto", "--json")
    run("jobs", "start", "--preset", "tiny", "--steps", 5)
    assert sorted(str(job.device) for job in list_all(two_cards)) == ["cpu", "cuda:0", "cuda:1"]
    report = run("jobs", "list", "--json").report
    assert sorted(job["device"] for job in report["jobs"]) == ["cpu", "cuda:0", "cuda:1"]
    endings = [line.split("  ")[-1] for line in run("jobs", "list").out.splitlines()]
    assert sorted(endings) == ["on cuda:0", "on cuda:1", "tiny"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (("--device", "cuda:2"), "device 'cuda:2' is not at hand here; devices: cpu, cuda:0"),
        (("--device", "tpu"), "argument --device: unknown device 'tpu'"),
        (("--precision", "bfloat16"), "precision bfloat16 is for cuda and mps; cpu computes in"),
    ],
)
def test_a_job_is_refused_what_is_not_here(
    run: Run, two_cards: Path, asked: tuple[str, ...], message: str
):
    refused = run("jobs", "start", "--preset", "tiny", "--steps", 5, *asked)
    assert refused.status == 2
    assert message in refused.error
    assert not list_all(two_cards)


def test_a_job_goes_on_on_another_device(run: Run, two_cards: Path):
    options = ("--preset", "tiny", "--steps", 5, "--device", "cuda:1", "--precision", "tf32")
    job_id = run("jobs", "start", *options, "--json").report["id"]
    (two_cards / job_id / "ticket.json").write_text(
        '{"attempt": 1, "order": 1, "written_at": 0, "patience": 0}'
    )
    again = ("jobs", "resume", job_id)
    refused = "device 'cuda:2' is not at hand here; devices: cpu, cuda:0, cuda:1"
    assert run(*again, "--device", "cuda:2").error == f"error: {refused}"
    assert "argument --device: unknown device 'tpu'" in run(*again, "--device", "tpu").error
    assert "--gpus is a cluster's matter" in run(*again, "--gpus", 1).error
    assert run(*again, "--device", "auto", "--json").report == {"id": job_id}
    spec = run("jobs", "show", job_id, "--json").report["spec"]
    assert (spec["device"], spec["precision"]) == ("cuda:0", "float32")
    assert "--precision" not in spec["arguments"]
