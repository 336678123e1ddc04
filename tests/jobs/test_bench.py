"""Measurements as jobs: in one queue with trainings, stopped with what they have, gone on with."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.bench import machine
from core.bench import measure as measuring
from core.bench.memory import MemoryMeter
from core.bench.record import Bench, read_bench
from core.bench.spec import BenchSpec
from core.cli.main import build_parser
from core.files import read_json
from core.jobs import actions, status
from core.jobs.bench_job import BENCH, BenchJob, bench_from_dict, bench_job, bench_of, records_of
from core.jobs.estimate import seconds_ahead
from core.jobs.folder import JOB
from core.jobs.keep import keep
from core.jobs.state import Job, list_all, list_benches, list_jobs, read_job, read_spec, show
from core.runs import stopping
from core.runs.journal import METRICS, read_metrics
from core.theory.costs import Sizes

Work = Callable[[Path], Job]
CASES = [(method, length) for length in (16, 32) for method in ("sdpa", "elu")]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the process that measures memory, and with a low roof."""
    monkeypatch.setattr(MemoryMeter, "peak_bytes", lambda *_: 4096)
    monkeypatch.setattr(machine, "COPIED_BYTES", 2**20)
    monkeypatch.setattr(machine, "MATRIX_SIDE", 64)
    monkeypatch.setattr(stopping, "LOOK_EVERY_SECONDS", -1.0)
    monkeypatch.setattr(status, "WRITE_EVERY_SECONDS", -1.0)


def spec(**changes: Any) -> BenchSpec:
    base: dict[str, Any] = {"methods": ("sdpa", "elu"), "lengths": (16, 32), "head_dim": 8}
    base |= {"n_heads": 2, "repeats": 3, "seconds": 0.0}
    return BenchSpec(**{**base, **changes})


@pytest.fixture
def begin(runs: Path, launcher: Any) -> Callable[..., Path]:
    def put(**changes: Any) -> Path:
        return runs / actions.start(runs, bench_job(spec(**changes)), launcher)

    return put


@pytest.fixture
def at_call(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, Callable[[], Any]], None]:
    """Do something in the n-th call that is timed."""

    def arrange(n: int, act: Callable[[], Any]) -> None:
        real, calls = measuring.seconds_of, 0

        def seconds_of(*given: Any) -> float:
            nonlocal calls
            calls += 1
            if calls == n:
                act()
            return real(*given)

        monkeypatch.setattr(measuring, "seconds_of", seconds_of)

    return arrange


def cases(folder: Path) -> list[tuple[str, int]]:
    return [(record.method, record.seq_len) for record in records_of(folder)]


def test_a_measurement_runs_to_its_end_and_keeps_its_report(begin: Any, work: Work):
    folder = begin()
    job = work(folder)
    assert (job.state, job.message, job.progress) == ("finished", "", 1.0)
    assert job.status is not None
    assert job.status.figures == {"n_records": 4}
    assert [row["step"] for row in read_metrics(folder)] == [1, 2, 3, 4]
    assert cases(folder) == CASES
    bench = read_bench(folder / BENCH)
    assert list(bench.records) == records_of(folder)
    assert bench.environment["threads"] == 1
    assert {"fits", "crossovers"} <= set(read_json(folder / BENCH))


def test_points_and_what_is_measured_can_be_read_while_it_goes_on(
    begin: Any, work: Work, at_call: Any
):
    folder, seen = begin(), list[Any]()

    def look_now() -> None:
        job = read_job(folder)
        seen.extend([job, cases(folder), read_bench(folder / BENCH), bench_of(folder)])

    at_call(8, look_now)  # in the second length
    work(folder)
    job, measured, bench, so_far = seen
    assert job.state == "running"
    assert job.status.activity == "measuring: 2 methods at 32 tokens, in turns"
    assert (job.status.step, job.status.n_steps, job.progress) == (2, 4, 0.5)
    assert job.status.seconds_left > 0
    assert measured == CASES[:2]
    assert (so_far.machine, len(so_far.records)) == (bench.machine, 2)
    assert (bench.records, bench.environment["roof"].keys()) == (
        (),
        {"bytes_per_second", "operations_per_second"},
    )


