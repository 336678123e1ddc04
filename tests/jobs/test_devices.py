"""Jobs have a device: it is looked for when they start, and each device has a queue of its own."""

import json
import subprocess
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from core.bench.spec import BenchSpec
from core.checkpoints.shelf import CARD, WEIGHTS
from core.devices import Device, only_processor
from core.jobs import actions, training
from core.jobs import at_hand as hand
from core.jobs.at_hand import at_hand, chosen
from core.jobs.bench_job import bench_job
from core.jobs.estimate import seconds_ahead
from core.jobs.folder import read_ticket
from core.jobs.locks import is_held
from core.jobs.state import list_all, read_job
from core.jobs.status import Reporter
from core.jobs.worker import wait_for_slot
from core.runs.folder import RUN
from core.training import loop
from core.training.where import Where
from tests.jobs.test_kills import assert_same_result

Start = Callable[..., Path]
GPUS = ("cuda:0", "cuda:1")


def device(name: str) -> Device:
    return Device(name=name, title="A card", total_bytes=9, free_bytes=7)


HERE = (only_processor(), *map(device, GPUS))


class NotYetError(AssertionError):
    """The turn did not come at once."""


def turn(folder: Path) -> Any:
    """The slot of a job if it is free now."""

    def pause(_: float) -> None:
        raise NotYetError

    job = read_job(folder)
    return wait_for_slot(
        folder,
        device=str(job.device),
        order=read_ticket(folder).order,
        is_stopped=lambda: False,
        pause=pause,
    )


def test_jobs_on_two_devices_run_side_by_side_and_on_one_in_turn(start: Start, runs: Path):
    first, beside, behind = (start(device=name) for name in ("cuda:0", "cuda:1", "cuda"))
    on_processor = start()
    locks = [turn(folder) for folder in (first, beside, on_processor)]
    names = sorted(path.name for path in (runs / ".slots").iterdir())
    assert names == ["cpu.lock", "cuda-0.lock", "cuda-1.lock"]
    with pytest.raises(NotYetError):
        turn(behind)  # cuda is the first of its kind
    for lock in locks:
        lock.release()
    for folder in (first, beside):
        (folder / "job.json").unlink()
    turn(behind).release()


def test_several_processes_take_a_card_each(
    start: Start, work: Callable[[Path], Any], monkeypatch: pytest.MonkeyPatch, runs: Path
):
    held: list[str] = []

    def look(*_: Any, **__: Any) -> dict[str, Any]:
        held.extend(sorted(path.name for path in (runs / ".slots").iterdir() if is_held(path)))
        return {}

    monkeypatch.setattr("core.jobs.together.work_together", look)
    assert work(start(device="cuda", processes=2)).state == "finished"
    assert held == ["cuda-0.lock", "cuda-1.lock"]
    assert not any(is_held(path) for path in (runs / ".slots").iterdir())


def test_places_and_waits_are_counted_by_device(start: Start, runs: Path):
    for name in ("cuda:0", "cuda:1", "cuda", "cpu"):
        start(device=name, minutes=2)
    jobs = list_all(runs)
    assert {job.device: job.place for job in jobs} == {
        "cuda:0": 1,
        "cuda:1": 1,
        "cuda": 2,
        "cpu": 1,
    }
    assert [seconds_ahead(jobs, name) for name in ("cuda:0", "cuda:1", "mps")] == [240, 120, 0]
    assert {job.row()["device"] for job in jobs} == {"cpu", "cuda", "cuda:1", "cuda:0"}


def test_a_device_and_a_precision_are_repeated_by_the_command(start: Start):
    job = read_job(start(device="cuda:1", precision="bfloat16"))
    assert job.spec is not None
    assert job.spec.where == Where(device="cuda:1", precision="bfloat16")
    said = job.spec.arguments()
    assert said[said.index("--device") :][:4] == ["--device", "cuda:1", "--precision", "bfloat16"]
    plain = read_job(start()).spec
    assert plain is not None
    assert not {"--device", "--precision"} & {*plain.arguments()}


