"""Two runs side by side: two questions, two checkpoints, or two moments of one training."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.inspection.align import AlignmentError, alignments
from pages.compare.controls import MOMENTS, NoTraceError, Pair, choose, choose_what
from pages.compare.maps import show_maps
from pages.compare.view import Traces, choose_view
from pages.compare.words import answer_lines
from pages.shared.text import plain
from pages.shared.trace_files import show_lacking, show_origin, show_proof


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
        _show_files_of(pair)
    except NoTraceError as error:
        show_lacking(error.opened)
    except AlignmentError as error:
        st.info(f"These two cannot be laid side by side: {plain(str(error))}.")
    except ValueError as error:
        st.error("", icon=":material/block:")
        st.text(str(error))


def _traces(pair: Pair) -> Traces:
    return pair.first.trace, pair.second.trace


def _show_files_of(pair: Pair) -> None:
    """Of each side that is a trace from a file where it is from, and its proof."""
    for side in (pair.first, pair.second):
        if side.opened is not None and side.opened.file is not None:
            st.markdown(f"**{side.letter}**")
            show_origin(side.opened, side.opened.file)
            show_proof(side.opened.file)


def _whole_width() -> tuple[DeltaGenerator, DeltaGenerator]:
    return st.container(), st.container()


main()
