"""All heads at once: two measures against each other, the table, and one head in a sentence.

The table is that of the record beside the weights, or measured when it is wanted.
"""

import shlex
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from core.data.question_set import FIRST_TOKENS, of_subject
from core.figures import heads as figures
from core.figures.template import Figure
from core.inspection.head_rows import HeadTable
from core.inspection.heads import head_name
from pages.heads import overview_words as words
from pages.heads.controls import PREFIX, SPLITS, TOO_OLD, Measured, choose_first_out
from pages.shared import bound, present, who
from pages.shared.charts import clicked, download_csv, download_json, download_svg, show_chart
from pages.shared.models import listed
from pages.shared.records import problem_of, record_of
from pages.shared.sets import UPLOADED
from pages.shared.text import plain, sentence

CHART_KEY = f"{PREFIX}chart"
HEAD_KEY = f"{PREFIX}head"
LINE, HEAD_LINE, MOST_ROWS = 42, 60, 40  # of the table: pixels of a row and of its head, and rows
WANTED = f"{PREFIX}wanted"  # what was asked to be measured, in this session
MOST_WANTED = 20
LARGE = (
    "Over a question set the command says how long it will take. For a large model `--top 20` in "
    "the place of `--record` switches off only the heads that seem to matter."
)
CHOOSE_SET = (
    "This model has no questions of its own: choose a question set, or upload one. "
    "Then every head can be switched off while it is asked, if the model answers (an encoder alone "
    "does not)."
)
TAKES = {
    True: "seconds for a small model, a minute or more for one of characters",
    False: "with hundreds of heads many minutes or hours, while a bar says how far it is",
}


def show_overview(measured: Measured, table: HeadTable) -> None:
    """The picture with what stands beside it, what both say, and every number in a table."""
    st.markdown(f"#### {plain(words.headline(table, measured.split))}")
    others, name = table.without_first, f"{measured.named} heads"
    if choose_first_out(TOO_OLD if others is None else "") and others is not None:
        table, name = others, f"{name} without the first token"
    picture, beside = st.columns([1.6, 1], gap="medium")
    with beside:
        x = _choose_measure("Across", "contribution", "x")
        y = _choose_measure("Upwards", "log_probability_lost", "y")
        chosen = _show_head(measured, table)
    with picture:
        chart = _show_scatter(table, x, y, chosen)
    st.markdown(f"{words.agreement(table)}  \n{words.together(table)}{_rule(measured)}")
    _show_table(measured, table)
    with st.container(horizontal=True):
        download_svg("Scatter", chart, name)
        download_csv("Table", frame(table), f"{name} {measured.split}")
        download_json("Table", partial(_values, measured, table), name)


def _show_scatter(table: HeadTable, x: str, y: str, chosen: str) -> Figure:
    title = f"{words.NAMES[y][0].upper()}{words.NAMES[y][1:]} against {words.NAMES[x]}"
    chart = figures.head_scatter(
        words.points(table, x, y), x=words.NAMES[x], y=words.NAMES[y], chosen=chosen, title=""
    )
    # A new key for each choice forgets the click, so that the same head can be clicked again.
    key = f"{CHART_KEY}-{chosen}"
    pick = partial(_pick, key)
    show_chart(chart, key=key, on_select=pick, alt=f"{title}, head by head", main=True)
    shown = dict.fromkeys((x, y))
    st.caption("  \n".join(f"**{words.NAMES[name]}**: {words.MEANINGS[name]}" for name in shown))
    for measure in shown:
        missing = words.lacking(table, measure)
        if missing:
            st.caption(plain(missing))
    return chart.titled(title)


def _choose_measure(label: str, default: str, key: str) -> str:
    options = list(words.NAMES)
    return bound.selectbox(
        label,
        options,
        options.index(default),
        format_func=words.NAMES.__getitem__,
        key=f"{PREFIX}{key}",
        help="One number a head. The line under the picture says what it means.",
    )


def _show_head(measured: Measured, table: HeadTable) -> str:
    """One head in a sentence, and the way to its map."""
    names = [row.name for row in table.rows]
    name = bound.selectbox(
        "Head",
        names,
        names.index(table.by_importance[0].name),
        key=HEAD_KEY,
        follows=True,
        help="Or click a point of the picture.",
    )
    present.keys_step(HEAD_KEY, names, ("Left", "Right"), "Head")
    sentence = table.scores.sentence(*table.rows[names.index(name)].at)
    st.markdown(plain(sentence if measured.asked is None else of_subject(sentence)))
    st.page_link(
        "pages/attention/page.py",
        label=f"The map of {plain(name)}",
        icon=":material/grid_on:",
        query_params={**link_of(measured), "head": name},
    )
    return name