def test_a_job_from_before_there_was_a_choice_is_still_read(start: Start):
    folder = start()
    data = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    del data["precision"]
    (folder / "job.json").write_text(json.dumps(data), encoding="utf-8")
    job = read_job(folder)
    assert job.spec is not None
    assert job.spec.where == Where()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"device": "gpu"}, "^device 'gpu'; devices: cpu, cuda, cuda:N, mps$"),
        ({"device": "auto"}, "^device 'auto'; devices: cpu, cuda, cuda:N, mps$"),
        ({"precision": "bfloat16"}, "^precision bfloat16 is for cuda and mps; cpu computes in"),
        ({"device": "mps", "precision": "tf32"}, "^precision tf32 is for cuda; mps computes in"),
    ],
)
def test_what_no_device_does_is_refused_before_it_waits(
    start: Start, asked: dict[str, Any], message: str
):
    with pytest.raises(ValueError, match=message):
        start(**asked)


def test_a_device_that_is_not_there_ends_a_job_in_one_sentence(
    start: Start, work: Callable[[Path], Any]
):
    folder = start(device="cuda:1")
    job = work(folder)
    assert (job.state, job.message) == ("failed", "torch sees no CUDA device here; devices: cpu")
    assert job.can_resume
    assert not (folder / RUN).exists()


def test_a_job_goes_on_on_another_device_and_says_so(
    start: Start, work: Callable[[Path], Any], runs: Path, launcher: Any
):
    folder, usual = start(device="cuda:1", precision="bfloat16"), start()
    assert work(folder).state == "failed"
    with pytest.raises(ValueError, match="^device 'gpu'; devices: cpu, cuda, cuda:N, mps$"):
        actions.resume(runs, folder.name, launcher, device="gpu")
    with pytest.raises(ValueError, match="precision tf32 is for cuda; mps computes in float32"):
        actions.resume(runs, folder.name, launcher, device="mps", precision="tf32")
    assert read_job(folder).state == "failed"
    actions.resume(runs, folder.name, launcher, device="cuda:1")
    job = read_job(folder)
    assert (job.state, job.spec and job.spec.where) == (
        "queued",
        Where(device="cuda:1", precision="bfloat16"),
    )
    assert work(folder).state == "failed"
    actions.resume(runs, folder.name, launcher, device="cpu")
    places = {job.id: (job.slot, job.place) for job in list_all(runs)}
    assert places == {usual.name: ("cpu", 1), folder.name: ("cpu", 2)}
    assert (work(usual).state, work(folder).state) == ("finished", "finished")
    spec = read_job(folder).spec
    assert spec is not None
    assert spec.where == Where()
    assert "--device" not in spec.arguments()
    assert json.loads((folder / CARD).read_text(encoding="utf-8"))["where"]["device"] == "cpu"
    assert_same_result(folder, usual)


def test_a_run_that_is_stopped_goes_on_elsewhere_and_back_with_its_own_state(
    start: Start,
    stopped_at_7: Path,
    work: Callable[[Path], Any],
    runs: Path,
    launcher: Any,
    at_step: Callable[[int, Callable[[], Any]], None],
    monkeypatch: pytest.MonkeyPatch,
):
    """On a card that is made up: what is ordered there is done here."""
    actions.resume(runs, stopped_at_7.name, launcher, device="cuda:1")
    with monkeypatch.context() as patch:
        patch.setattr(training, "resolve_device", str)
        patch.setattr(loop, "device_of", lambda _: "cpu")
        patch.setattr(loop, "set_precision", lambda _: None)
        at_step(5, lambda: actions.stop(runs, stopped_at_7.name))  # behind those 7
        job = work(stopped_at_7)
    assert (job.state, job.device, job.status and job.status.step) == ("stopped", "cuda:1", 12)
    told = json.loads((stopped_at_7 / RUN).read_text(encoding="utf-8"))
    assert told["where"]["device"] == "cuda:1"
    assert told["moved"] == [{"until_step": 7, **Where().to_dict()}]
    actions.resume(runs, stopped_at_7.name, launcher, device="cpu")
    usual = start()
    assert [work(folder).state for folder in (stopped_at_7, usual)] == ["finished"] * 2
    weights = [(folder / WEIGHTS).read_bytes() for folder in (stopped_at_7, usual)]
    assert weights[0] == weights[1]


