"""Head scores against exact baselines and against heads made by hand."""

from dataclasses import replace
from math import log

import numpy as np
import pytest

from core.inspection import scores as module
from core.inspection.scores import (
    SCORES,
    Look,
    head_scores,
    name_to_answer,
    row_entropy,
    uniform_over,
)
from core.inspection.sinks import without_first
from core.inspection.trace_scores import trace_baseline, trace_scores
from core.inspection.traced import AttentionTrace

N = 12


def previous_token_head(n: int) -> np.ndarray:
    """Row 0 can only look at itself, every other row looks at the token before."""
    weights = np.eye(n, k=-1, dtype=np.float32)
    weights[0, 0] = 1
    return weights


def first_token_head(n: int) -> np.ndarray:
    weights = np.zeros((n, n), dtype=np.float32)
    weights[:, 0] = 1
    return weights


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


def test_the_sink_share_is_the_weight_on_the_first_token_and_what_a_learned_sink_takes():
    assert float(head_scores(first_token_head(N)).sink_share) == 1
    assert float(head_scores(previous_token_head(N)).sink_share) == 0
    uniform = uniform_over(np.tri(N, dtype=np.bool_))
    assert uniform.sink_share == uniform.first_token
    weights, taken = 0.75 * first_token_head(N), np.full(N, 0.25)
    taken[:2] = 0.9  # rows that do not count
    found = head_scores(weights, sink=taken)
    assert (float(found.first_token), float(found.sink_share)) == (0.75, 1)
    others = head_scores(weights, look=Look(no_first=True), sink=taken)
    assert float(others.sink_share) == 1  # of the rows as they are


def test_with_a_learned_sink_entropy_is_that_of_the_rest():
    half = 0.5 * np.tri(N) / np.arange(1, N + 1)[:, None]
    found = head_scores(half, sink=np.full(N, 0.5))
    assert float(found.normalised_entropy) == pytest.approx(1)
    assert float(found.previous_token) == pytest.approx(
        float(uniform_over(np.tri(N, dtype=np.bool_)).previous_token) / 2
    )


def test_without_the_first_token_scores_are_those_of_the_renormalised_rows():
    weights = np.tril(np.random.default_rng(5).random((3, N, N)))
    weights[1, :, 0] *= 100
    weights /= weights.sum(-1, keepdims=True)
    found = head_scores(weights, (1, 4), look=Look(no_first=True))
    others, rows = without_first(weights), range(2, N)
    for head in range(3):
        one = others[head]
        entropy = {i: -sum(w * log(w) for w in one[i, 1 : i + 1]) for i in rows}
        expected = {
            "previous_token": sum(one[i, i - 1] for i in rows),
            "name": sum(one[i, 1] + one[i, 4] for i in rows),
            "entropy": sum(entropy.values()),
            "normalised_entropy": sum(value / log(i) for i, value in entropy.items()),
            "distance": sum(one[i, j] * (i - j) for i in rows for j in range(i)),
            "sink_share": sum(weights[head, i, 0] for i in rows),
        }
        for name, total in expected.items():
            assert getattr(found, name)[head] == pytest.approx(total / len(rows), rel=1e-9)
    assert np.isnan(found.first_token).all()
    assert found.sink_share[1] > 0.8


def test_where_nothing_is_left_without_the_first_token_only_its_share_is_a_number():
    found = head_scores(first_token_head(N), (1,), look=Look(no_first=True))
    assert float(found.sink_share) == 1
    others = [name for name in SCORES if name != "sink_share"]
    assert all(np.isnan(getattr(found, name)) for name in others)


def test_a_uniform_head_without_the_first_token_has_entropy_one_over_what_is_left():
    found = uniform_over(np.tri(N, dtype=np.bool_), look=Look(no_first=True))
    assert float(found.normalised_entropy) == pytest.approx(1, rel=1e-12)
    rows = range(2, N)
    assert float(found.previous_token) == pytest.approx(sum(1 / i for i in rows) / len(rows))


def encoder_head(offset: int) -> np.ndarray:
    """Every row looks at one neighbour; the row that has none at itself."""
    weights = np.eye(N, k=offset)
    weights[0 if offset < 0 else N - 1, 0 if offset < 0 else N - 1] = 1
    return weights


