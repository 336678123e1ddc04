"""Switch heads off: which, what takes their place, and whether to say first what will happen."""

from collections.abc import Collection
from dataclasses import dataclass, replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.data.task import Task
from core.inspection.head_rows import n_together
from core.inspection.heads import Head, HeadsOff, Mode, head_name
from core.inspection.traced import AttentionTrace
from pages.shared import bound
from pages.shared.loading import Source, load_example
from pages.shared.questions import means_of, means_possible, no_means
from pages.shared.records import record_of
from pages.shared.text import plain

ROW = "off-L{}"
NOTHING_WRITTEN = (
    "Nothing is written behind this text, so no head can matter to it: with heads off, what the "
    "later layers look at changes."
)
GIVEN = (
    "The target is given and stays, whatever is off: what changes is how likely it is. Heads are "
    "ranked, and guessed about, by what the model writes itself: leave the target empty for that."
)
STAYS, CHANGES = "it stays", "it changes"
INSTEAD: dict[Mode, str] = {"zero": "zero", "mean": "its mean"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches:
    """What is off; with `predict` nothing is shown of it before there is a `guess`.

    `place` is where more may be said, beside the switches; `over` names the questions over which
    means are taken.
    """

    off: HeadsOff
    predict: bool
    guess: str | None
    place: DeltaGenerator
    over: str = "dev"

    @property
    def covered(self) -> bool:
        return bool(self.off.heads) and self.predict and self.guess is None


def choose_switches(
    source: Source, task: Task | None, trace: AttentionTrace, asking: DeltaGenerator
) -> Switches:
    """A row of buttons a layer, behind one button; `trace` is that with every head on.

    `asking` is where the viewer says what will happen.
    """
    with st.popover("Heads off", icon=":material/toggle_off:", width="content"):
        off = _choose_mode(source, task)
        if trace.teacher_forced:
            st.caption(GIVEN)
        elif trace.steps:
            _offer_ranked(source, trace, off)
        else:
            st.caption(NOTHING_WRITTEN)
        off = replace(off, heads=_choose_heads(trace))
        predict = not trace.teacher_forced and bound.toggle(
            "Predict, then reveal",
            key="predict",
            help="Say whether the answer changes before it is shown.",
        )
        place = st.container()
    guess = None
    if off.heads and predict:
        with asking:
            guess = _ask()
    over = "dev" if source.asked is None else source.asked.name
    return Switches(off=off, predict=predict, guess=guess, place=place, over=over)


def _choose_mode(source: Source, task: Task | None) -> HeadsOff:
    possible = means_possible(source, task)
    mode = bound.segmented_control(
        "A head that is off gives",
        [*INSTEAD][: 2 if possible else 1],
        default="zero",
        required=True,
        format_func=INSTEAD.__getitem__,
        key="off-mode",
        on_change=_ask_again,
        help="Its mean is taken over the dev questions or the question set that is asked, apart "
        "for the rows that read the question and those that write the answer.",
    )
    if not possible:
        st.caption(no_means(task))
    if mode != "mean":
        return HeadsOff()
    return HeadsOff(mode="mean", means=means_of(source, task))


def _offer_ranked(source: Source, trace: AttentionTrace, off: HeadsOff) -> None:
    """Buttons that switch off those that matter least or most, and one that ends it."""
    n = n_together(trace.n_layers * trace.n_heads)
    with st.container(horizontal=True):
        for which in ("least", "most"):
            if st.button(f"Off: the {n} that matter {which}", key=f"off-{which}"):
                order = _ranking(source, trace, off)
                _put(trace, order[:n] if which == "most" else order[::-1][:n])
        if st.button("All on", key="off-none"):
            _put(trace, ())
    st.caption(_how(source))


def _ranking(source: Source, trace: AttentionTrace, off: HeadsOff) -> tuple[Head, ...]:
    """The head first that matters most: by the recorded table, else by this question."""
    record = record_of(source.name, source.digest, asked=source.asked)
    if record is not None:
        return tuple(row.at for row in record.tables[off.mode].by_importance)
    return load_example(source, trace.question, off).by_importance


def _how(source: Source) -> str:
    record = record_of(source.name, source.digest, asked=source.asked)
    if record is None:
        return "Ranked by this question alone: no table of these weights is recorded."
    total = record.tables["zero"].total
    over = "dev" if source.asked is None else plain(source.asked.name)
    return f"Ranked by the log-probability lost over {total} {over} questions, each head off alone."


def _choose_heads(trace: AttentionTrace) -> tuple[Head, ...]:
    names = [f"H{head}" for head in range(trace.n_heads)]
    off: list[Head] = []
    for layer in range(trace.n_layers):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(f"L{layer}", width="content")
            chosen = bound.pills(
                f"Heads of L{layer} that are off",
                names,
                key=ROW.format(layer),
                on_change=_ask_again,
                label_visibility="collapsed",
                wrap=True,
            )
        off += [(layer, names.index(name)) for name in chosen]
    return tuple(sorted(off))


def _ask() -> str | None:
    return bound.segmented_control(
        "Will the answer change?",
        [STAYS, CHANGES],
        key="guess",
    )


def _ask_again() -> None:
    """Another set of heads: what was said about the last one does not count."""
    st.session_state["guess"] = None


def _put(trace: AttentionTrace, heads: Collection[Head]) -> None:
    """Set the rows of buttons, before they are drawn."""
    _ask_again()
    for layer in range(trace.n_layers):
        names = [f"H{head}" for at, head in sorted(heads) if at == layer]
        st.session_state[ROW.format(layer)] = names


def names_of(heads: Collection[Head]) -> str:
    """L0·H1, L3·H5; by their number where there are many."""
    names = [head_name(*at) for at in heads]
    return ", ".join(names) if len(names) <= 6 else f"{len(names)} heads"
