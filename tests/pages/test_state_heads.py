"""Heads with a state, windows and Based: what the pages Attention and Heads say of them."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from pages.heads.controls import ONE

QUESTION = {"source": "type freely", "question": "Where was Ada Arden born?"}
ROWS = r"rows need not sum to 1 \(one is \S+ from it\)"
SUMMED = r"rows sum to 1 within \S+"
# Sizes, the beginning of the note and how rows sum.
KINDS: dict[str, tuple[dict[str, Any], str, str]] = {
    "delta": (
        {"attention": "delta", "positions": "rotary"},
        "The delta rule: a key's new value takes",
        ROWS,
    ),
    "gated-delta": ({"attention": "gated-delta"}, "The gated delta rule: a state of fixed", ROWS),
    "gate": ({"attention": "gate"}, "A scalar gate: a state of fixed size fades", ROWS),
    "window": (
        {"attention": "window", "window": 6, "n_sinks": 2},
        "A window with sinks: softmax over the last tokens",
        SUMMED,
    ),
    "based": (
        {"attention": "based", "window": 6},
        "Based: exp(q·k / √d) in a window, its Taylor polynomial",
        SUMMED,
    ),
}


@pytest.mark.parametrize("name", KINDS)
def test_the_attention_page_proves_the_weights_and_says_what_they_are(
    name: str, store: Callable, open_page: Callable, shown: Callable
):
    sizes, note, sums = KINDS[name]
    store(**sizes)
    app = open_page(**QUESTION)
    assert not app.error
    said = shown(app)
    assert re.search(rf"logits differ by at most [1-9]e-0[5-9], {sums}, future exactly 0", said)
    assert note in said
    assert ("these effective weights replay the model" in said) == (name != "window")


@pytest.mark.parametrize("name", KINDS)
def test_the_heads_page_measures_every_head_and_notes_what_its_weights_are(
    name: str, store: Callable, record_heads: Callable, open_heads: Callable, shown: Callable
):
    sizes, note, _ = KINDS[name]
    store(**sizes)
    rows = record_heads().tables["zero"].by_importance
    app = open_heads()
    assert not app.error
    assert all(f"[{row.name}](attention?checkpoint=tiny" in shown(app) for row in rows)
    app = open_heads(**{"heads-part": ONE})
    assert not app.error
    assert note in shown(app)


def test_the_notes_are_not_shown_of_softmax_over_all_tokens(
    store: Callable, open_page: Callable, shown: Callable
):
    store()
    said = shown(open_page(**QUESTION))
    assert "Replayed through the weights shown" in said
    assert not any(note in said for _, note, _ in KINDS.values())
