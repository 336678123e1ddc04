"""What the page says about heads: names of measures, headlines, agreement in one sentence."""

from collections.abc import Mapping
from urllib.parse import quote

from core.figures.heads import Point
from core.inspection.head_rows import HeadRow, HeadTable, Together
from core.inspection.heads import OneHead
from core.inspection.patterns import PATTERNS
from pages.heads.controls import INSTEAD
from pages.shared.text import percent, plain

NAMES = {
    "weight_on_name": "weight on the name",
    "contribution": "contribution of the name",
    "attribution": "direct attribution (logits)",
    "accuracy_lost": "accuracy lost without it",
    "log_probability_lost": "log-probability lost without it",
}
SCORES = {
    **{pattern: f"weight: {pattern}" for pattern in PATTERNS if pattern != "name"},
    "normalised_entropy": "entropy (1 is uniform)",
    "distance": "distance looked back (tokens)",
    "sink_share": "sink share (weight on the first token and a learned sink)",
}
MEANINGS = {
    "weight_on_name": "mean weight on the tokens of the name, in the row that writes the first "
    "piece of the answer",
    "contribution": "what the tokens of the name bring to the row that writes the "
    "answer's first piece: the sum of ‖weight · value · W_O‖",
    "attribution": "what the head adds directly to the logit of the answer's first piece, above "
    "the mean of all",
    "accuracy_lost": "share of right answers that is lost when this head alone is off",
    "log_probability_lost": "how much less likely the answers become when it is off (nats)",
}
SORTS = {"": "layer and head", **NAMES}
HEADINGS = (
    "head",
    "looks at",
    "weight on name",
    "contribution",
    "attribution",
    "right without it",
    "log-prob. change",
)
N_LABELS = 5


def headline(table: HeadTable, split: str) -> str:
    """The head that matters most, and what is left without it."""
    first = table.by_importance[0]
    return _whole(
        f"Without {first.name} alone {percent(first.accuracy_without)} of {split} is right, with "
        f"every head {percent(table.accuracy)}"
    )


def together(table: HeadTable) -> str:
    """The heads that matter most and least, off at once."""
    return (
        f"{_off('most', table.most)} {_off('least', table.least)} "
        f"Measured on {table.total} questions; a head that is off gives {INSTEAD[table.mode]}."
    )


def agreement(table: HeadTable) -> str:
    """Rank agreement as numbers, and what they mean in one sentence."""
    found = table.agreement
    names = {"weight_on_name": "weight", "contribution": "contribution", "effect": "effect"}
    parts = [
        f"{' and '.join(names[name] for name in pair.split(', '))} **{_number(value)}**"
        for pair, value in found.items()
    ]
    return (
        f"**Rank agreement** (Spearman, 1 is the same order): {', '.join(parts)}. "
        f"{_lesson([found['weight_on_name, effect'], found['contribution, effect']])}"
    )


def points(table: HeadTable, x: str, y: str) -> list[Point]:
    """Heads that have both measures; the names of those that matter most are written."""
    named = {row.at for row in table.by_importance[:N_LABELS]}
    return [
        Point(*row.at, row.name, a, b, row.caption, row.name if row.at in named else "")
        for row, a, b in zip(table.rows, table.values(x), table.values(y), strict=True)
        if a is not None and b is not None
    ]


def markdown_table(rows: list[HeadRow], link: Mapping[str, str]) -> str:
    """A line a head, its name a link to its map with the given query."""
    lines = [
        f"| {link_to_map(row, link)} | {_unbroken(plain(row.caption))} | "
        + " | ".join(
            [
                *map(cell, (row.weight_on_name, row.contribution, row.attribution)),
                _whole(percent(row.accuracy_without)),
                cell(row.log_probability_change),
            ]
        )
        + " |"
        for row in rows
    ]
    head = [f"| {' | '.join(HEADINGS)} |", "|:--|:--|--:|--:|--:|--:|--:|"]
    return "\n".join([*head, *lines])


def link_to_map(row: OneHead, link: Mapping[str, str]) -> str:
    """A head's name, linked to its map on the attention page with the given query."""
    query = "&".join(f"{key}={quote(text)}" for key, text in {**link, "head": row.name}.items())
    return f"[{row.name}](attention?{query})"


def cell(value: float | None) -> str:
    """Two significant digits, or a dash where there is no number."""
    return "–" if value is None else f"{value:.2g}".replace("-", "−")


def lacking(table: HeadTable, measure: str) -> str:
    """Why heads are missing from a picture; empty if none is."""
    pairs = zip(table.rows, table.values(measure), strict=True)
    absent = [row.name for row, value in pairs if value is None]
    if not absent:
        return ""
    why = {
        "attribution": "their layer writes to latents, not into the stream that is read out",
        "weight_on_name": "their layer looks at latents, not at the name",
        "contribution": "their layer looks at latents, not at the name",
    }
    return f"Without {NAMES[measure]}: {', '.join(absent)} ({why.get(measure, 'none here')})."


def _whole(text: str) -> str:
    """A number that stays with its sign."""
    return text.replace(" %", "\u00a0%")


def _unbroken(text: str) -> str:
    return text.replace(" ", "\u00a0")


def _off(which: str, off: Together) -> str:
    n = len(off.heads)
    who = f"The {n} heads that matter {which}" if n > 1 else f"The head that matters {which}"
    names = ", ".join(f"L{layer}·H{head}" for layer, head in off.heads)
    return f"{who}, off together ({names}): **{percent(off.accuracy_without)}** right."


def _number(value: float | None) -> str:
    return "not defined" if value is None else f"{value:.2f}".replace("-", "−")


def _lesson(with_effect: list[float | None]) -> str:
    known = [value for value in with_effect if value is not None]
    if not known:
        return "Too few heads, or none that matters alone: there is no order to compare."
    if min(known) >= 0.7:
        return "Here looking hard and mattering go together; elsewhere they need not."
    return (
        "They disagree: a head that looks hard at the name, or brings much of it, need not be one "
        "that the answer hangs on."
    )
