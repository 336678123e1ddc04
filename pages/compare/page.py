"""Two runs side by side: two questions, two checkpoints, or two moments of one training."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.inspection.align import AlignmentError, alignments
from pages.compare.controls import MOMENTS, Pair, choose, choose_what
from pages.compare.maps import show_maps
from pages.compare.view import Traces, choose_view
from pages.compare.words import answer_lines
from pages.shared.loading import load_trace
from pages.shared.text import plain


def main() -> None:
    """Choose on the left; both answers, one head of each, the difference, all heads.

    Of a training the curve and the slider stand beside the answers, so that all is seen at once.
    """
    what = choose_what()
    curve, beside = st.columns([1.2, 1], gap="medium") if what == MOMENTS else _whole_width()
    try:
        with curve:
            pair = choose(what)
        traces = _traces(pair)
        with beside:
            st.markdown(answer_lines(pair, traces))
            found = alignments(*traces)
            view = choose_view(pair, traces, found)
        show_maps(pair, traces, view)
    except AlignmentError as error:
        st.info(f"These two cannot be laid side by side: {plain(str(error))}.")
    except ValueError as error:
        st.error("", icon=":material/block:")
        st.text(str(error))


def _traces(pair: Pair) -> Traces:
    return (
        load_trace(pair.first.source, pair.first.question),
        load_trace(pair.second.source, pair.second.question),
    )


def _whole_width() -> tuple[DeltaGenerator, DeltaGenerator]:
    return st.container(), st.container()


main()