def _show_table(measured: Measured, table: HeadTable) -> None:
    order = bound.selectbox(
        "Sorted by (largest first)",
        list(words.SORTS),
        list(words.SORTS).index("log_probability_lost"),
        format_func=words.SORTS.__getitem__,
        key=f"{PREFIX}sort",
        width=360,
    )
    rows = table.sorted_by(order) if order else list(table.rows)
    if measured.asked is not None:
        rows = [replace(row, caption=of_subject(row.caption)) for row in rows]
    height = LINE * min(len(rows), MOST_ROWS) + HEAD_LINE
    with st.container(height=height, border=False):  # scrolls on a phone, and if there are many
        st.markdown(words.markdown_table(rows, link_of(measured)))


def link_of(measured: Measured) -> dict[str, str]:
    """The query under which the attention page shows the same weights."""
    moment = {"moment": str(measured.snapshot)} if measured.snapshot else {}
    asked = measured.asked
    named = {} if asked is None or asked.name == UPLOADED else {"set": asked.name}
    return {"checkpoint": measured.checkpoint, **moment, **named}


def _rule(measured: Measured) -> str:
    """What is right, and what is called a name, where a set is asked."""
    if measured.asked is None:
        return ""
    right = plain(measured.asked.right)
    return f"  \nAn answer is {right}. The name is the subject of each prompt."


def frame(table: HeadTable) -> pd.DataFrame:
    """Every number of the table, a row a head."""
    rows = [asdict(row) for row in table.rows]
    scores = {name: values.ravel() for name, values in table.scores.heads.items()}
    kept = pd.DataFrame(rows, index=[row.name for row in table.rows]).drop(columns="contribution")
    return kept.assign(**{name.replace(" ", "_"): values for name, values in scores.items()})


def _values(measured: Measured, table: HeadTable) -> dict[str, Any]:
    return {
        "checkpoint": measured.checkpoint,
        "snapshot": measured.snapshot,
        "split": measured.split,
        "mode": table.mode,
        "total": table.total,
        "accuracy": table.accuracy,
        **({} if measured.asked is None else {"right": measured.asked.right}),
        "heads": [asdict(row) for row in table.rows],
        "most": asdict(table.most),
        "least": asdict(table.least),
        "rank_agreement": table.agreement,
    }


def _pick(key: str) -> None:
    head = clicked(key, figures.HEAD_SELECTION, "layer", "head")
    if head is not None:
        st.session_state[HEAD_KEY] = head_name(*head)


def table_of(measured: Measured) -> HeadTable | None:
    """The table at hand, None if it is neither recorded nor wanted."""
    record = record_of(measured.checkpoint, measured.digest, measured.split, measured.asked)
    if record is not None:
        return record.tables[measured.mode]
    if _key(measured) not in st.session_state.get(WANTED, ()):
        return None
    from pages.heads.measuring import measured_table  # noqa: PLC0415 - loads torch

    return measured_table(measured)


def offer_to_measure(measured: Measured) -> None:
    """Why there is no table yet, and the button that measures one."""
    st.markdown(f"#### Every head of {plain(measured.named)}")
    if problem := problem_of(measured.checkpoint, measured.digest, measured.split):
        st.caption(f"The recorded table cannot be used: {plain(problem)}")
    split, asked = measured.split, measured.asked
    if measured.task is None and asked is None:
        st.info(CHOOSE_SET, icon=":material/quiz:")
        return
    is_own = listed(measured.checkpoint) is None
    if not is_own:
        from pages.heads.measuring import why_not_asked  # noqa: PLC0415 - loads torch

        if why := why_not_asked(measured):
            st.info(sentence(why), icon=":material/info:")
            return
    which = plain(SPLITS[split]) if asked is None else f"of the set {plain(asked.name)}, so judged"
    st.info(
        f"No table of these weights is recorded for the questions {which}. "
        f"Every head is switched off in turn while all of them are answered: {TAKES[is_own]}.",
        icon=":material/hourglass_empty:",
    )
    refused = who.refusal("measure")
    st.button(
        "Measure every head now",
        key=f"{PREFIX}measure",
        on_click=_want,
        args=(_key(measured),),
        icon=":material/play_arrow:",
        disabled=bool(refused),
    )
    who.say(refused)
    if measured.snapshot is None and (asked is None or asked.name != UPLOADED):
        st.markdown("Or once and for all, from the command line:")
        st.code(_command(measured), language="bash", wrap_lines=True)
        st.caption(LARGE)


def _command(measured: Measured) -> str:
    start = f"python -m core heads --checkpoint {shlex.quote(measured.checkpoint)}"
    if measured.asked is not None:
        exact = "" if measured.asked.rule == FIRST_TOKENS else f" --right {measured.asked.rule}"
        return f"{start} --questions {measured.asked.name}{exact} --record"
    shipped = measured.task is None or measured.task.is_shipped
    corpus = "" if shipped else ' --corpus "$A5_DATA"'
    return f"{start}{corpus} --split {measured.split} --record"


def _want(key: str) -> None:
    if who.refusal("measure"):
        return
    wanted = st.session_state.get(WANTED, ())
    st.session_state[WANTED] = (*wanted, key)[-MOST_WANTED:]


def _key(measured: Measured) -> str:
    asked = "" if measured.asked is None else f" {measured.asked.digest}"
    return f"{measured.digest} {measured.split} {measured.mode}{asked}"