def test_a_device_that_does_not_take_the_job_leaves_it_as_it_was(stopped_at_7: Path, runs: Path):
    class Refusing:
        patience = 30.0

        def obstacle(self) -> str | None:
            return None

        def launch(self, folder: Path, *, threads: int) -> None:
            raise ValueError("the cluster does not take the job")

        def launch_all(self, folders: Any, *, threads: int) -> None:
            raise AssertionError

    before = (stopped_at_7 / "job.json").read_bytes()
    with pytest.raises(ValueError, match="does not take the job"):
        actions.resume(runs, stopped_at_7.name, Refusing(), device="cuda")
    assert (stopped_at_7 / "job.json").read_bytes() == before
    assert read_job(stopped_at_7).state == "stopped"


def test_a_measurement_goes_on_where_it_was(runs: Path, launcher: Any):
    job_id = actions.start(runs, bench_job(BenchSpec(methods=("sdpa",), lengths=(64,))), launcher)
    Reporter(runs / job_id, 1).write(state="stopped")
    with pytest.raises(ValueError, match="^only a training can go on on another device$"):
        actions.resume(runs, job_id, launcher, device="cuda")
    actions.resume(runs, job_id, launcher)


def test_the_device_of_a_job_reaches_its_run(
    start: Start, work: Callable[[Path], Any], monkeypatch: pytest.MonkeyPatch
):
    asked: list[Where] = []

    def begin(*_: Any, where: Where, **__: Any) -> Any:
        asked.append(where)
        raise ValueError("not begun")

    monkeypatch.setattr(training, "resolve_device", str)
    monkeypatch.setattr(training, "start_run", begin)
    monkeypatch.setattr(training, "resume_run", begin)
    folder = start(device="cuda:1", precision="tf32")
    assert work(folder).message == "not begun"
    (folder / RUN).touch()
    with suppress(ValueError):
        training.work(read_job(folder).spec, folder, SimpleNamespace(write=print), bool)  # type: ignore[arg-type]
    assert asked == [Where(device="cuda:1", precision="tf32")] * 2


def test_the_processor_alone_is_listed_without_asking_torch(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(hand, "devices_at_hand", lambda: ["cpu"])
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("somebody was asked"))
    (found,) = at_hand()
    assert (found.name, found.title) == ("cpu", only_processor().title)


def test_gpus_are_listed_by_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(hand, "devices_at_hand", lambda: ["cpu", "cuda"])
    said = SimpleNamespace(returncode=0, stdout=json.dumps([asdict(one) for one in HERE]))
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: said)
    assert at_hand() == HERE
    assert len(at_hand(ask=False)) == 1
    said.returncode, said.stderr = 1, "warning\nRuntimeError: driver too old\n"
    with pytest.raises(ValueError, match="which devices are here: RuntimeError: driver too old"):
        at_hand()


def test_auto_is_the_gpu_with_the_fewest_jobs(start: Start, runs: Path):
    assert chosen("auto", HERE[:1], []) == "cpu"
    assert chosen("auto", HERE, []) == "cuda:0"
    start(device="cuda")
    assert chosen("auto", HERE, list_all(runs)) == "cuda:1"
    start(device="cuda:1")
    assert chosen("auto", HERE, list_all(runs)) == "cuda:0"
    assert chosen("cuda", HERE, list_all(runs)) == "cuda"
    with pytest.raises(ValueError, match="^device 'mps' is not at hand here; devices: cpu, cuda:0"):
        chosen("mps", HERE, [])
