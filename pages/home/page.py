"""A real answered question and the head that found the answer, from a stored trace: no torch."""

from collections.abc import Generator
from contextlib import contextmanager

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.checkpoints.files import read_json
from core.cli.paths import ASSETS, CHECKPOINTS
from core.evaluation.report_card import load_rows
from core.figures import attention as figures
from core.figures import attention_row as row_figures
from core.figures.thumbnails import bar_picture, contact_sheet, curve_picture, spaced_bar_picture
from core.inspection.captions import head_name, row_sentence, strongest_head
from core.inspection.record import AttentionTrace, trace_from_dict
from core.montecarlo.result import Sample
from core.montecarlo.sample import sample
from core.montecarlo.spec import PerturbationSpec
from core.theory.by_hand.weights import weight_curves
from pages.shared.digests import digest
from pages.shared.text import percent, plain

STORED = ASSETS / "home_trace.json"
COPIED, MOST_BETA = np.array([1.0, 0.6, 0.0]), 10.0  # k_iᵀk₁ of the copied key and two others


@st.cache_resource(max_entries=1)
def stored_trace(modified: float) -> AttentionTrace:
    """The trace that `python -m core trace … --out assets/home_trace.json` wrote."""
    return trace_from_dict(read_json(STORED))


@st.cache_resource(max_entries=1, show_spinner=False)
def small_sample() -> Sample:
    """A few draws of the exercise's one head."""
    return sample(PerturbationSpec(n_draws=20_000))


def main() -> None:
    """One question, one head, one row, one sentence, and the way on."""
    trace = stored_trace(STORED.stat().st_mtime)
    layer, head = strongest_head(trace)
    name, step = head_name(layer, head), trace.steps[0]
    weights, contribution = trace.weights[layer, head], trace.contribution[layer, head]
    title = row_sentence(name, step.row, weights[step.row], trace.labels, step)
    st.markdown(
        f"## {plain(trace.question)} → **{plain(trace.answer)}**  \n"
        "A small GPT, trained in this repository, recalls birthplaces. "
        f"Of its {trace.n_layers * trace.n_heads} attention heads, {plain(name)} brings most of "
        "the name to the place where the answer is written."
    )
    picture, row = st.columns([2, 1.2])
    with picture:
        chart = figures.attention_map(
            weights,
            contribution,
            trace.labels,
            step.row,
            title=title,
            scores=trace.scores[layer, head],
            size=340,
        )
        st.altair_chart(chart, alt=title)
        st.caption(
            f"Probability of the answer: {percent(trace.probability)}. Rows look, columns are "
            "looked at; grey cells lie in the future. One head rarely explains an answer alone."
        )
    with row:
        bars = row_figures.row_bars(
            weights[step.row],
            contribution[step.row],
            trace.labels,
            step.row,
            title=f"What it takes from each key to write “{step.label}”",
            height=170,
        )
        st.altair_chart(bars, alt=f"Weights and contributions of row {step.row}")
    show_cards(trace)


def show_cards(trace: AttentionTrace) -> None:
    """The way on: a real picture from each page, under its link."""
    attention, monte_carlo, by_hand, report_card = st.columns(4)
    with _card(attention, "attention", "Attention", ":material/grid_on:"):
        st.image(contact_sheet(trace.weights), width="stretch", caption="Every head, this question")
    with _card(monte_carlo, "monte_carlo", "Monte Carlo", ":material/scatter_plot:"):
        st.image(
            bar_picture(small_sample().coarse_counts(50)),
            width="stretch",
            caption="One head, told to average two values, takes one or the other",
        )
    with _card(by_hand, "attention_by_hand", "By hand", ":material/calculate:"):
        st.image(
            curve_picture(weight_curves(COPIED, MOST_BETA)[1].T),
            width="stretch",
            caption="Three weights as the query grows: one key wins",
        )
    with _card(report_card, "report_card", "Report card", ":material/school:"):
        rows = load_rows(CHECKPOINTS, digest=digest)
        reached = [row.measured.accuracy for row in rows if row.measured is not None]
        if reached:
            st.image(
                spaced_bar_picture(np.array(reached)),
                width="stretch",
                caption="Right answers of each variant on the course's own task",
            )
        else:
            st.caption("No variant of the course's task is recorded yet.")


@contextmanager
def _card(place: DeltaGenerator, page: str, label: str, icon: str) -> Generator[None]:
    with place, st.container(border=True):
        st.page_link(f"pages/{page}/page.py", label=f"**{label}**", icon=icon)
        yield


main()
