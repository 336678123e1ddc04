"""Maps without their first token: what is left sums to 1, and what is none is said to be none."""

from dataclasses import replace

import numpy as np

from core.inspection.fold import fold
from core.inspection.sinks import (
    first_stays,
    fold_without_first,
    learned_share,
    others_visible,
    sink_shares,
    sinks_apart,
    without_first,
)
from core.inspection.traced import AttentionTrace


def test_the_other_keys_keep_their_proportions_and_sum_to_one():
    rows = np.array([[1, 0, 0], [0.9, 0.1, 0], [0.6, 0.1, 0.3]], dtype=np.float32)
    found = without_first(rows)
    np.testing.assert_allclose(found, [[0, 0, 0], [0, 1, 0], [0, 0.25, 0.75]], atol=1e-6)
    assert found.dtype == np.float32
    assert rows[2, 0] == np.float32(0.6)  # nothing is written to what was given


def test_a_row_that_leaves_only_rounding_is_none():
    found = without_first(np.array([[1 - 1e-7, 1e-7, 0], [1 - 1e-5, 1e-5, 0], [0.5, 0, 0.5]]))
    np.testing.assert_allclose(found, [[0, 0, 0], [0, 1, 0], [0, 0, 1]])


def test_a_row_with_a_negative_weight_is_no_share_of_anything():
    found = without_first(np.array([[0.5, -0.5, 1.0], [0.5, 0.25, 0.25]]))
    np.testing.assert_allclose(found, [[0, 0, 0], [0, 0.5, 0.5]])


def test_what_a_learned_sink_takes_is_left_out_too():
    rows = np.array([[0.2, 0.1, 0.1], [0.0, 0.4, 0.0]])  # the rest is the sink's
    np.testing.assert_allclose(without_first(rows), [[0, 0.5, 0.5], [0, 1, 0]])
    taken = learned_share(rows)
    assert taken is not None
    np.testing.assert_allclose(taken, [0.6, 0.6])
    rounded = np.array([[1 - 1e-6, 0], [0, 0], [0.5, 0.5]])
    assert learned_share(rounded) is None  # a row without weight lacks nothing


def test_the_first_key_of_a_layer_is_left_out_wherever_it_stands():
    rows = np.array([[0, 0, 0.5, 0.5], [0, 0, 0.2, 0.8]])
    np.testing.assert_allclose(without_first(rows, 2), [[0, 0, 0, 1], [0, 0, 0, 1]])
    np.testing.assert_array_equal(others_visible(rows > 0, 2), without_first(rows, 2) > 0)


def test_of_random_maps_every_row_but_the_first_sums_to_one():
    weights = np.tril(np.random.default_rng(0).random((2, 3, 9, 9)))
    weights /= weights.sum(-1, keepdims=True)
    found = without_first(weights)
    np.testing.assert_allclose(found[..., 1:, :].sum(-1), 1)
    expected = weights[1, 2, 5, 1:] / (1 - weights[1, 2, 5, 0])
    np.testing.assert_allclose(found[1, 2, 5, 1:], expected)
    assert not found[..., 0, :].any()


def test_a_words_row_is_the_mean_of_those_that_are_left():
    rows = np.array([[1, 0, 0], [0.5, 0.5, 0], [0.5, 0.1, 0.4]])
    starts = (True, False, True)
    np.testing.assert_allclose(fold_without_first(rows, starts), [[1, 0], [0.2, 0.8]])
    assert fold(without_first(rows), starts)[0].sum() == 0.5  # the row that is none counted


def test_the_sink_of_a_layer_is_its_own_first_key_and_what_a_learned_one_takes(
    two_texts: AttentionTrace,
):
    shares = sink_shares(two_texts, (1, 0))
    np.testing.assert_allclose(shares, two_texts.weights[1, 0, :, 4])
    sink = np.full((3, 2, 8), 0.25, dtype=np.float32)
    more = sink_shares(replace(two_texts, sink=sink), (1, 0))
    np.testing.assert_allclose(more, shares + 0.25)


def test_sinks_are_set_apart_for_models_that_say_their_kinds_or_have_sinks(
    small_trace: AttentionTrace,
):
    assert not sinks_apart(small_trace)
    assert not sinks_apart(replace(small_trace, special=(False,) * 3))
    assert sinks_apart(replace(small_trace, kinds=("encoder",)))
    assert sinks_apart(replace(small_trace, sink=np.zeros((1, 2, 3), dtype=np.float32)))


def test_where_keys_are_latents_or_weights_negative_the_first_token_stays(
    small_trace: AttentionTrace,
):
    assert first_stays(small_trace) == ""
    assert "are latents" in first_stays(replace(small_trace, latent_positions=(0,)))
    linear = replace(small_trace, mechanism="taylor")
    assert first_stays(linear) == ""
    assert "are negative" in first_stays(replace(linear, weights=-linear.weights))
