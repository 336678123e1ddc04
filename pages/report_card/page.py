"""What does pretraining buy: every variant on the course's own task, from files alone."""

from collections.abc import Sequence

import streamlit as st

from core.evaluation.report_card import Row
from core.evaluation.tables import Ablation, Published
from core.figures import report as figures
from core.paths import COURSE_VARIABLE, course_folder
from pages.report_card import data, words
from pages.report_card.ablation import show_ablation
from pages.report_card.practised import practised
from pages.report_card.table import note_lines, table
from pages.shared import bound
from pages.shared.charts import show_chart
from pages.shared.text import plain

LINE, HEAD = 39, 90  # pixels of the table


def main() -> None:
    """One table, one chart of it, and below why, how and where it fails."""
    try:
        rows, others = data.rows(), data.published()
    except ValueError as error:
        st.subheader("Report card")
        st.error(plain(str(error)), icon=":material/block:")
        return
    st.markdown(f"##### {plain(words.headline(rows, others.figures))}\n{words.task(rows)}")
    _warnings(rows)
    if not rows:
        st.info(words.EMPTY, icon=":material/school:")
        st.code(words.EMPTY_COMMANDS, language="bash")
    card, notes = table(rows, others.figures)
    with st.container(height=LINE * card.count("\n") + HEAD, border=False):  # scrolls on a phone
        st.markdown(card)
    _accuracy(rows, others.figures)
    st.markdown(f"{plain(others.source)}\n\n{note_lines(notes)}")
    ablation, problem = _ablation()
    _practised(rows, ablation)
    _seeds()
    show_ablation(ablation, problem)
    if rows:
        _kinds(rows)
        _one(rows)


def _warnings(rows: list[Row]) -> None:
    """What cannot be shown and the commands that mend it, and what cannot be compared."""
    problems, commands = words.problems(rows)
    for problem in problems:
        st.warning(plain(problem), icon=":material/warning:")
    if commands:
        st.code(commands, language="bash", wrap_lines=True)
    if mixed := words.other_questions(rows):
        st.warning(plain(mixed), icon=":material/warning:")


def _accuracy(rows: list[Row], elsewhere: Sequence[Published]) -> None:
    measured = [row.measured for row in rows if row.measured is not None]
    if not measured:
        return
    title = "Right answers to the dev questions, by variant"
    chart = figures.accuracy_bars(
        words.bars(rows),
        words.baseline_lines(measured[0]),
        words.points(rows, elsewhere),
        title=title,
        axis="right answers (exact match)",
    )
    show_chart(chart, alt=f"{title}: {', '.join(label for label, *_ in words.bars(rows))}")
    st.markdown(
        "Bars: this project, with 95 % intervals; shapes: what others reached with the same "
        "variant. **Lookup** answers with the first known place in the person's sentence, which it "
        "may read; a model answers from memory. **Ceiling**: answers that stand in the sentence at "
        "all; beyond it there is only guessing. Pieces are word pieces (byte-level BPE)."
    )


def _seeds() -> None:
    try:
        spread = data.seeds()
    except ValueError as error:
        st.error(plain(str(error)))
        return
    if spread is not None:
        st.markdown(words.spread_line(spread))


def _ablation() -> tuple[Ablation | None, str]:
    """The ablation, or what is wrong with its file."""
    try:
        return data.ablation(), ""
    except ValueError as error:
        return None, str(error)


def _practised(rows: list[Row], ablation: Ablation | None) -> None:
    if meanings := practised(rows, ablation):
        with st.expander("What was practised"):
            st.markdown(meanings)


def _kinds(rows: list[Row]) -> None:
    counted = words.kinds(rows)
    if not counted:
        return
    st.markdown("##### How the wrong answers are wrong")
    title = "Wrong answers by kind"
    picture, meaning = st.columns([1.3, 1])
    with picture:
        show_chart(figures.kind_bars(counted, title=title), alt=title)
    with meaning:
        st.markdown(words.KINDS_MEAN)


def _one(rows: list[Row]) -> None:
    """One checkpoint: its command, the way to its heads, its wrong answers."""
    names = [row.name for row in rows]
    chosen = bound.selectbox("Checkpoint", names, key="card-row", follows=True)
    row = rows[names.index(chosen)]
    st.page_link(
        "pages/attention/page.py",
        label=f"Look at the heads of {plain(row.name)}",
        icon=":material/grid_on:",
        query_params={"checkpoint": row.name},
    )
    st.markdown("**Train it yourself**")
    if row.command:
        st.code(row.command, language="bash", wrap_lines=True)
    else:
        st.markdown("Its card holds no command: it was trained elsewhere and imported.")
    folder = course_folder()
    box = st.expander("Its wrong answers, one by one", key="card-examples", on_change="rerun")
    if not box.open:
        return
    with box:
        if folder is None:
            st.markdown(
                f"The course's files are not part of this project. Set `{COURSE_VARIABLE}` to the "
                f"folder that holds them before you start the app: "
                f"`{COURSE_VARIABLE}=FOLDER streamlit run app.py`."
            )
        else:
            from pages.report_card.examples import show_examples  # noqa: PLC0415 - loads torch

            show_examples(row, str(folder))


main()
