"""One sentence a head; a dull head is called dull."""

from dataclasses import replace

import numpy as np
import pytest

from core.inspection.captions import (
    head_name,
    parse_head,
    row_sentence,
    strongest_head,
)
from core.inspection.record import AttentionTrace

LABELS = ["·Where", "·was", "·Ada", "·Arden", "?", "⁇", "·Lima", "·x", "·y", "·z"]


def test_a_clear_key_is_named_with_its_weight_and_the_written_piece(small_trace: AttentionTrace):
    weights = [0.01, 0.04, 0.1, 0.8, 0.03, 0.02]
    sentence = row_sentence("L1·H5", 5, weights, LABELS, small_trace.steps[0])
    assert sentence == "L1·H5 looks at “·Arden” (weight 0.8) when it writes “·c”"


def test_a_row_that_wrote_nothing_is_named_by_its_own_token():
    assert row_sentence("L0·H0", 2, [0, 1, 0], LABELS, None).endswith("at “·Ada”")


@pytest.mark.parametrize("row", [6, 9])
def test_below_three_tenths_there_is_no_clear_pattern(row: int):
    rest = 0.7 / row
    clear = [rest] * row + [0.3]
    assert "looks at" in row_sentence("L0·H0", row, clear, LABELS, None)
    dull = [*clear[:-1], 0.299]
    assert row_sentence("L0·H0", row, dull, LABELS, None) == (
        f"L0·H0 has no clear pattern at “{LABELS[row]}” (largest weight 0.3)"
    )


def test_in_a_short_row_a_key_needs_twice_the_uniform_weight():
    assert "no clear" in row_sentence("L0·H0", 3, [0.49, 0.2, 0.2, 0.11], LABELS, None)
    assert "looks at “·Where”" in row_sentence("L0·H0", 3, [0.5, 0.2, 0.2, 0.1], LABELS, None)
    assert "no clear" in row_sentence("L0·H0", 0, [1.0], LABELS, None)  # it had no choice


def test_weights_after_the_row_are_never_looked_at():
    sentence = row_sentence("L0·H0", 2, np.array([0.1, 0.8, 0.1, 0.9]), LABELS, None)
    assert "looks at “·was” (weight 0.8)" in sentence


@pytest.mark.parametrize("at", [(0, 0), (3, 7), (11, 10)])
def test_a_heads_name_is_read_back(at: tuple[int, int]):
    assert parse_head(head_name(*at)) == at


@pytest.mark.parametrize("name", ["", "L0H3", "0·H3", "L·H", "L-1·H0", "L0·H²", "L0·H3 "])
def test_what_is_no_heads_name_is_refused(name: str):
    with pytest.raises(ValueError, match="is not a head such as L0·H3"):
        parse_head(name)


def test_the_strongest_head_is_chosen_by_contribution_not_by_weight(small_trace: AttentionTrace):
    assert (small_trace.weights[0, 0] == small_trace.weights[0, 1]).all()
    assert strongest_head(small_trace) == (0, 1)  # 0.8 · 4 from the name against 0.8 · 1


def test_without_a_name_every_token_counts(small_trace: AttentionTrace):
    contribution = small_trace.contribution[0, :, 2]
    assert contribution.sum(-1).tolist() == pytest.approx([1.8, 3.4])
    tall = replace(
        small_trace,
        name_positions=(),
        value_norm=np.array([[[90, 1, 1], [1, 4, 1]]], dtype=np.float32),
    )
    assert strongest_head(tall) == (0, 0)
    assert strongest_head(replace(tall, name_positions=(1,))) == (0, 1)
