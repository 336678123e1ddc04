"""Rollout against naive paths, exact for heads made by hand; the correction undoes the mask."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from core.data.vocabulary import Vocabulary
from core.inspection.record import AttentionTrace
from core.inspection.rollout import corrected, mean_maps, rollout, value_maps
from core.inspection.trace import trace
from core.models.gpt import GPT

N = 7


def random_maps(n_layers: int, seed: int = 0) -> np.ndarray:
    """Causal maps (n_layers, N, N) whose rows sum to 1."""
    maps = np.tril(np.random.default_rng(seed).random((n_layers, N, N)) + 0.01)
    return maps / maps.sum(-1, keepdims=True)


def uniform_maps(n_layers: int) -> np.ndarray:
    return np.stack([np.tri(N) / np.arange(1, N + 1)[:, None]] * n_layers)


def test_rollout_sums_the_weights_of_all_paths():
    maps, share = random_maps(3), 0.3
    rolled = rollout(maps, residual=share)

    def paths(layer: int, row: int, column: int) -> float:
        """What reaches a row through every way down, one layer at a time."""
        if layer < 0:
            return float(row == column)
        kept = share * paths(layer - 1, row, column)
        ways = (maps[layer, row, k] * paths(layer - 1, k, column) for k in range(N))
        return kept + (1 - share) * sum(ways)

    for layer in range(3):
        for row, column in [(0, 0), (3, 1), (6, 0), (6, 6), (2, 5)]:
            assert rolled[layer, row, column] == pytest.approx(paths(layer, row, column))


@pytest.mark.parametrize("residual", [0.0, 0.3, 0.5, 1.0])
def test_rows_sum_to_one_and_see_no_future(residual: float):
    for rolled in (
        rollout(random_maps(4), residual=residual),
        corrected(rollout(random_maps(4), residual=residual), residual=residual),
    ):
        np.testing.assert_allclose(rolled.sum(-1), 1)
        assert (rolled[:, *np.triu_indices(N, k=1)] == 0).all()


def test_a_share_of_one_keeps_every_row_and_a_share_of_none_multiplies_the_maps():
    maps = random_maps(2)
    np.testing.assert_allclose(rollout(maps, residual=1), np.stack([np.eye(N)] * 2))
    np.testing.assert_allclose(rollout(maps, residual=0)[1], maps[1] @ maps[0])


def test_without_correction_early_tokens_win_though_no_head_prefers_them():
    rolled = rollout(uniform_maps(4))
    assert rolled[-1, -1, 0] > 3 * rolled[-1, -1, -2]
    even = corrected(rolled)
    np.testing.assert_allclose(even, uniform_maps(4))


def test_what_heads_prefer_is_left_after_the_correction():
    maps = uniform_maps(3)
    maps[:, -1] = 0
    maps[:, -1, 4] = 1  # the last row looks at token 4 alone
    row = corrected(rollout(maps))[-1, -1]
    assert row.argmax() == 4
    np.testing.assert_allclose(row[:4].std(), 0, atol=0.02)


def test_the_correction_equals_its_formula():
    rolled, expected = rollout(random_maps(2)), rollout(uniform_maps(2))
    found = corrected(rolled)
    for layer in range(2):
        for i in range(N):
            ratios = [rolled[layer, i, j] / expected[layer, i, j] for j in range(i + 1)]
            np.testing.assert_allclose(found[layer, i, : i + 1], np.array(ratios) / sum(ratios))


def test_maps_of_a_trace_are_means_over_heads_and_shares_of_contributions(traced: AttentionTrace):
    means, values = mean_maps(traced), value_maps(traced)
    for layer in range(traced.n_layers):
        np.testing.assert_allclose(means[layer], traced.weights[layer].mean(0), atol=1e-6)
        brought = traced.contribution[layer].sum(0)
        for row in (0, 4, traced.n_tokens - 1):
            np.testing.assert_allclose(
                values[layer, row], brought[row] / brought[row].sum(), rtol=1e-4, atol=1e-9
            )
    assert not np.allclose(means, values, atol=0.01)


def test_a_short_value_counts_less_than_its_weight(small_trace: AttentionTrace):
    # Head 0 weighs token 1 with 0.8, but token 0 has a value nine times as long.
    assert mean_maps(small_trace)[0, 2].argmax() == 1
    alone = replace(small_trace, ablated=((0, 1),))
    alone.value_norm[0, 1] = 0
    np.testing.assert_allclose(value_maps(alone)[0, 2], np.array([0.9, 0.8, 0.1]) / 1.8, rtol=1e-6)


def test_heads_that_are_off_mix_nothing(make_variant: Callable[[str], GPT], characters: Vocabulary):
    model = make_variant("rotary")
    some = trace(model, characters, "Where was Ada born?", ablate={(0, 1), (0, 3)})
    np.testing.assert_allclose(mean_maps(some)[0], some.weights[0, [0, 2]].mean(0), atol=1e-6)
    none = trace(model, characters, "Where was Ada born?", ablate={(1, h) for h in range(4)})
    for maps in (mean_maps(none), value_maps(none)):
        np.testing.assert_array_equal(maps[1], np.eye(none.n_tokens))


@pytest.mark.parametrize("residual", [-0.1, 1.1])
def test_a_share_outside_0_to_1_is_refused(residual: float):
    with pytest.raises(ValueError, match=f"residual is {residual}; the share that a row keeps"):
        rollout(random_maps(1), residual=residual)


@pytest.mark.parametrize("read", [mean_maps, value_maps])
def test_a_perceiver_has_no_rollout_and_says_why(
    read: Callable[[AttentionTrace], np.ndarray],
    make_variant: Callable[[str], GPT],
    characters: Vocabulary,
):
    seen = trace(make_variant("perceiver"), characters, "Where was Ada born?")
    with pytest.raises(ValueError, match="one residual stream, and a Perceiver has two"):
        read(seen)
    plain = trace(make_variant("synthesizer"), characters, "Where was Ada born?")
    np.testing.assert_allclose(rollout(read(plain)).sum(-1), 1, atol=1e-6)
