"""How a class stands: how many expected what of each step, and what they wrote in free words."""

import streamlit as st

from core.classroom.counts import Counts, Standing
from core.lessons.lesson import Prediction, Step, right_answer, said
from pages.shared.text import plain

MOST_BLOCKS = 20  # of the longest bar


def show_step(
    number: int, step: Step, predict: Prediction, counts: Counts, *, is_revealed: bool
) -> None:
    """One question with its answers; what is right is told once it is revealed."""
    n_before, n_after = sum(counts.before.values()), sum(counts.after.values())
    state = "revealed" if is_revealed else "covered"
    st.markdown(f"**{number}. {plain(said(step, predict.ask))}** ({state})")
    right = right_answer(step, predict) if is_revealed else None
    rows = [
        f"| {_name(text, right)} | {_bar(counts.before.get(text, 0), n_before)} "
        f"| {_bar(counts.after.get(text, 0), n_after)} |"
        for text in _texts(step, predict, counts)
    ]
    head = f"| answer | before ({n_before}) | after ({n_after}) |\n| -- | -- | -- |"
    st.markdown("\n".join([head, *rows]))


def show_explanations(now: Standing) -> None:
    """Free words, in the order of the pupils."""
    for label, texts in (("before", now.explained_before), ("after", now.explained_after)):
        if texts:
            with st.expander(f"In their own words, {label} ({len(texts)})", key=f"class-{label}"):
                st.markdown("\n".join(f"- {plain(text)}" for text in texts))


def _texts(step: Step, predict: Prediction, counts: Counts) -> list[str]:
    """The choices in their order, then whatever else was answered; numbers by their size."""
    choices = [said(step, choice) for choice in predict.choices]
    given = {**counts.before, **counts.after}
    others = sorted((text for text in given if text not in choices), key=_size)
    return [*choices, *others]


def _size(text: str) -> tuple[float, str]:
    number = text.replace("−", "-").replace(",", "").partition(" ")[0]
    try:
        return float(number), text
    except ValueError:
        return 0.0, text


def _name(text: str, right: str | None) -> str:
    return f"**{plain(text)}** :material/check:" if text == right else plain(text)


def _bar(n: int, total: int) -> str:
    """A bar of blocks with its number: seen from afar and read by a screen reader."""
    return f"{'█' * round(MOST_BLOCKS * n / total)} {n}" if n else "0"
