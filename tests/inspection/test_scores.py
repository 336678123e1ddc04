"""Head scores against exact baselines and against heads made by hand."""

from math import log

import numpy as np
import pytest

from core.inspection import scores as module
from core.inspection.scores import (
    SCORES,
    head_scores,
    name_to_answer,
    row_entropy,
    uniform_over,
)
from core.inspection.traced import AttentionTrace
from tests.inspection.heads_by_hand import first_token_head, previous_token_head

N = 12


def test_the_uniform_baselines_at_128_tokens_are_exact():
    scores = uniform_over(np.tri(128, dtype=np.bool_))
    mean_share = sum(1 / (i + 1) for i in range(2, 128)) / 126
    assert float(scores.previous_token) == pytest.approx(mean_share, rel=1e-12)
    assert float(scores.first_token) == pytest.approx(mean_share, rel=1e-12)
    assert round(mean_share, 4) == 0.0312
    assert float(scores.distance) == pytest.approx(32.25, rel=1e-12)
    assert round(float(scores.entropy), 3) == 3.934
    assert float(scores.normalised_entropy) == pytest.approx(1, rel=1e-12)


def test_the_uniform_weight_on_a_name_counts_only_the_name_tokens_already_seen():
    expected = sum(sum(place <= i for place in (3, 4)) / (i + 1) for i in range(2, 8)) / 6
    assert float(uniform_over(np.tri(8, dtype=np.bool_), (3, 4)).name) == pytest.approx(
        expected, rel=1e-12
    )


def test_a_pure_previous_token_head_scores_one():
    scores = head_scores(previous_token_head(N))
    assert float(scores.previous_token) == 1
    assert float(scores.first_token) == 0  # row 1, which does look there, is left out
    assert float(scores.distance) == 1
    assert float(scores.entropy) == float(scores.normalised_entropy) == 0


def test_a_pure_first_token_head_looks_back_over_all_tokens():
    scores = head_scores(first_token_head(N), name_positions=(0, 1))
    assert float(scores.first_token) == float(scores.name) == 1
    assert float(scores.previous_token) == 0
    assert float(scores.distance) == pytest.approx(sum(range(2, N)) / (N - 2))


def test_a_head_that_looks_at_itself_has_no_distance_and_no_entropy():
    scores = head_scores(np.eye(N, dtype=np.float32), name_positions=(N - 1,))
    assert float(scores.distance) == float(scores.entropy) == float(scores.previous_token) == 0
    assert float(scores.name) == pytest.approx(1 / (N - 2))


def test_rows_0_and_1_change_no_score():
    weights = previous_token_head(N)
    changed = weights.copy()
    changed[1, :2] = 0.5, 0.5
    changed[0, 0] = 0.3
    before, after = head_scores(weights, (0, 1)), head_scores(changed, (0, 1))
    for name in type(before).__slots__:
        np.testing.assert_array_equal(getattr(before, name), getattr(after, name))
    changed[2, :3] = 1 / 3
    assert head_scores(changed).previous_token < before.previous_token


def test_rows_where_nothing_stands_change_no_score():
    short = head_scores(previous_token_head(6), (1,))
    longer = np.zeros((9, 9), dtype=np.float32)
    longer[:6, :6] = previous_token_head(6)
    for name in type(short).__slots__:
        np.testing.assert_array_equal(
            getattr(head_scores(longer, (1,)), name), getattr(short, name)
        )
    assert float(head_scores(np.zeros((9, 9))).distance) == 0


def test_layers_and_heads_keep_their_places():
    heads = np.stack([previous_token_head(N), first_token_head(N), np.eye(N, dtype=np.float32)])
    scores = head_scores(np.stack([heads, heads[::-1]]))
    np.testing.assert_array_equal(scores.previous_token, [[1, 0, 0], [0, 0, 1]])
    np.testing.assert_array_equal(scores.first_token, [[0, 1, 0], [0, 1, 0]])


