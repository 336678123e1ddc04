"""The protocol: order, refusals, memory that runs out, and a stop that keeps what there is."""

import json
from collections.abc import Callable
from typing import Any

import pytest
import torch

from core.bench import measure as measuring
from core.bench.measure import measure
from core.bench.memory import MemoryMeter
from core.bench.record import Record
from core.bench.spec import BenchSpec

Quick = Callable[..., BenchSpec]


@pytest.fixture(autouse=True)
def no_meter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a process for the memory; it has its own tests."""
    monkeypatch.setattr(MemoryMeter, "peak_bytes", lambda *_: 4096)


def test_records_come_length_by_length_with_all_they_need(quick: Quick):
    records = list(measure(quick("sdpa", "elu", "linformer")))
    assert [(r.method, r.seq_len) for r in records] == [
        (method, length) for length in (16, 32) for method in ("sdpa", "elu", "linformer")
    ]
    for record in records:
        assert record.median_seconds is not None
        assert record.p25_seconds is not None
        assert record.p75_seconds is not None
        assert 0 < record.p25_seconds <= record.median_seconds <= record.p75_seconds
        assert record.repeats == len(record.quantiles) == 3
        assert record.peak_bytes == 4096
        assert record.relative_error is not None
        assert (record.relative_error < 1e-5) == (record.method == "sdpa")


def test_every_method_has_its_repeats_and_its_seconds(quick: Quick):
    (record,) = measure(quick("sdpa", lengths=(16,), repeats=4, seconds=0.05))
    assert record.repeats > 25
    assert len(record.quantiles) == 15
    assert list(record.quantiles) == sorted(record.quantiles)


def test_methods_are_called_in_turns(quick: Quick, monkeypatch: pytest.MonkeyPatch):
    called: list[Any] = []

    def seconds_of(run: Any, device: str) -> float:
        called.append(run)
        return 1.0 if len(called) > 2 else 0.1

    monkeypatch.setattr(measuring, "seconds_of", seconds_of)
    records = list(measure(quick("sdpa", "elu", lengths=(16,))))
    assert len(called) == 6
    assert called[0] is called[2] is called[4]
    assert called[1] is called[3] is called[5]
    assert called[0] is not called[1]
    assert records[0].median_seconds == 1.0
    assert "wide: half of the times spread over 45% of the median" in records[0].flags


def test_a_method_without_causal_form_says_why_and_the_others_go_on(quick: Quick):
    records = {r.method: r for r in measure(quick("nystrom", "sdpa", lengths=(16,), causal=True))}
    assert records["nystrom"].flags == (
        "no causal form: its landmarks are means over the whole text",
    )
    assert records["nystrom"].median_seconds is None
    assert records["sdpa"].median_seconds is not None


def test_what_would_not_fit_is_refused_and_never_tried(
    quick: Quick, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(measuring, "free_bytes", lambda *device: 60_000 if device else 10**12)
    tried: list[str] = []
    build = measuring.build

    def noted(spec: BenchSpec, method: str, seq_len: int) -> Any:
        tried.append(method)
        return build(spec, method, seq_len)

    monkeypatch.setattr(measuring, "build", noted)
    records = {r.method: r for r in measure(quick("explicit", "sdpa", lengths=(64,)))}
    assert records["explicit"].flags == (
        "refused: needs about 0.082 MB, and 60% of what is free is 0.036 MB",
    )
    assert records["explicit"].median_seconds is None
    assert tried == ["sdpa"]
    assert records["sdpa"].median_seconds is not None


def test_inputs_that_would_not_fit_are_never_made(quick: Quick, monkeypatch: pytest.MonkeyPatch):
    made: list[int] = []
    inputs = measuring.inputs

    def noted(spec: BenchSpec, length: int) -> Any:
        made.append(length)
        return inputs(spec, length)

    monkeypatch.setattr(measuring, "inputs", noted)
    monkeypatch.setattr(measuring, "free_bytes", lambda *device: 10**12 if device else 20_000)
    records = list(measure(quick("sdpa", "elu", lengths=(16, 64))))
    assert made == [16]
    assert [record.median_seconds is None for record in records] == [False, False, True, True]
    for record in records[2:]:
        assert record.flags == (
            "refused: needs about 0.037 MB, and 60% of what is free is 0.012 MB",
        )


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"),
        MemoryError(),
    ],
)
def test_memory_that_runs_out_is_a_flag_and_the_others_go_on(
    quick: Quick, monkeypatch: pytest.MonkeyPatch, error: BaseException
):
    build = measuring.build

    def scarce(spec: BenchSpec, method: str, seq_len: int) -> Any:
        if method == "elu":
            raise error
        return build(spec, method, seq_len)

    monkeypatch.setattr(measuring, "build", scarce)
    records = list(measure(quick("elu", "sdpa")))
    assert [(r.method, r.flags == ("out of memory",)) for r in records] == [
        ("elu", True),
        ("sdpa", False),
    ] * 2


def test_another_error_is_not_taken_for_scarce_memory(
    quick: Quick, monkeypatch: pytest.MonkeyPatch
):
    def broken(*_: Any) -> Any:
        raise RuntimeError("a shape does not fit")

    monkeypatch.setattr(measuring, "build", broken)
    with pytest.raises(RuntimeError, match="a shape does not fit"):
        list(measure(quick("elu")))


def test_an_exact_method_that_is_wrong_is_flagged(quick: Quick, monkeypatch: pytest.MonkeyPatch):
    build = measuring.build

    def off(spec: BenchSpec, method: str, seq_len: int) -> Any:
        call = build(spec, method, seq_len)
        return lambda *given: 1.01 * call(*given)

    monkeypatch.setattr(measuring, "build", off)
    records = {r.method: r for r in measure(quick("sdpa", "elu", lengths=(16,)))}
    assert "wrong: 0.01 away from softmax in float64" in records["sdpa"].flags
    assert not [flag for flag in records["elu"].flags if flag.startswith("wrong")]


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_an_output_that_is_not_finite_is_flagged_and_can_be_stored(
    quick: Quick, monkeypatch: pytest.MonkeyPatch, number: float
):
    build = measuring.build

    def off(spec: BenchSpec, method: str, seq_len: int) -> Any:
        call = build(spec, method, seq_len)
        return lambda *given: call(*given) * number if method == "elu" else call(*given)

    monkeypatch.setattr(measuring, "build", off)
    records = {r.method: r for r in measure(quick("sdpa", "elu", lengths=(16,)))}
    assert "wrong: its output is not finite" in records["elu"].flags
    assert records["elu"].relative_error is None
    json.dumps([record.to_dict() for record in records.values()], allow_nan=False)
    assert "wrong: its output is not finite" not in records["sdpa"].flags


def test_done_cases_are_left_out_and_counted(quick: Quick):
    told: list[tuple[int, int, str]] = []
    done = {("sdpa", 16), ("elu", 16), ("sdpa", 32)}
    records = list(measure(quick(), done=done, tell=lambda *said: told.append(said)))
    assert [(r.method, r.seq_len) for r in records] == [("elu", 32)]
    assert told == [(3, 4, "elu at 32 tokens"), (3, 4, "1 methods at 32 tokens, in turns")]


def stopping_after(n: int) -> Callable[[], bool]:
    """False n times, then True."""
    asked = iter(range(n))
    return lambda: next(asked, None) is None


def test_a_stop_keeps_what_has_had_its_repeats(quick: Quick):
    def found(n: int) -> list[Record]:
        return list(measure(quick("sdpa", "nystrom"), is_stopped=stopping_after(n)))

    assert found(0) == []
    counts = [len(found(n)) for n in range(30)]
    assert counts == sorted(counts)
    assert {0, 2, 4} <= set(counts)
    for n in range(30):
        assert all(record.repeats >= 3 for record in found(n))


@pytest.mark.parametrize(
    ("device", "message"), [("cuda", "sees no CUDA device"), ("mps", "has no MPS device")]
)
def test_a_device_that_is_not_there_is_refused(
    quick: Quick, device: str, message: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    with pytest.raises(ValueError, match=message):
        list(measure(quick(device=device)))
