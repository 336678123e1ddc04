"""Why more than one head: the law of c when the keys are perturbed, theory drawn over samples."""

import streamlit as st

from core.montecarlo.result import Sample
from core.montecarlo.spec import PerturbationSpec
from pages.monte_carlo import data, words
from pages.monte_carlo.controls import Choice, choose
from pages.monte_carlo.pictures import show_cloud, show_lower, show_main
from pages.shared import bound
from pages.shared.text import plain, typeset


def main() -> None:
    """Choose on the left, say what c will look like, then see it, its law and its numbers."""
    choice = choose()
    if choice.spec is None:
        _refuse(choice.complaints)
        return
    answer = _ask() if choice.predict else ""
    if answer is None:
        _cover(choice.spec)
        return
    try:
        drawn = data.draw(choice.spec)
    except ValueError as error:
        _refuse((str(error),))
    else:
        _reveal(choice, drawn, answer)


def _ask() -> str | None:
    """What the viewer says, None before it is said."""
    return bound.selectbox(
        "Prediction: what will c look like over many draws?",
        words.LOOKS,
        index=None,
        placeholder="Say it first; then the picture is uncovered",
        key="mc-answer",
    )


def _cover(spec: PerturbationSpec) -> None:
    st.markdown(f"##### {typeset(words.TASK)}")
    given, covered = st.columns([1.25, 1])
    with given:
        show_cloud(spec)
    with covered, st.container(border=True, height=320, vertical_alignment="center"):
        st.markdown(
            ":material/visibility_off: **Covered.** Where does c lie? Say above what you expect, "
            f"and {spec.n_draws:,} draws (seed {spec.seed}) are shown here beside the theory."
        )


def _reveal(choice: Choice, drawn: Sample, answer: str) -> None:
    st.markdown(f"##### {typeset(words.headline(drawn))}")
    if answer:
        st.markdown(words.verdict(answer, drawn))
    show_main(drawn)
    show_lower(drawn)


def _refuse(reasons: tuple[str, ...]) -> None:
    st.info("An input on the left cannot be used; its reason stands beside it.")
    for reason in reasons:
        st.markdown(plain(reason))


main()