def test_before_a_measurement_begins_nothing_is_known_of_it(begin: Any):
    assert bench_of(begin()) == Bench(machine={}, environment={}, records=())


def test_a_stop_keeps_what_is_measured_and_a_resume_measures_only_the_rest(
    begin: Any, work: Work, at_call: Any, runs: Path, launcher: Any, monkeypatch: pytest.MonkeyPatch
):
    folder = begin()
    at_call(8, lambda: actions.stop(runs, folder.name))
    job = work(folder)
    assert (job.state, job.message) == ("stopped", "stopped as asked")
    assert cases(folder) == CASES[:2]
    assert len(read_bench(folder / BENCH).records) == 2
    kept = (folder / METRICS).read_bytes()
    actions.resume(runs, folder.name, launcher)
    job = work(folder)
    assert (job.state, cases(folder)) == ("finished", CASES)
    assert (folder / METRICS).read_bytes().startswith(kept)
    assert len(read_bench(folder / BENCH).records) == 4


def test_another_machine_does_not_go_on_with_it(
    begin: Any, work: Work, at_call: Any, runs: Path, launcher: Any, monkeypatch: pytest.MonkeyPatch
):
    folder = begin()
    at_call(8, lambda: actions.stop(runs, folder.name))
    work(folder)
    monkeypatch.setattr(machine, "processor_name", lambda: "another one")
    actions.resume(runs, folder.name, launcher)
    job = work(folder)
    assert job.state == "failed"
    assert "measured with another processor" in job.message
    assert cases(folder) == CASES[:2]


def test_a_half_written_line_is_measured_again(
    begin: Any, work: Work, at_call: Any, runs: Path, launcher: Any
):
    folder = begin()
    at_call(8, lambda: actions.stop(runs, folder.name))
    work(folder)
    with (folder / METRICS).open("a") as file:
        file.write('{"step": 3, "meth')
    actions.resume(runs, folder.name, launcher)
    assert work(folder).state == "finished"
    assert cases(folder) == CASES


def test_a_device_that_is_not_there_fails_in_one_sentence(begin: Any, work: Work):
    job = work(begin(device="cuda", dtype="float16"))
    assert (job.state, job.message) == ("failed", "torch sees no CUDA device here; devices: cpu")


def test_both_verbs_share_one_queue_and_have_their_own_lists(
    begin: Any, start: Callable[..., Path], runs: Path
):
    first, second, third = start(), begin(), start()
    places = {job.id: job.place for job in list_all(runs)}
    assert places == {first.name: 1, second.name: 2, third.name: 3}
    assert {job.id for job in list_jobs(runs)} == {third.name, first.name}
    (bench,) = list_benches(runs)
    assert (bench.spec, bench.place, bench.device) == (None, 2, "cpu")
    assert sorted(job.place or 0 for job in list_jobs(runs)) == [1, 3]
    assert bench.name == "2 methods to 32 tokens, not causal, forward"
    assert (bench.row()["verb"], list_jobs(runs)[0].row()["verb"]) == ("bench", "train")
    assert show(runs, second.name).bench == bench_job(spec())
    assert seconds_ahead([bench], "cpu") == pytest.approx(6, rel=0.2)


def test_a_measurement_is_no_model_to_be_kept(begin: Any, work: Work, runs: Path, tmp_path: Path):
    folder = begin()
    work(folder)
    with pytest.raises(ValueError, match="is a measurement; only a model can be kept"):
        keep(runs, folder.name, "mine", checkpoints=tmp_path)


