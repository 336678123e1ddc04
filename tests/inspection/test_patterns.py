"""Heads made by hand get the caption of what they do; a dull head is called dull."""

from dataclasses import replace

import numpy as np
import pytest

from core.inspection.patterns import (
    IN_EVERY_ROW,
    NO_PATTERN,
    PATTERNS,
    Places,
    caption,
    caption_sentence,
    find_places,
    pattern_masks,
    pattern_scores,
    places_of,
    uniform_pattern_scores,
)
from core.inspection.traced import AttentionTrace
from tests.inspection.heads_by_hand import (
    LABELS,
    MARK,
    MASKS,
    PLACES,
    STARTS,
    UNIFORM,
    VISIBLE,
    N,
    caption_of,
    head_on,
    uniform_head,
)


def test_the_parts_of_a_question_are_found_by_its_tokens():
    assert find_places(LABELS, STARTS, (2, 3, 4, 5), MARK) == PLACES
    assert PLACES.words_around == (0, 1, 6)
    one = find_places(LABELS, STARTS, (2, 3), MARK)
    assert (one.name, one.surname) == ((2, 3), (2, 3))  # a single name is its own last word
    free = find_places(["·Lima", "⁇"], [True, True], (), 1)
    assert (free.name, free.surname, free.question_mark, free.words_around) == ((), (), (), ())


def test_places_of_a_trace_are_those_of_its_question(small_trace: AttentionTrace):
    places = places_of(small_trace)
    assert places == Places(mark=2, name=(1,), surname=(1,), question_mark=())
    asked = replace(small_trace, labels=("·a", "?", "⁇"), name_positions=(0,))
    assert places_of(asked).question_mark == (1,)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ([4, 5], "surname"),
        ([2, 3], "first names"),
        ([7], "question mark"),
        ([8], "answer mark"),
        ([0, 1, 6], "words around the name"),
        ([2, 3, 4, 5], "name"),
    ],
)
def test_a_head_that_looks_at_a_part_from_the_mark_is_named_by_it(
    columns: list[int], expected: str
):
    assert caption_of(head_on(columns, 0.9)) == expected
    assert caption_of(uniform_head()) == NO_PATTERN


def test_heads_that_do_one_thing_in_every_row_are_named_by_it():
    assert caption_of(np.eye(N)) == "same token"
    assert caption_of(np.eye(N, k=-1)) == "previous token"
    first = np.zeros((N, N))
    first[:, 0] = 1
    assert caption_of(first) == "first token"
    both = uniform_head()
    both[MARK] = np.eye(N)[4]
    both[:MARK] = 0.6 * both[:MARK] + 0.4 * np.eye(N)[:MARK]
    assert caption_of(both) == "surname"  # clearer in the row of ⁇ than anything in the others


def test_scores_and_baselines_equal_naive_sums():
    weights = np.tril(np.random.default_rng(2).random((3, N, N)))
    weights /= weights.sum(-1, keepdims=True)
    scores = pattern_scores(weights, MASKS)
    rows = range(2, N)
    parts = {
        "surname": [4, 5],
        "first names": [2, 3],
        "name": [2, 3, 4, 5],
        "question mark": [7],
        "answer mark": [8],
        "words around the name": [0, 1, 6],
    }
    for head in range(3):
        one = weights[head]
        expected = {
            "previous token": sum(float(one[i, i - 1]) for i in rows) / len(rows),
            "same token": sum(float(one[i, i]) for i in rows) / len(rows),
            "first token": sum(float(one[i, 0]) for i in rows) / len(rows),
            "next token": np.nan,
            **{name: sum(float(one[MARK, j]) for j in columns) for name, columns in parts.items()},
        }
        np.testing.assert_allclose(scores[head], [expected[name] for name in PATTERNS])
    share: dict[str, float] = dict(zip(PATTERNS, UNIFORM.tolist(), strict=True))
    for name, columns in parts.items():
        assert share[name] == pytest.approx(len(columns) / (MARK + 1))
    for name in IN_EVERY_ROW[:3]:
        assert share[name] == pytest.approx(np.mean([1 / (i + 1) for i in rows]))


def test_below_three_tenths_and_below_twice_uniform_there_is_no_clear_pattern():
    assert caption_of(head_on([7], 0.3)) == "question mark"  # uniform would give 0.11
    assert caption_of(head_on([7], 0.29)) == NO_PATTERN
    assert caption_of(head_on([4, 5], 0.45)) == "surname"  # uniform: 2/9
    assert caption_of(head_on([4, 5], 0.44)) == NO_PATTERN


def test_where_a_baseline_is_high_halfway_to_one_is_enough():
    # The name has 4 of 9 tokens: twice that is 0.89, halfway to 1 is 0.72.
    assert caption_of(head_on([2, 3, 4, 5], 0.73)) == "name"
    assert caption_of(head_on([2, 3, 4, 5], 0.72)) == NO_PATTERN


def test_a_pattern_that_does_not_occur_is_nan_and_never_the_caption():
    free = Places(mark=MARK, name=(), surname=(), question_mark=())
    masks = pattern_masks(free, range(N), range(N), N)
    scores = pattern_scores(head_on([4, 5], 0.9), masks)
    absent = {name for name, score in zip(PATTERNS, scores, strict=True) if np.isnan(score)}
    around = {"surname", "first names", "name", "question mark", "words around the name"}
    assert absent == {*around, "next token"}  # which only an encoder sees
    assert caption(scores, uniform_pattern_scores(VISIBLE, masks)) == NO_PATTERN


def test_where_latents_look_the_last_before_the_mark_stands_for_the_writing_row():
    latents = range(0, 6, 3)  # at 0 and 3
    masks = pattern_masks(PLACES, latents, range(N), N)
    weights = np.zeros((N, N))
    weights[3, [2, 3]] = 0.5
    scores = dict(zip(PATTERNS, pattern_scores(weights, masks), strict=True))
    assert scores["first names"] == 1  # tokens 2 and 3, which the latent at 3 can see
    assert np.isnan(scores["surname"])  # it stands behind the last latent
    assert scores["previous token"] == 0.5


def test_where_latents_are_looked_at_no_part_of_the_question_is():
    latents = range(0, N, 2)
    masks = pattern_masks(PLACES, range(N), latents, N, of_tokens=False)
    assert not masks[len(IN_EVERY_ROW) :].any()
    weights = np.zeros((N, N))
    for row in range(2, N):
        weights[row, (row - 1) // 2 * 2] = 1  # the latent before
    assert pattern_scores(weights, masks)[0] == pytest.approx(1)


def test_a_sentence_says_when_and_beside_which_baseline():
    scores = pattern_scores(head_on([4, 5], 0.9), MASKS)
    assert caption_sentence("L1·H5", scores, UNIFORM) == (
        "L1·H5 looks at the surname when it writes the first token of the answer "
        "(weight 0.9, uniform 0.22)"
    )
    every = pattern_scores(np.eye(N), MASKS)
    assert caption_sentence("L0·H0", every, UNIFORM).startswith(
        "L0·H0 looks at the same token (weight 1, uniform 0.1"
    )
    assert caption_sentence("L0·H0", UNIFORM, UNIFORM) == (
        "L0·H0 has no clear pattern: nothing gets both a weight of 0.3 and clearly more than "
        "uniform attention would give it"
    )