def test_scores_equal_a_naive_loop_on_random_weights():
    generator = np.random.default_rng(3)
    weights = np.tril(generator.random((N, N)))
    weights /= weights.sum(-1, keepdims=True)
    rows = range(2, N)
    entropy = {i: -sum(w * log(w) for w in weights[i, : i + 1]) for i in rows}
    scores = head_scores(weights, (1, 4))
    expected = {
        "previous_token": sum(weights[i, i - 1] for i in rows),
        "first_token": sum(weights[i, 0] for i in rows),
        "name": sum(weights[i, 1] + weights[i, 4] for i in rows),
        "entropy": sum(entropy.values()),
        "normalised_entropy": sum(value / log(i + 1) for i, value in entropy.items()),
        "distance": sum(weights[i, j] * (i - j) for i in rows for j in range(i)),
    }
    for name, total in expected.items():
        assert float(getattr(scores, name)) == pytest.approx(total / len(rows), rel=1e-9)


def test_without_a_name_its_score_is_zero():
    assert float(head_scores(first_token_head(N)).name) == 0


def test_three_tokens_are_enough_and_two_are_refused():
    assert float(head_scores(previous_token_head(3)).previous_token) == 1
    with pytest.raises(ValueError, match="2 tokens: head scores need at least 3"):
        head_scores(previous_token_head(2))
    with pytest.raises(ValueError, match="1 tokens"):
        uniform_over(np.tri(1, dtype=np.bool_))


def test_the_entropy_of_a_row_takes_zero_weights_as_nothing():
    rows = np.array([[1.0, 0, 0, 0], [0.5, 0.5, 0, 0], [0.25] * 4])
    np.testing.assert_allclose(row_entropy(rows), [0, log(2), log(4)])


def test_what_the_name_brings_is_its_summed_contribution_beside_a_uniform_head(
    small_trace: AttentionTrace,
):
    brought, uniform = name_to_answer(small_trace)
    row, name = small_trace.steps[0].row, small_trace.name_positions
    for layer in range(small_trace.n_layers):
        for head in range(small_trace.n_heads):
            weights, norms = (
                small_trace.weights[layer, head, row],
                small_trace.value_norm[layer, head],
            )
            assert brought[layer, head] == pytest.approx(sum(weights[j] * norms[j] for j in name))
            assert uniform[layer, head] == pytest.approx(sum(norms[j] / (row + 1) for j in name))


def test_a_uniform_head_over_any_mask_has_entropy_one_and_the_share_of_each_key():
    visible = np.zeros((N, N), dtype=bool)
    visible[::2, ::2] = np.tri(N // 2, dtype=bool)  # latents at every second position
    scores = uniform_over(visible, (0, 2))
    rows = range(2, N, 2)
    assert float(scores.normalised_entropy) == pytest.approx(1, rel=1e-12)
    shares = [1 / (row // 2 + 1) for row in rows]
    assert float(scores.first_token) == pytest.approx(sum(shares) / len(rows))
    assert float(scores.name) == pytest.approx(2 * sum(shares) / len(rows))
    assert float(scores.previous_token) == 0
    # Hints nothing of the mask, entropy is divided by what all of the past would have.
    weights = visible / np.maximum(visible.sum(-1, keepdims=True), 1)
    assert float(head_scores(weights).normalised_entropy) < 0.9


def test_masks_may_differ_from_layer_to_layer():
    full, first = np.tri(N, dtype=bool), np.zeros((N, N), dtype=bool)
    first[:, 0] = True
    scores = uniform_over(np.stack([full, first])[:, None])
    assert scores.first_token.shape == (2, 1)
    assert scores.first_token[0, 0] == pytest.approx(
        float(uniform_over(np.tri(N, dtype=np.bool_)).first_token)
    )
    assert scores.first_token[1, 0] == 1
    assert scores.normalised_entropy[1, 0] == 0  # without a choice there is no entropy


def test_maps_are_read_a_few_at_a_time_without_a_difference(monkeypatch: pytest.MonkeyPatch):
    weights = np.tril(np.random.default_rng(4).random((5, 2, N, N)))
    weights /= weights.sum(-1, keepdims=True)
    visible = np.broadcast_to(np.tri(N, dtype=bool), (5, 1, N, N))
    whole = head_scores(weights, (1,), visible)
    monkeypatch.setattr(module, "CELLS_AT_ONCE", 3 * N * N)
    for name in SCORES:
        found = getattr(head_scores(weights, (1,), visible), name)
        np.testing.assert_allclose(found, getattr(whole, name), rtol=1e-12)
        assert getattr(whole, name).shape == (5, 2)