def test_a_job_comes_back_from_its_file_as_it_was(begin: Any):
    folder = begin(causal=True, sizes=Sizes(n_features=64, n_terms=2))
    assert read_spec(folder) == bench_job(spec(causal=True, sizes=Sizes(n_features=64, n_terms=2)))


def test_its_arguments_repeat_it(begin: Any):
    asked = spec(causal=True, backward=True, sizes=Sizes(n_features=64, n_terms=2), seconds=0.5)
    from core.cli.bench import _spec

    sizes = Sizes(window=16, n_sinks=1)
    writes = spec(causal=True, question="generation", sizes=sizes)
    for one in (asked, writes):
        arguments = bench_job(one).arguments()
        assert _spec(build_parser().parse_args(arguments)) == one
    assert bench_job(writes).name.endswith(" methods, one token behind up to 32")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"colour": 1}, "job.json: unknown keys: colour"),
        ({"name": 3}, "job.json: a name and a spec are needed"),
        ({"spec": []}, "job.json: a name and a spec are needed"),
        ({"spec": {"methods": ["elu"]}}, "job.json: not a bench spec: 'lengths'"),
    ],
)
def test_a_damaged_file_is_a_failed_job_with_its_reason(
    begin: Any, runs: Path, changes: dict[str, Any], message: str
):
    folder = begin()
    (folder / JOB).write_text(json.dumps({**read_json(folder / JOB), **changes}))
    job = show(runs, folder.name)
    assert (job.bench, job.message) == (None, message)
    assert bench_from_dict(bench_job(spec()).to_dict()) == bench_job(spec())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: bench_job(spec(), name="x" * 81), "1 to 80 printable characters are needed"),
        (lambda: bench_job(spec(), name="a\nb"), r"name 'a\\nb': 1 to 80 printable characters"),
        (
            lambda: bench_job(spec(lengths=(2**17,), repeats=1000, n_heads=64, head_dim=256)),
            "hours: at most 4 are allowed here; take fewer methods or shorter texts",
        ),
    ],
)
def test_what_is_not_measured_on_a_server_is_refused(
    make: Callable[[], BenchJob], message: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("core.bench.estimate.free_bytes", lambda: 10**15)
    with pytest.raises(ValueError, match=message):
        make()


def test_a_worker_checks_again(begin: Any, work: Work, monkeypatch: pytest.MonkeyPatch):
    folder = begin()
    job = replace(bench_job(spec()), name="")
    monkeypatch.setattr("core.jobs.worker.read_spec", lambda _: job)
    assert work(folder).message.startswith("name '': 1 to 80 printable characters")


@pytest.mark.parametrize("is_replaced", [False, True])
def test_a_measurement_whose_folder_is_removed_ends_and_leaves_the_name_alone(
    begin: Any, work: Work, at_call: Any, is_replaced: bool, monkeypatch: pytest.MonkeyPatch
):
    folder, calls = begin(), list[Any]()

    def remove() -> None:
        shutil.rmtree(folder)
        if is_replaced:
            folder.mkdir()
            (folder / JOB).write_text("{}")
        counted = measuring.seconds_of
        monkeypatch.setattr(
            measuring, "seconds_of", lambda *given: (calls.append(given), counted(*given))[1]
        )

    at_call(3, remove)
    work(folder)
    assert calls == []  # not one call after the one under way
    assert folder.exists() is is_replaced
    assert [path.name for path in folder.glob("*")] == [JOB] * is_replaced


def test_records_that_were_lost_are_measured_again_and_that_is_said(
    begin: Any, work: Work, at_call: Any, runs: Path, launcher: Any, capfd: Any
):
    folder = begin()
    at_call(8, lambda: actions.stop(runs, folder.name))
    assert work(folder).state == "stopped"
    assert cases(folder) == CASES[:2]
    capfd.readouterr()
    (folder / METRICS).unlink()
    actions.resume(runs, folder.name, launcher)
    assert work(folder).state == "finished"
    assert cases(folder) == CASES
    assert "2 lost records are measured again" in capfd.readouterr().err
