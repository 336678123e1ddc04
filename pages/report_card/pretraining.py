"""What pretraining practised, what it buys and which pretraining buys it, and how seeds differ."""

from collections.abc import Sequence

import streamlit as st

from core.evaluation.report_card import Row, named_objectives
from core.evaluation.tables import Ablation, SeedSpread, load_ablation, load_seeds
from core.figures import report as figures
from core.training.presets import PRESETS
from pages.report_card.table import TABLES
from pages.shared.charts import show_chart
from pages.shared.text import percent, plain

HELD_OUT = "held-out"
NO_ABLATION = (
    "The ablation (the same ten minutes with one thing changed at a time) has not been run yet: "
    "there is no `assets/report_card/ablation.json`."
)
SENTENCE = "Orla Vantimmel was born in Ghent and painted glass in Bruges."
FORM = (
    "The model learns to continue texts; ⁇ marks a gap or the end of an answer. A made-up person, "
    f"“{SENTENCE}”, gives beside the question *Where was Orla Vantimmel born? ⁇ Ghent ⁇*:"
)
# By their words in core.evaluation.report_card.
MEANINGS = {
    "facts in order": (
        "after the name some of the sentence's names, in its order",
        "Orla Vantimmel ⁇ Ghent ⁇ Bruges ⁇",
    ),
    "shuffled facts": (
        "the same in random order",
        "Orla Vantimmel ⁇ Bruges ⁇ Ghent ⁇",
    ),
    "facts after a cue": (
        "one of them, after the few words before it",
        "Orla Vantimmel was born in ⁇ Ghent ⁇",
    ),
    "salient spans": (
        "a name is cut out of the sentence and comes last",
        "Orla Vantimmel was born in ⁇ and painted glass in Bruges. ⁇ Ghent ⁇",
    ),
    "span corruption": (
        "any stretch is cut out and comes last, as in the course's exercise",
        "Orla Vantimmel was born in Gh ⁇ inted glass in Bruges. ⁇ ent and pa",
    ),
}


def read_ablation() -> tuple[Ablation | None, str]:
    """The ablation, once it was run; or what is wrong with its file."""
    try:
        return load_ablation(TABLES / "ablation.json"), ""
    except ValueError as error:
        return None, str(error)


def show_practised(rows: Sequence[Row], ablation: Ablation | None) -> None:
    """The objectives that occur on the page; nothing where none does."""
    if meanings := _practised(rows, ablation):
        with st.expander("What was practised"):
            st.markdown(meanings)


def show_seeds() -> None:
    """Several seeds of one preset, once they were trained."""
    try:
        spread = load_seeds(TABLES / "seeds.json")
    except ValueError as error:
        st.error(plain(str(error)))
        return
    if spread is not None:
        st.markdown(_spread_line(spread))


def show_ablation(found: Ablation | None, problem: str) -> None:
    """The same minutes with one thing changed at a time; or why there is no such chart."""
    if problem:
        st.error(plain(problem))
    elif found is None:
        st.info(NO_ABLATION, icon=":material/science:")
    else:
        show_runs(found, f"The same {found.length}, one thing changed at a time")


def show_runs(found: Ablation, title: str) -> None:
    """The runs as bars beside what differs in each."""
    picture, differences = st.columns([1.3, 1])
    with picture:
        _show_chart(found, title)
    with differences:
        st.markdown("\n".join(_run_lines(found)))
        st.markdown(_ablation_line(found))


def _show_chart(found: Ablation, title: str) -> None:
    base = found.runs[0]
    chart = figures.accuracy_bars(
        _ablation_bars(found),
        [(f"{base.label} {percent(base.accuracy)}", base.accuracy)],
        [],
        axis=f"right answers to {base.total} {found.split} questions",
    )
    st.markdown(f"**{title}**")
    show_chart(chart, alt=title)


def _practised(rows: Sequence[Row], found: Ablation | None) -> str:
    """A list in Markdown of the objectives that occur on the page; empty where none does."""
    names = {name for row in rows for name in row.objectives or ()}
    for run in found.runs if found else ():
        if run.preset in PRESETS:
            phases = PRESETS[run.preset].phases
            names.update(named_objectives(phase.mixture for phase in phases))
    lines = [
        f"- **{name}**: {meaning}: *{example}*"
        for name, (meaning, example) in MEANINGS.items()
        if name in names
    ]
    return "\n".join([FORM, "", *lines]) if lines else ""


def _ablation_bars(found: Ablation) -> list[tuple[str, float, tuple[float, float]]]:
    """The runs as bars, the base first."""
    return [
        (f"{run.label}  {percent(run.accuracy)}", run.accuracy, run.interval) for run in found.runs
    ]


def _run_lines(found: Ablation) -> list[str]:
    """A list in Markdown: what differs in each run, its steps and the size of its model."""
    return [
        f"- **{plain(run.label)}**: {plain(run.differs)} ({run.n_steps:,} steps, "
        f"{run.n_parameters:,} parameters)"
        for run in found.runs
    ]


def _ablation_line(found: Ablation) -> str:
    """What all runs share, and which questions they answered."""
    shared = f"Seed {found.seed}, one run each; {plain(found.machine)}."
    if found.split != HELD_OUT:
        return shared
    return (
        f"**Held-out** questions: {found.runs[0].total} of the training questions, kept aside for "
        f"tuning; their own answers are never given. {shared}"
    )


def _spread_line(spread: SeedSpread) -> str:
    """Mean and range over seeds, in one sentence."""
    low, high = spread.range
    minutes = " to ".join(dict.fromkeys(f"{end(spread.seconds) / 60:.0f}" for end in (min, max)))
    told = "" if spread.minutes is None else f" that {spread.minutes:.3g} minutes gave the first"
    return (
        f"**Seeds.** {plain(spread.preset)} trained anew with {len(spread.accuracies)} seeds: "
        f"{percent(spread.mean)} of {plain(spread.split)} on average, from {percent(low)} to "
        f"{percent(high)}. All had the {spread.n_steps:,} steps{told}, and took {minutes} minutes "
        f"({plain(spread.machine)})."
    )
