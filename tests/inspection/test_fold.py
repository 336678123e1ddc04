"""Folding to words: columns summed, rows averaged, row sums kept."""

import numpy as np
import pytest

from core.inspection.fold import (
    fold,
    fold_columns,
    fold_rows,
    fold_visible,
    word_index,
    word_labels,
    written_words,
)
from core.inspection.traced import Step

STARTS = [True, True, False, False, True, True]


def weights(seed: int = 0) -> np.ndarray:
    """Causal weights (2, 3, 6, 6) in float32."""
    drawn = np.tril(np.random.default_rng(seed).random((2, 3, 6, 6)))
    return (drawn / drawn.sum(-1, keepdims=True)).astype(np.float32)


def test_folded_rows_still_sum_to_one_and_see_no_future():
    folded = fold(weights(), STARTS)
    assert (folded.shape, folded.dtype) == ((2, 3, 4, 4), np.float32)
    np.testing.assert_allclose(folded.sum(-1), 1, atol=1e-6)
    assert (folded[..., *np.triu_indices(4, k=1)] == 0).all()


def test_folding_equals_a_naive_loop():
    words = [[0], [1, 2, 3], [4], [5]]
    whole = weights(1)[1, 2]
    expected = [
        [np.mean([sum(whole[i, j] for j in key) for i in query]) for key in words]
        for query in words
    ]
    np.testing.assert_allclose(fold(weights(1), STARTS)[1, 2], expected, atol=1e-6)


def test_one_word_a_token_changes_nothing():
    np.testing.assert_array_equal(fold(weights(), [True] * 6), weights())


def test_columns_alone_are_summed_and_rows_alone_averaged():
    row = np.arange(6, dtype=np.float32)
    np.testing.assert_array_equal(fold_columns(row, STARTS), [0, 6, 4, 5])
    np.testing.assert_array_equal(fold_rows(row[:, None], STARTS)[:, 0], [0, 2, 4, 5])


def test_the_pieces_of_a_word_join_into_its_label():
    labels = ["·Where", "·Ad", "a", "la", "?", "⁇"]
    assert word_labels(labels, STARTS, "·") == ["Where", "Adala", "?", "⁇"]


def test_the_bytes_of_a_character_join_into_a_whole_one():
    labels = ["·Where", "·‹Á 1/2›", "‹Á 2/2›gn", "es", "?", "⁇"]
    assert word_labels(labels, STARTS, "·") == ["Where", "Ágnes", "?", "⁇"]


def test_a_word_that_is_only_a_space_keeps_its_glyph_and_an_inner_dot_stays():
    assert word_labels(["·", "·a", "·", "b"], [True, True, False, False], "·") == ["·", "a·b"]


def test_the_word_of_each_token_is_counted_from_zero():
    assert word_index(STARTS).tolist() == [0, 1, 1, 1, 2, 3]


@pytest.mark.parametrize("starts", [[], [False, True]])
def test_a_first_token_that_starts_no_word_is_refused(starts: list[bool]):
    with pytest.raises(ValueError, match="the first token must start a word"):
        word_index(starts)
    with pytest.raises(ValueError, match="the first token must start a word"):
        fold(np.eye(2, dtype=np.float32), starts)


def test_word_starts_of_another_length_are_refused():
    with pytest.raises(ValueError, match="5 word starts for 6 tokens"):
        fold(weights(), STARTS[:-1])
    with pytest.raises(ValueError, match="argument"):
        word_labels(["a"], STARTS, "·")


def test_a_word_sees_what_any_of_its_tokens_sees():
    np.testing.assert_array_equal(
        fold_visible(np.tri(6, dtype=bool), STARTS), np.tri(4, dtype=bool)
    )
    ahead = np.eye(6, k=1, dtype=bool)  # each token sees the next alone
    expected = [[0, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]]
    np.testing.assert_array_equal(fold_visible(ahead, STARTS), np.array(expected, dtype=bool))
    with pytest.raises(ValueError, match="6 word starts for 5 tokens"):
        fold_visible(np.tri(5, dtype=bool), STARTS)


def test_where_every_token_is_a_word_nothing_is_folded():
    whole = weights()
    np.testing.assert_array_equal(fold(whole, [True] * 6), whole)


def test_written_pieces_are_words_with_the_row_of_their_first_and_the_probability_of_all():
    pieces = [("·New", 4, 0.5), ("·Yo", 5, 0.5), ("rk", 6, 0.25), ("⁇", 7, 1.0)]
    steps = [
        Step(row=at - 1, position=at, label=label, probability=p, next_best=())
        for label, at, p in pieces
    ]
    starts = (True, True, True, False, True, True, False)  # the closing mark is never read
    words = written_words(steps, starts, "·")
    assert [(word.label, word.row, word.probability) for word in words] == [
        ("New", 3, 0.5),
        ("York", 4, 0.125),
        ("⁇", 6, 1.0),
    ]


def test_a_piece_that_goes_on_with_what_was_asked_is_a_written_word():
    inside = Step(row=0, position=1, label="ance", probability=0.5, next_best=())
    assert [word.label for word in written_words([inside], (True, False), "·")] == ["ance"]
