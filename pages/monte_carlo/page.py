"""Why more than one head: the law of c when the keys are perturbed, theory drawn over samples."""

import streamlit as st

from core.montecarlo.result import Sample
from core.montecarlo.spec import PerturbationSpec
from pages.monte_carlo import data, words
from pages.monte_carlo.controls import choose_settings
from pages.monte_carlo.pictures import show_agreement, show_cloud, show_output, show_why
from pages.shared import bound
from pages.shared.text import plain, typeset


def main() -> None:
    """Choose, say what c will look like, then see it, its law and its numbers."""
    settings = choose_settings()
    if settings.spec is None:
        _refuse(*settings.complaints)
        return
    prediction = _ask_prediction() if settings.predict else ""
    if prediction is None:
        _cover(settings.spec)
        return
    try:
        drawn = data.draw(settings.spec)
    except ValueError as error:
        _refuse(str(error))
        return
    _show_headline(drawn, prediction)
    show_output(drawn)
    show_agreement(drawn)
    show_why(drawn)


def _refuse(*reasons: str) -> None:
    st.info("One of the controls cannot be used:")
    for reason in reasons:
        st.markdown(plain(reason))


def _ask_prediction() -> str | None:
    """What the viewer says, None before it is said."""
    return bound.selectbox(
        "Prediction: what will c look like over many draws?",
        words.SHAPES,
        index=None,
        placeholder="Say it first; then the picture is uncovered",
        key="mc-answer",
    )


def _cover(spec: PerturbationSpec) -> None:
    """The task with what is given, before anything is drawn."""
    st.markdown(f"##### {typeset(words.TASK)}")
    given, covered = st.columns([1.25, 1])
    with given:
        show_cloud(spec, main=True)
    with covered, st.container(border=True, height=320, vertical_alignment="center"):
        st.markdown(
            ":material/visibility_off: **Covered.** Where does c lie? Say above what you expect, "
            f"and {spec.n_draws:,} draws (seed {spec.seed}) are shown here beside the theory."
        )


def _show_headline(drawn: Sample, prediction: str) -> None:
    """What c does, and what was predicted beside it."""
    st.markdown(f"##### {typeset(words.headline(drawn))}")
    if prediction:
        st.markdown(words.verdict(prediction, drawn))


main()
