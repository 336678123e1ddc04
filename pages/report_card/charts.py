"""The two charts with what they say: right answers by variant, and wrong answers by kind."""

from collections.abc import Sequence

import streamlit as st

from core.evaluation.reader_figures import ReaderFigures
from core.evaluation.report_card import Measured, Row, distinct
from core.evaluation.tables import Published, published_for
from core.figures import report as figures
from pages.shared import present
from pages.shared.charts import show_chart
from pages.shared.text import percent

PUBLIC, REPORTS = "public", "reports"
KINDS = {
    "right_country": "right country",
    "known_place": "another known place",
    "made_up": "a made-up place",
}
KINDS_MEAN = (
    "- **Right country**: another place in the country of the expected one. Of several places of "
    "one name the one with the most people counts.\n"
    "- **Another known place**: the answer to some training question, or a place GeoNames knows, "
    "in another country or in no known one (England is in none).\n"
    "- **A made-up place**: anything else, and an empty answer. GeoNames knows cities of 15,000 "
    "people or more, so a village may count here."
)


BARS_MEAN = (
    "Bars: this project, with 95 % intervals; shapes: what others reached. **Lookup** may read the "
    "person's sentence and takes its first known place; a model answers from memory."
)
READER_MEANS = (
    " The **reader** has the sentence before it, too: trained on the training questions alone, it "
    "gets {} of the nine tenths right that it is surest of."
)
ABOUT_TABLE = (
    "Pieces are parts of words (byte-level BPE). The ceiling in the picture: answers that stand in "
    "the person's sentence at all; beyond it there is only guessing. "
)


def show_accuracy(
    rows: Sequence[Row], elsewhere: Sequence[Published], reader: ReaderFigures | None
) -> bool:
    """Right answers of every measured variant, beside others', the reader's and what needs no
    model; whether there is any.
    """
    measured = [row.measured for row in rows if row.measured is not None]
    if not measured:
        return False
    title, bars = "Right answers to the dev questions, by variant", _bars(rows)
    chart = figures.accuracy_bars(
        bars,
        _baseline_lines(measured[0], reader),
        points(rows, elsewhere),
        axis="right answers (exact match)",
    )
    st.markdown(f"**{title}**")
    alone = chart.titled(title) if present.on() else chart
    show_chart(alone, alt=f"{title}: {', '.join(label for label, *_ in bars)}", main=True)
    means = READER_MEANS.format(percent(reader.dev.surest_90)) if reader else ""
    st.markdown(f"{BARS_MEAN}{means}")
    return True


def show_kinds(rows: Sequence[Row]) -> None:
    """Wrong answers by kind; nothing where none is recorded."""
    counted = _kinds(rows)
    if not counted:
        return
    title = "Wrong answers by kind"
    with st.expander("How the wrong answers are wrong"):
        picture, meaning = st.columns([1.3, 1])
        with picture:
            show_chart(figures.kind_bars(counted, title=title), alt=title)
        with meaning:
            st.markdown(KINDS_MEAN)


def points(rows: Sequence[Row], figures: Sequence[Published]) -> list[tuple[str, str, float, str]]:
    """Figures from elsewhere on the row of the same variant, each with its note."""
    shown = [row for row in rows if row.measured is not None]
    return [
        (label, PUBLIC if figure.public else REPORTS, figure.accuracy, _note(figure))
        for (label, *_), row in zip(_bars(rows), shown, strict=True)
        for figure in published_for(row.variant, figures, pretrained=row.pretrained)
    ]


def _baseline_lines(measured: Measured, reader: ReaderFigures | None) -> list[tuple[str, float]]:
    """What needs no model, and what may read the sentence, with the number in the name."""
    names = {
        "constant_baseline": f"always {measured.constant_answer}",
        "nearest_name_baseline": "nearest name",
        "lookup_baseline": "lookup",
        "ceiling": "ceiling",
    }
    lines = [(name, measured.baselines[key]) for key, name in names.items()]
    if reader is not None:
        lines.insert(-1, ("reader", reader.dev.accuracy))
    return [(f"{name} {percent(share)}", share) for name, share in lines]


def _bars(rows: Sequence[Row]) -> list[tuple[str, float, tuple[float, float]]]:
    """Label with its number, accuracy and interval of every measured row."""
    return [
        (f"{label}  {percent(row.measured.accuracy)}", row.measured.accuracy, row.measured.interval)
        for row, label in _labelled(rows)
        if row.measured is not None
    ]


def _kinds(rows: Sequence[Row]) -> list[tuple[str, list[tuple[str, int]]]]:
    """Counts by kind of every measured row, the kinds in words."""
    return [
        (label, [(KINDS.get(kind, kind), n) for kind, n in row.measured.kinds.items()])
        for row, label in _labelled(rows)
        if row.measured is not None
    ]


def _note(figure: Published) -> str:
    report = f"report {figure.report}" if figure.report else ""
    return "; ".join(filter(None, (report, figure.note))) or "–"


def _labelled(rows: Sequence[Row]) -> list[tuple[Row, str]]:
    labels = distinct([row.label for row in rows], [row.name for row in rows])
    return list(zip(rows, labels, strict=True))
