"""Keys with a second value, and a state while pairs arrive."""

import numpy as np
import pytest

from core.memory.generation import LENGTHS, MODELS, kept_by_methods, kept_by_models
from core.memory.overwrite import measure_overwriting
from core.memory.spec import MATRICES, METHODS, MemorySpec
from core.memory.states import arrivals, strongest, writes

SPEC = MemorySpec()


def test_sums_keep_both_values_and_the_delta_rule_the_new_one():
    found = measure_overwriting(SPEC)
    for method in ("softmax", "linear"):
        assert found.rewritten[method].low < 0.5 < found.rewritten[method].high, method
        assert found.rewritten[method].value + found.stale[method].value == pytest.approx(1)
    for method in ("delta", "gated-delta", "gate"):
        assert found.rewritten[method].value > 0.99, method
    for method in (*MATRICES, "softmax"):
        assert found.kept[method].value > 0.95, method


def test_a_report_has_shares_and_intervals_of_every_mechanism():
    report = measure_overwriting(SPEC, n_keys=8, n_rewritten=2).to_dict()
    for name in ("rewritten", "kept", "stale"):
        assert set(report[name]) == set(METHODS)
        for method, share in report[name].items():
            low, high = report["intervals"][name][method]
            assert low <= share <= high
    assert (report["keys"], report["keys_rewritten"]) == (8, 2)


@pytest.mark.parametrize("n_rewritten", [0, 8, 9])
def test_some_and_not_all_keys_are_rewritten(n_rewritten: int):
    with pytest.raises(ValueError, match=f"{n_rewritten} of 8 keys rewritten: 1 to 7 can be"):
        measure_overwriting(SPEC, n_keys=8, n_rewritten=n_rewritten)


@pytest.mark.parametrize("method", MATRICES)
def test_a_write_is_what_it_adds_less_what_it_takes(method: str):
    pairs = arrivals(SPEC, n_keys=6, n_rewritten=3)
    found = writes(method, pairs, SPEC)
    assert len(found) == 9
    before = np.zeros((SPEC.dim, SPEC.dim))
    for write in found:
        assert np.array_equal(write.before, before)
        assert np.allclose(before - write.faded - write.removed + write.added, write.after)
        assert np.allclose(write.added, np.outer(pairs.keys[write.key], pairs.values[write.value]))
        before = write.after
    fades = {"gate", "gated-delta"}
    assert bool(any(np.any(write.faded) for write in found)) == (method in fades)
    takes = {"delta", "gated-delta"}
    assert bool(any(np.any(write.removed) for write in found)) == (method in takes)
    assert strongest(found) == max(np.abs(write.after).max() for write in found)


def test_the_delta_rule_reads_at_once_what_it_wrote_and_a_sum_reads_both():
    pairs = arrivals(SPEC, n_keys=6, n_rewritten=6)
    last = {method: writes(method, pairs, SPEC)[-1] for method in ("linear", "delta")}
    assert last["delta"].reads[-1] == pytest.approx(1, abs=1e-5)
    assert max(last["linear"].reads) < 0.95
    assert min(last["delta"].reads) > min(last["linear"].reads)


def test_who_keeps_no_matrix_is_refused_and_so_are_too_many_rewritten():
    pairs = arrivals(SPEC, n_keys=2, n_rewritten=0)
    with pytest.raises(ValueError, match="'softmax' keeps no matrix; linear, gate, delta"):
        writes("softmax", pairs, SPEC)
    with pytest.raises(ValueError, match="3 of 2 keys rewritten: 0 to 2 can be"):
        arrivals(SPEC, n_keys=2, n_rewritten=3)


def test_caches_of_named_models_are_those_of_their_shapes():
    sizes = {model.name: model.n_bytes(4096) for model in MODELS}
    assert sizes["GPT-2 XL"] == 2 * 2 * 4096 * 48 * 1600
    assert sizes["Llama 3 8B"] == 4096 * 128 * 1024  # 128 kB a token, as its makers say
    mistral = next(model for model in MODELS if model.name.startswith("Mistral"))
    assert mistral.n_bytes(4096) == mistral.n_bytes(100_000)


def test_a_state_grows_by_a_fourth_of_the_layers_alone():
    next_ = next(model for model in MODELS if model.name.startswith("Qwen3-Next"))
    grown = next_.n_bytes(2048) - next_.n_bytes(1024)
    assert grown == 1024 * 12 * 2 * 2 * 256 * 2
    assert kept_by_models().lengths == LENGTHS


def test_of_one_head_only_softmax_grows_without_end():
    kept = kept_by_methods(SPEC, (1024, 2048))
    growing = {method for method, (few, many) in kept.n_bytes.items() if many > few}
    assert growing == {"softmax"}
    assert kept.n_bytes["delta"] == (4 * 64 * 64,) * 2


def test_lengths_that_are_none_are_refused():
    with pytest.raises(ValueError, match="0 tokens: 1 to 16,777,216 are possible"):
        kept_by_models((0,))
    with pytest.raises(ValueError, match="lengths from 1 to 16,777,216"):
        kept_by_methods(SPEC, (0,))
