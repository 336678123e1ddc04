"""What one token costs by formula, against torch's counts and against caches and states."""

from dataclasses import replace
from typing import Any

import pytest
from torch.utils.flop_counter import FlopCounterMode

from core.bench.methods import inputs
from core.bench.spec import BenchSpec
from core.bench.writing import written
from core.catalogue import WRITERS
from core.memory.spec import MemorySpec, state_numbers
from core.theory.costs import Shape, Sizes
from core.theory.steps import kept_bytes, kept_numbers, same_bytes_length, step_operations

SIZES = Sizes(n_features=24, window=6, n_sinks=2)


# Torch does not count its fused kernel on a processor.
@pytest.mark.parametrize("method", [m for m in WRITERS if m != "sdpa"])
def test_operations_are_those_that_torch_counts(method: str):
    spec = BenchSpec(
        methods=(method,),
        lengths=(20,),
        head_dim=8,
        n_heads=2,
        causal=True,
        sizes=SIZES,
        question="generation",
    )
    made = written(spec, method, inputs(spec, 21))
    with FlopCounterMode(display=False) as counter:
        made.output()
    counted = counter.get_total_flops()
    assert counted == step_operations(method, spec.shape(20), sizes=SIZES)


@pytest.mark.parametrize("method", WRITERS)
def test_a_cache_grows_with_the_text_and_a_state_does_not(method: str):
    shape = Shape(seq_len=100, head_dim=8, n_heads=3, batch=2)
    once, tenfold = (kept_bytes(method, replace(shape, seq_len=n)) for n in (100, 1000))
    assert tenfold == (10 * once if method in ("explicit", "sdpa") else once)


def test_sums_are_kept_in_float32_whatever_the_inputs_are():
    wide, half = (Shape(seq_len=10, head_dim=8, bytes_a_number=n) for n in (4, 2))
    assert kept_bytes("delta", wide) == kept_bytes("delta", half) == 8 * 64 * 4
    assert kept_bytes("sdpa", wide) == 2 * kept_bytes("sdpa", half)
    assert kept_numbers("based", half) == (2 * 64 * 8, 45 * 9)


@pytest.mark.parametrize("method", ["delta", "gate", "gated-delta"])
def test_a_matrix_is_as_large_as_the_page_on_memory_says(method: str):
    one = Shape(seq_len=10, head_dim=16, n_heads=1)
    assert sum(kept_numbers(method, one)) == state_numbers(method, MemorySpec(dim=16), 10)
    assert sum(kept_numbers("sdpa", one)) == state_numbers("softmax", MemorySpec(dim=16), 10)


def test_the_length_at_which_a_cache_outgrows_a_state_is_where_their_bytes_meet():
    shape = Shape(seq_len=1, head_dim=32)
    assert same_bytes_length("delta", shape) == 16
    assert same_bytes_length("window", shape) == 68
    assert same_bytes_length("delta", replace(shape, bytes_a_number=2)) == 32
    at = same_bytes_length("favor", shape)
    assert kept_bytes("sdpa", replace(shape, seq_len=int(at))) <= kept_bytes("favor", shape)
    assert kept_bytes("sdpa", replace(shape, seq_len=int(at) + 1)) > kept_bytes("favor", shape)


@pytest.mark.parametrize("ask", [step_operations, kept_bytes, kept_numbers, same_bytes_length])
def test_what_does_not_write_is_refused_with_its_reason(ask: Any):
    shape = Shape(seq_len=10, head_dim=8)
    with pytest.raises(ValueError, match="bigbird does not write token by token: its random blo"):
        ask("bigbird", shape)
    with pytest.raises(ValueError, match="linformer does not write token by token: it has no cau"):
        ask("linformer", shape)
    with pytest.raises(ValueError, match="unknown method 'mamba'"):
        ask("mamba", shape)


def test_half_precision_keeps_what_the_formula_says():
    spec = BenchSpec(
        methods=("based",), lengths=(9,), causal=True, question="generation", dtype="bfloat16"
    )
    kept = written(spec, "based", inputs(spec, 10)).kept_bytes()
    assert kept == kept_bytes("based", spec.shape(9)) == 8 * (2 * 64 * 32 * 2 + 561 * 33 * 4)
