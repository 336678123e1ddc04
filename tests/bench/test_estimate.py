"""What a measurement will take, before it begins."""

from collections.abc import Callable
from typing import Any

import pytest

from core.bench.estimate import (
    CASE_SECONDS,
    STARTING_SECONDS,
    call_seconds,
    estimate,
    made_seconds,
    needed_bytes,
    refusal,
)
from core.bench.spec import BenchSpec
from core.catalogue import METHODS, ONLY_CAUSAL, WITHOUT_CAUSAL_FORM, WRITERS
from core.theory.costs import Sizes, predict
from core.theory.steps import kept_bytes

Quick = Callable[..., BenchSpec]
FREE = 10**12


# Reference medians of one thread with AVX-512: 8 heads, d = 32, forward, seconds.
@pytest.mark.parametrize(
    ("method", "seq_len", "median"),
    [
        ("explicit", 2048, 0.120),
        ("sdpa", 8192, 0.957),
        ("elu", 8192, 0.0127),
        ("favor", 8192, 0.108),
        ("taylor", 8192, 0.433),
    ],
)
def test_a_call_is_within_a_factor_of_two_of_what_was_measured_once(method, seq_len, median):
    spec = BenchSpec(methods=(method,), lengths=(seq_len,))
    assert median / 2 < call_seconds(spec, method, seq_len, 80e9) < 2 * median


def test_more_repeats_lengths_passes_and_fewer_threads_take_longer():
    base: dict[str, Any] = {"methods": ("sdpa",), "lengths": (4096,)}

    def seconds(**changes) -> float:
        return estimate(BenchSpec(**{**base, **changes}), free=FREE).seconds - STARTING_SECONDS

    assert seconds(repeats=50) > 4 * seconds()
    assert seconds(lengths=(2048, 4096)) > 1.1 * seconds()
    assert seconds(backward=True) > 2 * seconds()
    short = BenchSpec(methods=("sdpa",), lengths=(16,), seconds=0.3)
    least = STARTING_SECONDS + CASE_SECONDS + 0.3
    assert estimate(short, free=FREE).seconds == pytest.approx(least, rel=0.01)


def test_the_peak_is_that_of_the_hungriest_case(quick: Quick):
    spec = quick("explicit", "sdpa")
    assert estimate(spec, free=FREE).peak_bytes == needed_bytes(spec, "explicit", 32)


def test_what_will_not_be_run_is_named_with_its_reason(quick: Quick):
    found = estimate(quick(*METHODS, causal=True), free=FREE)
    assert found.left_out == {
        (method, length): "no causal form"
        for length in (16, 32)
        for method in ("linformer", "nystrom")
    }
    unordered = estimate(quick(*METHODS), free=FREE)
    assert set(unordered.left_out.values()) == {"only a causal form"}
    assert {method for method, _ in unordered.left_out} == set(ONLY_CAUSAL)
    small = estimate(quick("explicit", "sdpa", lengths=(256,)), free=1_500_000)
    assert list(small.left_out) == [("explicit", 256)]
    assert small.left_out["explicit", 256].startswith("needs about 1.1 MB, and 60% of what is free")
    assert small.peak_bytes == needed_bytes(quick("sdpa"), "sdpa", 256)


def test_generation_is_estimated_by_what_is_kept_and_by_the_passes_before_it(quick: Quick):
    spec = quick(*METHODS, causal=True, question="generation", lengths=(64,))
    found = estimate(spec, free=FREE)
    assert set(found.left_out) == {(m, 64) for m in METHODS if m not in WRITERS}
    assert found.left_out["synthesizer", 64].startswith("no step: its table of scores is made")
    assert found.left_out["nystrom", 64] == "no causal form"
    shape, rows = spec.shape(64), 4 * 2 * 64 * 8 * 4
    for method in WRITERS:
        kept = kept_bytes(method, shape, sizes=spec.sizes)
        exact = method in ("explicit", "sdpa")
        extra = 0 if exact else predict(method, shape, causal=True).extra_bytes
        assert needed_bytes(spec, method, 64) == rows + 2 * kept + extra
    assert made_seconds(spec, "sdpa", 64, 80e9) == 0
    assert made_seconds(spec, "delta", 64, 80e9) > 0
    assert made_seconds(quick("delta", causal=True), "delta", 64, 80e9) == 0
    seconds = [call_seconds(spec, method, 2**17, 80e9) for method in ("sdpa", "delta")]
    assert seconds[0] > 10 * seconds[1]


def test_done_cases_cost_nothing(quick: Quick):
    spec = quick()
    assert estimate(spec, free=FREE, done=spec.cases).seconds == STARTING_SECONDS
    assert estimate(spec, free=FREE, done=spec.cases).peak_bytes == 0


def test_needs_grow_with_the_pass_and_a_table_counts(quick: Quick):
    one, both = quick(*METHODS, lengths=(64,)), quick(*METHODS, lengths=(64,), backward=True)
    rows = 4 * 2 * 64 * 8 * 4  # inputs and output
    for method in (m for m in METHODS if m not in ONLY_CAUSAL):
        extra = predict(method, one.shape(64)).extra_bytes
        table = 2 * 64 * 64 * 4 if method == "synthesizer" else 0
        assert needed_bytes(one, method, 64) == table + rows + extra
        assert needed_bytes(both, method, 64) == table + 3 * (rows + extra)
    dense = quick("synthesizer", sizes=Sizes(dense=True))
    assert needed_bytes(one, "synthesizer", 64) - needed_bytes(dense, "synthesizer", 64) == (
        2 * 64 * (64 - 8) * 4
    )
    with pytest.raises(ValueError, match="linformer has no causal form"):
        needed_bytes(quick(*METHODS, causal=True), WITHOUT_CAUSAL_FORM[0], 64)


def test_sixty_percent_of_what_is_free_may_be_taken():
    assert refusal(600, 1000) == ""
    assert refusal(6_010_000_000, 10_000_000_000) == (
        "needs about 6 GB, and 60% of what is free is 6 GB"
    )
