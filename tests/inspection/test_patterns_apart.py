"""Patterns of encoders and cross-attention; a head is never labelled by what a sink causes."""

from dataclasses import replace

import numpy as np
import pytest

from core.inspection.patterns import (
    IN_EVERY_ROW,
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
from core.inspection.scores import Look
from core.inspection.sinks import others_visible, without_first
from core.inspection.traced import AttentionTrace
from tests.inspection.heads_by_hand import (
    MARK,
    PLACES,
    VISIBLE,
    N,
    caption_of,
    head_on,
    uniform_head,
)

ENCODER, NO_FIRST = Look(kind="encoder"), Look(no_first=True)
BOTH_WAYS = np.ones((N, N), dtype=bool)


def test_an_encoders_head_may_look_at_the_next_token():
    masks = pattern_masks(PLACES, range(N), range(N), N, look=ENCODER)
    uniform = uniform_pattern_scores(BOTH_WAYS, masks)
    ahead, back = np.eye(N, k=1), np.eye(N, k=-1)
    ahead[-1, -1] = back[0, 0] = 1
    assert caption(pattern_scores(ahead, masks), uniform) == "next token"
    assert caption(pattern_scores(back, masks), uniform) == "previous token"
    assert caption(pattern_scores(np.eye(N), masks), uniform) == "same token"
    assert uniform[PATTERNS.index("next token")] == pytest.approx(1 / N)
    assert pattern_scores(ahead, masks)[PATTERNS.index("next token")] == pytest.approx(1)
    # What stands behind the row that writes may be looked at, too.
    later = replace(PLACES, name=(9, 10), surname=(9, 10))
    behind = pattern_masks(later, range(N), range(N), N, look=ENCODER)
    assert behind[PATTERNS.index("surname"), MARK, [9, 10]].tolist() == [1, 1]
    assert not pattern_masks(later, range(N), range(N), N)[PATTERNS.index("surname")].any()


def test_cross_attention_has_no_neighbours_but_parts_of_the_source():
    rows, columns = range(6, N), range(6)
    masks = pattern_masks(PLACES, rows, columns, N, look=Look(kind="cross"))
    occur = {name for name, mask in zip(PATTERNS, masks, strict=True) if mask.any()}
    assert occur == {"first token", "surname", "first names", "name", "words around the name"}
    weights = np.zeros((N, N))
    weights[6:, 0] = 1
    weights[MARK] = np.eye(N)[5]
    scores = dict(zip(PATTERNS, pattern_scores(weights, masks), strict=True))
    assert scores["surname"] == 1
    assert scores["first token"] == pytest.approx(4 / 5)


def test_a_layer_that_does_not_write_has_only_patterns_of_every_row():
    source = pattern_masks(PLACES, range(4), range(4), N, look=ENCODER)
    nothing = pattern_masks(replace(PLACES, mark=None), range(N), range(N), N)
    for masks in (source, nothing):
        assert not masks[len(IN_EVERY_ROW) :].any()
        assert masks[PATTERNS.index("previous token")].any()
    assert replace(PLACES, mark=None).words_around == ()


def test_a_text_that_no_mark_ends_has_no_answer_mark():
    places = find_places(["The", "·capital", "·is"], [True] * 3, (), 2)
    assert places == Places(mark=2, name=(), surname=(), question_mark=(), is_marked=False)
    masks = pattern_masks(places, range(3), range(3), 3)
    assert not masks[PATTERNS.index("answer mark")].any()
    assert find_places(["a"], [True], (), None).mark is None


def test_a_trace_that_writes_nothing_has_places(small_trace: AttentionTrace):
    places = places_of(replace(small_trace, steps=()))
    assert (places.mark, places.name, places.surname) == (None, (1,), (1,))


def apart(weights: np.ndarray) -> tuple[str, str]:
    """Caption and sentence where sinks are set apart."""
    masks = pattern_masks(PLACES, range(N), range(N), N, look=NO_FIRST)
    scores = pattern_scores(without_first(weights), masks)
    uniform = uniform_pattern_scores(others_visible(VISIBLE), masks)
    share = float(weights[2:, 0].mean())
    return caption(scores, uniform, share), caption_sentence("L0·H0", scores, uniform, share)


def with_sink(weights: np.ndarray, share: float) -> np.ndarray:
    """The rows with a share of them on the first token."""
    return (1 - share) * weights + share * np.eye(N)[0]


def test_a_head_is_never_labelled_by_what_a_sink_causes():
    previous = np.eye(N, k=-1)
    previous[0, 0] = 1
    resting = with_sink(previous, 0.8)
    assert caption_of(resting) == "first token"
    said, sentence = apart(resting)
    assert said == "previous token, sink 80 %"
    assert sentence == (
        "L0·H0 looks at the previous token (weight 1, uniform 0.21; without the first token, "
        "renormalised, its sink share is 0.8)"
    )
    assert apart(with_sink(uniform_head(), 0.6))[0] == "no clear pattern, sink 67 %"
    assert apart(head_on([4, 5], 0.9))[0] == "surname"  # a small sink is not worth a word
    assert "its sink share is 0.1" in apart(head_on([4, 5], 0.9))[1]


def test_a_head_whose_rows_have_nothing_else_is_only_a_sink():
    first = np.zeros((N, N))
    first[:, 0] = 1
    assert apart(first) == (
        "sink 100 %",
        "L0·H0 rests on the first token alone (sink share 1)",
    )


def test_rows_that_are_no_shares_have_no_pattern_rather_than_a_sink():
    signed = uniform_head()
    signed[:, 1] -= 2
    said, sentence = apart(signed)
    assert said == "no clear pattern"
    assert sentence.startswith("L0·H0 has no clear pattern: ")


def test_rows_that_are_none_without_the_first_token_do_not_dilute_the_others():
    weights = np.eye(N, k=-1)
    weights[0, 0] = 1
    weights[::2] = np.eye(N)[0]
    masks = pattern_masks(PLACES, range(N), range(N), N, look=NO_FIRST)
    scores = pattern_scores(np.stack([without_first(weights)] * 2), masks)
    assert scores[:, PATTERNS.index("previous token")].tolist() == [1, 1]
    assert np.isnan(scores[:, PATTERNS.index("first token")]).all()
    assert np.isnan(scores[:, PATTERNS.index("surname")]).all()  # the row of ⁇ is none
