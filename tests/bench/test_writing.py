"""A step of generation: the last row of the whole pass, from what is kept of the tokens before."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from core.bench import measure as measuring
from core.bench.machine import sdpa_backend
from core.bench.measure import measure
from core.bench.memory import MemoryMeter
from core.bench.methods import inputs
from core.bench.reference import distance
from core.bench.spec import BenchSpec
from core.bench.writing import last_of_pass, tensors, written
from core.catalogue import METHODS, WRITERS
from core.models.heads import DotHeads
from core.theory.costs import Sizes
from core.theory.steps import kept_bytes

Quick = Callable[..., BenchSpec]
SMALL = Sizes(n_features=24, window=6, n_sinks=2)


@pytest.fixture
def writes(quick: Quick) -> Quick:
    def make(*methods: Any, **changes: Any) -> BenchSpec:
        asked: dict[str, Any] = {"causal": True, "question": "generation", "sizes": SMALL}
        return quick(*methods, **{**asked, **changes})

    return make


@pytest.fixture(autouse=True)
def no_meter(monkeypatch: pytest.MonkeyPatch) -> None:
    """No process is asked for its memory: what is kept is counted."""
    monkeypatch.setattr(MemoryMeter, "peak_bytes", None)


@pytest.mark.parametrize("n_past", [1, 5, 6, 7, 64, 65, 130])
@pytest.mark.parametrize("method", WRITERS)
def test_a_step_gives_the_last_row_of_the_whole_pass(writes: Quick, method: str, n_past: int):
    spec = writes(method)
    given = inputs(spec, n_past + 1)
    made = written(spec, method, given)
    first, again = made.output(), made.output()
    assert distance(first, last_of_pass(spec, method, given)) < 1e-5
    assert torch.equal(first, again)  # a step leaves what is kept as it was


@pytest.mark.parametrize("method", WRITERS)
def test_a_step_stays_on_its_device(writes: Quick, method: str):
    """The meta device refuses a tensor left on the processor, as a GPU does."""
    spec = writes(method)
    object.__setattr__(spec, "device", "meta")  # no job can ask for it
    query, key, value = (torch.empty(1, 2, 70, 8, device="meta") for _ in range(3))
    made = written(spec, method, (query, key, value))
    output = made.output()
    assert (output.device.type, output.shape) == ("meta", (1, 2, 1, 8))
    assert made.kept_bytes() == kept_bytes(method, spec.shape(69), sizes=SMALL)


@pytest.mark.parametrize("method", WRITERS)
def test_bytes_by_formula_are_those_of_the_tensors(writes: Quick, method: str):
    spec = writes(method, batch=2)
    for n_past in (1, 7, 70):
        made = written(spec, method, inputs(spec, n_past + 1))
        assert made.kept_bytes() == kept_bytes(method, spec.shape(n_past), sizes=SMALL)
        # No longer block of memory is held by what is kept, but for the room of a cache.
        room = 2 * 2 * 2 * 8 * 4 if method in ("explicit", "sdpa") else 0
        blocks = {x.untyped_storage().data_ptr(): x.untyped_storage() for x in tensors(made.kept)}
        assert sum(b.nbytes() for b in blocks.values()) == made.kept_bytes() + room


@pytest.mark.parametrize("method", ["explicit", "sdpa"])
def test_a_cache_with_room_gives_what_one_that_is_copied_gives(writes: Quick, method: str):
    spec = writes(method)
    query, key, value = inputs(spec, 20)
    places = torch.arange(20)
    past, last = (
        DotHeads(
            query=query[:, :, rows],
            key=key[:, :, rows],
            value=value[:, :, rows],
            rows=places[rows],
            columns=places[rows],
        )
        for rows in (slice(0, 19), slice(19, None))
    )
    output, _ = last.after(past).step()
    torch.testing.assert_close(written(spec, method, (query, key, value)).output(), output)


@pytest.mark.parametrize("method", [m for m in METHODS if m not in WRITERS])
def test_what_has_no_step_is_refused(writes: Quick, method: str):
    with pytest.raises(ValueError, match=f"{method} has no step; methods that write: explicit, "):
        written(writes("sdpa"), method, inputs(writes(), 4))


def test_records_of_generation_have_what_is_kept_and_no_peak(writes: Quick):
    records = list(measure(writes(*METHODS)))
    ran = [record for record in records if record.median_seconds is not None]
    assert {record.method for record in ran} == set(WRITERS)
    for record in ran:
        assert (record.pass_name, record.causal) == ("generation", True)
        assert (record.peak_bytes, record.repeats) == (None, 3)
        assert record.kept_bytes == kept_bytes(
            record.method, writes().shape(record.seq_len), sizes=SMALL
        )
        assert not [flag for flag in record.flags if flag.startswith("wrong")]
    why = {record.method: record.flags for record in records if record.median_seconds is None}
    assert why["nystrom"] == ("no causal form: its landmarks are means over the whole text",)
    assert why["bigbird"] == ("no step: its random blocks are drawn for a text of known length",)
    assert set(why) == set(METHODS) - set(WRITERS)


def test_a_step_that_is_not_the_last_row_is_flagged(writes: Quick, monkeypatch: pytest.MonkeyPatch):
    last = measuring.last_of_pass
    monkeypatch.setattr(measuring, "last_of_pass", lambda *given: 1.02 * last(*given))
    records = {r.method: r for r in measure(writes("sdpa", "delta", lengths=(16,)))}
    flag = "wrong: 0.02 away from the last row of the whole pass"
    assert flag in records["delta"].flags
    assert flag not in records["sdpa"].flags


def test_softmax_is_held_to_its_float64(writes: Quick, monkeypatch: pytest.MonkeyPatch):
    last = measuring.last_row
    monkeypatch.setattr(measuring, "last_row", lambda *given: last(*given) / 1.01)
    (record,) = measure(writes("explicit", lengths=(16,)))
    assert "wrong: 0.01 away from softmax in float64" in record.flags


def test_what_would_not_fit_is_refused(writes: Quick, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(measuring, "free_bytes", lambda *device: 40_000 if device else 10**12)
    records = {r.method: r for r in measure(writes("sdpa", "based", lengths=(64,)))}
    assert records["based"].flags[0].startswith("refused: needs about ")
    assert records["based"].kept_bytes is None


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_the_kernel_of_a_step_is_told(writes: Quick, dtype: str):
    assert sdpa_backend(writes(dtype=dtype)) in ("flash_attention", "math", "efficient_attention")
