"""What the page says of two runs: their answers, the largest difference, the head that moved."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.inspection.compare import Comparison
from core.inspection.heads import head_name
from core.inspection.traced import AttentionTrace
from pages.compare.controls import MODELS, Pair, Side
from pages.shared.choosing import checkpoint_task
from pages.shared.questions import unread_badge
from pages.shared.text import percent, plain, shortened, target_badge, verdict_badge

APART = (
    "Without the first token: weights are renormalised over the other keys, rows that leave them "
    "nothing are empty; contributions are what they were."
)
LOOKS = {"weight": "looks {} at", "contribution": "brings {} from"}
NO_NUMBERING = (
    "Heads of two trainings have no common numbering: that L1·H2 does here what L1·H2 does there "
    "would be chance. Choose for each the head that you mean; at first each shows the one that "
    "brings most of the name, or of a free text the one that brings most to what is written."
)


def answer_lines(pair: Pair, traces: Sequence[AttentionTrace]) -> str:
    """A line a side: A · notable-scratch → Rome, 3 %: wrong; a question of both stands above."""
    same = pair.first.question == pair.second.question
    above = [f"**{plain(shortened(pair.first.question))}**"] if same else []
    sides = zip((pair.first, pair.second), traces, strict=True)
    return "  \n".join([*above, *(_line(side, trace) for side, trace in sides)])


def _line(side: Side, trace: AttentionTrace) -> str:
    name = plain(shortened(side.name))
    if not trace.steps:
        return f"**{side.letter}** · {name}: read, nothing written"
    answer = plain(trace.answer) or "(nothing)"
    task = checkpoint_task(side.source.name) if side.opened is None else None
    return (
        f"**{side.letter}** · {name} → **{answer}**, {percent(trace.probability)}"
        f"{verdict_badge(side.expected, trace.answer)}{unread_badge(task, trace.question)}"
        f"{target_badge(given=trace.teacher_forced)}"
    )


def headline(found: Comparison, heads: tuple[str, str]) -> str:
    """The largest difference in a sentence."""
    row, column = found.largest
    first, second = float(found.first[row, column]), float(found.second[row, column])
    if not np.abs(found.difference).max() > 0:
        return f"{heads[0]} does the same in A and in B"
    more = "more" if second > first else "less"
    name = heads[1] if heads[0] == heads[1] else f"{heads[1]} of B"
    than = "in A" if heads[0] == heads[1] else f"{heads[0]} of A"
    return (
        f"At “{found.labels[row]}” {name} {LOOKS[found.quantity].format(more)} "
        f"“{found.labels[column]}” {'in B ' if heads[0] == heads[1] else ''}than {than}: "
        f"{second:.2g} against {first:.2g}"
    )


def moved(found: Comparison, how: str) -> str:
    """How far the maps lie apart, and how rows were aligned."""
    aligned = f"Rows are aligned: {plain(how)}."
    if found.quantity != "weight":
        return aligned
    return f"On average a row puts **{percent(found.distance)}** of its weight elsewhere. {aligned}"


def furthest(found: NDArray[np.float64]) -> str:
    """The head that differs most, of those that both sides have."""
    if np.isnan(found).all():
        return "no head is recorded on both sides"
    if not np.nanmax(found) > 0:
        return "none puts any weight elsewhere"
    layer, head = (int(index) for index in np.unravel_index(np.nanargmax(found), found.shape))
    return (
        f"{head_name(layer, head)} differs most: {percent(float(found[layer, head]))} of its "
        "weight lies elsewhere"
    )


def frame(found: Comparison) -> pd.DataFrame:
    """A line a visible cell: both values and their difference."""
    rows, columns = np.nonzero(found.visible)
    return pd.DataFrame(
        {
            "row": rows,
            "query": [found.labels[row] for row in rows.tolist()],
            "column": columns,
            "key": [found.labels[column] for column in columns.tolist()],
            "A": found.first[rows, columns],
            "B": found.second[rows, columns],
            "B less A": found.difference[rows, columns],
        }
    )


def heads_frame(found: NDArray[np.float64]) -> pd.DataFrame:
    """How far each head lies from its counterpart: layers in rows."""
    return pd.DataFrame(
        found,
        index=[f"L{layer}" for layer in range(found.shape[0])],
        columns=[f"H{head}" for head in range(found.shape[1])],
    )


def about_heads(pair: Pair) -> str:
    """What a head's number means here; empty where it is the same head."""
    return NO_NUMBERING if pair.what == MODELS else ""