def test_in_an_encoder_every_row_counts_and_neighbours_are_on_both_sides():
    look = Look(kind="encoder")
    for offset, score, other in ((-1, "previous_token", "next_token"), (1, *SCORES[1::-1])):
        found = head_scores(encoder_head(offset), look=look)
        assert float(getattr(found, score)) == 1
        assert float(getattr(found, other)) == 0
        assert float(found.distance) == pytest.approx((N - 1) / N)
    both = uniform_over(np.ones((N, N), dtype=np.bool_), (2,), look)
    assert float(both.normalised_entropy) == pytest.approx(1)
    for name in ("previous_token", "next_token", "first_token", "name"):
        assert float(getattr(both, name)) == pytest.approx(1 / N)
    assert float(both.distance) == pytest.approx(np.abs(np.subtract.outer(*[range(N)] * 2)).mean())
    assert float(head_scores(np.ones((1, 1)), look=look).first_token) == 1  # one token is enough


def test_an_encoder_with_a_window_is_read_against_what_its_rows_may_see():
    at = np.arange(N)
    window = np.abs(at[:, None] - at) <= 1
    found = uniform_over(window, look=Look(kind="encoder"))
    assert float(found.normalised_entropy) == pytest.approx(1)
    assert float(found.previous_token) == pytest.approx(((N - 2) / 3 + 1 / 2) / (N - 1))
    # The second row's token before is the first token, and no key without it.
    others = head_scores(encoder_head(-1), look=Look(kind="encoder", no_first=True))
    assert float(others.previous_token) == 1
    nothing = head_scores(np.eye(N), visible=np.eye(N, dtype=bool), look=Look(kind="encoder"))
    assert np.isnan(nothing.previous_token)
    assert np.isnan(nothing.next_token)


def test_cross_attention_has_no_neighbours_and_no_distance():
    found = head_scores(np.full((N, N), 1 / N), (3,), look=Look(kind="cross"))
    assert all(
        np.isnan(getattr(found, name)) for name in ("previous_token", "next_token", "distance")
    )
    assert float(found.name) == float(found.first_token) == pytest.approx(1 / N)
    assert float(found.normalised_entropy) == pytest.approx(1)


def test_scores_of_a_trace_with_a_source_are_those_of_each_layers_own_text(
    two_texts: AttentionTrace,
):
    found, uniform = trace_scores(two_texts), trace_baseline(two_texts)
    source, text = slice(0, 4), slice(4, 8)
    alone = [
        head_scores(two_texts.weights[0][:, source, source], (1,), look=Look(kind="encoder")),
        head_scores(two_texts.weights[1][:, text, text]),
    ]
    for layer, expected in enumerate(alone):
        for name in SCORES:
            if name != "name":
                np.testing.assert_allclose(getattr(found, name)[layer], getattr(expected, name))
    np.testing.assert_allclose(found.name[0], alone[0].name)
    np.testing.assert_allclose(found.name[2], two_texts.weights[2][:, text, 1].mean(-1))
    assert np.isnan(found.name[1]).all()  # it stands in the source
    np.testing.assert_allclose(found.first_token[1], two_texts.weights[1][:, 6:8, 4].mean(-1))
    assert uniform.first_token[2, 0] == pytest.approx(1 / 4)
    np.testing.assert_allclose(uniform.normalised_entropy, 1)


def test_of_two_tokens_a_trace_has_no_scores_but_no_error(small_trace: AttentionTrace):
    short = replace(
        small_trace,
        weights=small_trace.weights[..., :2, :2],
        scores=small_trace.scores[..., :2, :2],
        name_positions=(),
    )
    assert all(np.isnan(getattr(trace_scores(short), name)).all() for name in SCORES)
    assert trace_baseline(short).distance.shape == (1, 1)


def test_where_nothing_is_written_or_the_row_does_not_look_at_the_name_it_brings_nothing(
    small_trace: AttentionTrace, two_texts: AttentionTrace
):
    assert np.isnan(name_to_answer(replace(small_trace, steps=()))[0]).all()
    brought, uniform = name_to_answer(two_texts)
    assert np.isnan(brought[:2]).all()
    row, norms = two_texts.steps[0].row, two_texts.value_norm[2][:, 1]
    np.testing.assert_allclose(brought[2], two_texts.weights[2][:, row, 1] * norms)
    np.testing.assert_allclose(uniform[2], norms / 4)
