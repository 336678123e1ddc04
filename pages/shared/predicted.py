"""What a visitor expects of a lesson's page before it is shown, and what is right."""

from typing import Any

import streamlit as st

from core.lessons.lesson import Prediction, Step, number_text, right_answer, said
from pages.shared import in_class
from pages.shared.text import plain

SAID = "lesson-said"  # in the session: by lesson and step what was predicted, "" for nothing
Said = dict[tuple[str, int], str]
NOTHING_SAID = "Choose or type something first, or look without."


def is_over(lesson: str, number: int, step: Step) -> bool:
    """Whether the page may be shown: nothing is to be predicted, or it was, or was left out."""
    if step.predict is None or (lesson, number) in _all_said():
        return True
    kept = in_class.own(lesson, number)  # of before a reload
    if kept is not None:
        _all_said()[lesson, number] = kept
    return kept is not None


def ask(lesson: str, number: int, step: Step, predict: Prediction) -> None:
    """The form of a prediction, and the way round it."""
    key = f"{SAID}-{lesson}-{number}"
    with st.form(f"{key}-form", border=False):
        _choose(step, predict, key)
        st.form_submit_button(
            "That is what I expect",
            key=f"{key}-give",
            type="primary",
            on_click=_give,
            args=(lesson, number, predict, key),
        )
    if st.session_state.pop(f"{key}-empty", False):
        st.warning(NOTHING_SAID)
    in_class.say_refused(f"{key}-refused")
    if in_class.waits(lesson, number):
        return
    st.button(
        "Look without an answer",
        key=f"{key}-look",
        type="tertiary",
        on_click=_all_said().__setitem__,
        args=((lesson, number), ""),
    )


def ask_again(lesson: str, number: int, step: Step) -> None:
    """In a class, once the step is revealed: the same question, for the answer after it."""
    predict, key = step.predict, f"{SAID}-{lesson}-{number}-after"
    if predict is None or not in_class.can_answer_again(lesson, number):
        return
    with st.expander("And what would you say now?"), st.form(f"{key}-form", border=False):
        _choose(step, predict, key)
        st.form_submit_button(
            "That is what I say now",
            key=f"{key}-give",
            on_click=_give_again,
            args=(lesson, number, predict, key),
        )
        in_class.say_refused(f"{key}-refused")
        if st.session_state.pop(f"{key}-kept", False):
            st.caption(":material/check: It is kept beside what you said before.")


def _give_again(lesson: str, number: int, predict: Prediction, key: str) -> None:
    if (value := st.session_state.get(key)) is None:
        return
    text = _text_of(value, predict)
    done = in_class.attempt(f"{key}-refused", lambda: in_class.told(lesson, number, text))
    st.session_state[f"{key}-kept"] = done


def outcome(lesson: str, number: int, step: Step) -> str:
    """What was predicted beside what is right, in Markdown; nothing unless the page is shown."""
    predict, text = step.predict, _all_said().get((lesson, number))
    if predict is None or text is None:
        return ""
    right = right_answer(step, predict)
    if not text:
        return f"{plain(said(step, predict.ask))} **{plain(right)}**."
    if text == right:
        return f":green[:material/check:] You said **{plain(text)}**, and so it is."
    return f"You said **{plain(text)}**. It is **{plain(right)}**."


def _choose(step: Step, predict: Prediction, key: str) -> None:
    label = plain(said(step, predict.ask))
    if not predict.of_number:
        choices = [said(step, choice) for choice in predict.choices]
        st.radio(label, choices, None, format_func=plain, key=key)
        return
    unit = f" ({plain(predict.unit)})" if predict.unit else ""
    low, high = predict.low or 0, predict.high
    if not (isinstance(low, int) and isinstance(high, int)):
        low, high = float(low), None if high is None else float(high)
    number: Any = st.number_input  # its types know no number without a value
    number(label + unit, low, high, None, key=key, width=600)


def _give(lesson: str, number: int, predict: Prediction, key: str) -> None:
    """Keep what stands in the form, if anything does."""
    value = st.session_state.get(key)
    if value is None:
        st.session_state[f"{key}-empty"] = True
        return
    text = _text_of(value, predict)
    if in_class.attempt(f"{key}-refused", lambda: in_class.told(lesson, number, text)):
        _all_said()[lesson, number] = text


def _text_of(value: str | float, predict: Prediction) -> str:
    return value if isinstance(value, str) else number_text(value, predict.unit)


def _all_said() -> Said:
    return st.session_state.setdefault(SAID, {})
