"""The top of the page: question, answer, runners-up, right or wrong, and the proof."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.inspection.captions import mechanism_note
from core.inspection.traced import AttentionTrace
from core.models.lacking import BARE
from pages.attention.controls import Asked
from pages.attention.switches import CHANGES, STAYS, Switches, names_of
from pages.shared.loading import Source
from pages.shared.questions import unread_badge
from pages.shared.text import (
    percent,
    plain,
    sentence,
    shortened,
    target_badge,
    verdict_badge,
)

if TYPE_CHECKING:
    from core.inspection.ablate import Effect

N_OTHERS = 3  # runners-up that are named
INSTEAD = {"zero": "zero", "mean": "their mean over the {} questions"}


def show_heading(asked: Asked, trace: AttentionTrace) -> None:
    """Question, answer, right or wrong: for the back row."""
    question = plain(shortened(trace.question))
    if not trace.steps:
        st.markdown(f"#### {question}  :gray-badge[read, nothing written]")
        return
    given = target_badge(given=trace.teacher_forced)
    verdict = given or _verdict(asked, trace.answer)
    verdict += unread_badge(asked.task, trace.question)
    answer = plain(trace.answer) or "(nothing)"
    st.markdown(f"#### {question} → **{answer}**{verdict}")


def show_answer(trace: AttentionTrace) -> None:
    """Probability and runners-up, and the integrity line."""
    written = f"{written_line(trace)}  \n" if trace.steps else ""
    st.markdown(f"{written}:material/verified: {_proved(trace)}")
    for note in filter(None, [mechanism_note(trace), *map(sentence, trace.lacking)]):
        st.markdown(f":material/info: {note}")


def written_line(trace: AttentionTrace) -> str:
    """How likely the answer is, or the target that was given, and what else began it."""
    first = trace.steps[0].next_best[:N_OTHERS]
    others = ", ".join(f"{plain(c.label)} {percent(c.probability)}" for c in first)
    also = f"; its first piece could also have been {others}" if others else ""
    what = "target, which was given and not written," if trace.teacher_forced else "answer"
    return f"Probability of this {what} **{percent(trace.probability)}**{also}."


def show_target(trace: AttentionTrace) -> None:
    """Each token of a target that was given: how likely it is, and what the model would rather
    write there.
    """
    if not trace.teacher_forced:
        return
    with st.expander("The target, token by token"):
        st.dataframe(
            {
                "token": [step.label for step in trace.steps],
                "probability": [percent(step.probability) for step in trace.steps],
                "next best": [
                    ", ".join(f"{c.label} {percent(c.probability)}" for c in step.next_best)
                    for step in trace.steps
                ],
            }
        )


def _proved(trace: AttentionTrace) -> str:
    """The integrity line. Of models from elsewhere it says more: nobody here wrote them."""
    proof = trace.proof
    what = "streams" if BARE in trace.lacking else "logits"
    hidden = "what is masked" if "encoder" in trace.kinds else "future"
    apart = proof.replay_max_difference
    said = [
        f"Replayed through the weights shown: {what} differ by at most {apart:.0e}",
        _row_sums(trace),
        f"{hidden} {'exactly 0' if proof.future_exactly_zero else 'NOT 0'}",
    ]
    if trace.kinds and BARE not in trace.lacking:
        said.append(f"the likeliest tokens {'the same' if proof.same_argmax else 'NOT the same'}")
    if trace.kinds and proof.head_sum_max_error is not None:
        said.append(f"the heads add up to their layer within {proof.head_sum_max_error:.0e}")
    return f"{', '.join(said)}, {proof.dtype}."


def _row_sums(trace: AttentionTrace) -> str:
    error = trace.proof.row_sum_max_error
    if trace.is_normalised:
        return f"rows sum to 1 within {error:.0e}"
    return f"rows need not sum to 1 (one is {error:.2g} from it)"


def show_change(before: AttentionTrace, found: "Effect", switches: Switches) -> None:
    """What the answer was with every head, and what is left of it."""
    answer, changed = plain(before.answer) or "(nothing)", bool(found.changed[0])
    now = float(found.former_probability[0])
    st.markdown(
        f":material/toggle_off: **Off: {names_of(switches.off.heads)}** (in place: "
        f"{INSTEAD[switches.off.mode].format(switches.over)}). With every head **{answer}**, "
        f"{percent(before.probability)}; this answer has now **{percent(now)}**"
        f"{_said(switches.guess, changed)}"
    )


def show_target_change(before: AttentionTrace, now: AttentionTrace, switches: Switches) -> None:
    """How likely the target was with every head, and is with some off."""
    st.markdown(
        f":material/toggle_off: **Off: {names_of(switches.off.heads)}** (in place: "
        f"{INSTEAD[switches.off.mode].format(switches.over)}). With every head this target has "
        f"**{percent(before.probability)}**, now **{percent(now.probability)}**."
    )


def show_chat(source: Source, question: str) -> None:
    """The text that really goes in, with what the chat template puts around it."""
    in_chat: Any = source.load().vocabulary
    st.caption("What goes in, with the chat template:")
    st.code(in_chat.text_in(question), language=None, wrap_lines=True)


def show_cover(switches: Switches) -> None:
    """In the place of a change that is not shown yet."""
    st.markdown(
        f":material/visibility_off: **Covered:** with {names_of(switches.off.heads)} off, does the "
        "answer stay? Say it, and it is shown; until then every head is on."
    )


def show_pieces(before: AttentionTrace, then: Sequence[float], now: Sequence[float]) -> None:
    """The probability of each piece, then and now."""
    labels = " | ".join(plain(step.label) for step in before.steps)
    rows = [
        f"| {name} | {' | '.join(percent(float(p)) for p in values[: len(before.steps)])} |"
        for name, values in (("with every head", then), ("now", now))
    ]
    what = "target" if before.teacher_forced else "answer before"
    head = [f"| {what} | {labels} |", "|:--|" + "--:|" * len(before.steps)]
    st.markdown("\n".join([*head, *rows]))


def _said(guess: str | None, changed: bool) -> str:  # noqa: FBT001
    if guess is None:
        return "."
    right = guess == (CHANGES if changed else STAYS)
    happened = CHANGES if changed else STAYS
    mark = ":material/check: **as you said**" if right else ":material/close: not as you said"
    return f". {mark}: {happened}."


def _verdict(asked: Asked, answer: str) -> str:
    if asked.expected is None:
        shipped = asked.task is not None and asked.task.is_shipped
        unknown = "nobody in the table" if shipped else "right answer unknown"
        return f"  :gray-badge[{unknown}]"
    rule = "exact" if asked.asked is None else asked.asked.rule
    return verdict_badge(asked.expected, answer, rule)
