"""What does pretraining buy: every variant on the course's own task, from files alone."""

import streamlit as st

from core.evaluation.report_card import Row
from core.paths import COURSE_VARIABLE, course_folder
from pages.report_card.charts import ABOUT_TABLE, show_accuracy, show_kinds
from pages.report_card.pretraining import (
    read_ablation,
    show_ablation,
    show_practised,
    show_seeds,
)
from pages.report_card.self_taught import read_reader, show_self_teaching, show_taught
from pages.report_card.speech import show_speech
from pages.report_card.table import (
    note_lines,
    read_published,
    read_rows,
    show_heading,
    show_table,
)
from pages.shared import bound
from pages.shared.text import plain


def main() -> None:
    """The verdict and one picture of it; folded below: all numbers, why, how and where it fails."""
    try:
        rows, published = read_rows(), read_published()
    except ValueError as error:
        st.subheader("Report card")
        st.error(plain(str(error)), icon=":material/block:")
        return
    reader, broken = read_reader()
    show_heading(rows, published.figures, reader)
    if broken:
        st.error(plain(broken), icon=":material/block:")
    is_measured = show_accuracy(rows, published.figures, reader)
    with st.expander("All numbers, and what others reached", expanded=not is_measured):
        notes = show_table(rows, published.figures)
        about = ABOUT_TABLE if is_measured else ""
        st.markdown(f"{about}{plain(published.source)}\n\n{note_lines(notes)}")
        show_taught(rows, reader)
    ablation, problem = read_ablation()
    with st.expander("What does pretraining buy, and which pretraining?", expanded=bool(problem)):
        show_ablation(ablation, problem)
        show_seeds()
    show_self_teaching()
    show_practised(rows, ablation)
    if rows:
        show_kinds(rows)
        _show_one(rows)
    show_speech()


def _show_one(rows: list[Row]) -> None:
    """One checkpoint: its command, the way to its heads, its wrong answers."""
    with st.expander("One checkpoint: its heads, and how it was trained"):
        names = [row.name for row in rows]
        chosen = bound.selectbox("Checkpoint", names, key="card-row", follows=True)
        row = rows[names.index(chosen)]
        if row.has_weights:
            st.page_link(
                "pages/attention/page.py",
                label=f"Look at the heads of {plain(row.name)}",
                icon=":material/grid_on:",
                query_params={"checkpoint": row.name},
            )
        if row.command:
            unshipped = "" if row.has_weights else "Its weights are not shipped. "
            st.markdown(f"{unshipped}The same training from a terminal:")
            st.code(row.command, language="bash", wrap_lines=True)
        else:
            st.markdown("Its card holds no command: it was trained elsewhere and imported.")
    box = st.expander(
        f"The wrong answers of {plain(row.name)}, one by one",
        key="card-examples",
        on_change="rerun",
    )
    if box.open:
        with box:
            _show_wrong(row)


def _show_wrong(row: Row) -> None:
    """Its wrong answers, or what is missing to ask for them."""
    if not row.has_weights:
        st.markdown(
            "Its weights are not shipped, so that it cannot be asked; the command above trains "
            "them again."
        )
        return
    folder = course_folder()
    if folder is None:
        st.markdown(
            f"The course's files are not part of this project. Set `{COURSE_VARIABLE}` to the "
            f"folder that holds them before you start the app: "
            f"`{COURSE_VARIABLE}=FOLDER streamlit run app.py`."
        )
        return
    from pages.report_card.examples import show_examples  # noqa: PLC0415 - loads torch

    show_examples(row, str(folder))


main()
