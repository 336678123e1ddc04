"""The report card itself: what it says above, a Markdown table, and the notes of its marks."""

import shlex
from collections.abc import Sequence
from urllib.parse import quote

import streamlit as st

from core.catalogue import model_label
from core.evaluation.reader_figures import ReaderFigures
from core.evaluation.report_card import SELF_TAUGHT, Row, distinct, load_rows
from core.evaluation.tables import Published, PublishedTable, load_published, published_for
from core.paths import ASSETS, CHECKPOINTS
from pages.shared.records import digest
from pages.shared.text import percent, plain

TABLES = ASSETS / "report_card"
LINE, HEAD = 39, 90  # pixels of the table
TASK = (
    "Answer “Where was X born?” from memory; only the exact text counts (Stanford CS224N, "
    "assignment 5). Pretraining reads one sentence a person; the {}dev questions are about people "
    "never asked about in training{}."
)
BUT_TAUGHT = ", unless by a self-taught model itself"
EMPTY = (
    "**No checkpoint of the course's task is here yet.** Name the folder with the course's files "
    "in `A5_DATA`, then train one and record its evaluation:"
)
EVALUATE = 'python -m core evaluate --checkpoint {} --corpus "$A5_DATA" --split dev --record'
EMPTY_COMMANDS = (
    'python -m core train --preset course-pieces --corpus "$A5_DATA" '
    f"--out checkpoints/course-pieces\n{EVALUATE.format('course-pieces')}"
)
NO_WEIGHTS = "weights not shipped; the command trains them again"
# The course's own recipe (preset course-recipe), by its variant and pretraining.
_RECIPE, NOT_RUN = ("vanilla", True), "not run: needs a GPU"
RECIPE = (
    "the course's own recipe, 650 epochs of span corruption and 10 of questions: train --preset "
    "course-recipe --device cuda"
)
_HEAD = """\
| variant | dev accuracy (95 %) | parameters | pretrained | trained in | public | reports |
|:--|:--|--:|:--|--:|--:|--:|"""
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_CONSTANT = "constant"


def read_rows() -> list[Row]:
    """Every checkpoint of the course's task, read at every run: the files are small."""
    return load_rows(CHECKPOINTS, digest=digest)


def read_published() -> PublishedTable:
    """Figures from elsewhere, and what they are."""
    return load_published(TABLES / "published.json")


def show_heading(
    rows: Sequence[Row], figures: Sequence[Published], reader: ReaderFigures | None
) -> None:
    """The best figure and the task; what cannot be shown or compared; how to begin."""
    st.markdown(f"##### {plain(_headline(rows, figures, reader))}\n{_task(rows)}")
    problems, commands = _problems(rows)
    for problem in problems:
        st.warning(plain(problem), icon=":material/warning:")
    if commands:
        st.code(commands, language="bash", wrap_lines=True)
    if mixed := _other_questions(rows):
        st.warning(plain(mixed), icon=":material/warning:")
    if not rows:
        st.info(EMPTY, icon=":material/school:")
        st.code(EMPTY_COMMANDS, language="bash")


def show_table(rows: Sequence[Row], figures: Sequence[Published]) -> list[str]:
    """The table, which scrolls on a phone; its notes, to be shown further down."""
    card, notes = _table(rows, figures)
    with st.container(height=LINE * card.count("\n") + HEAD, border=False):
        st.markdown(card)
    return notes


def note_lines(notes: Sequence[str]) -> str:
    """The notes under the table."""
    return " ".join(f"{_mark(n)}\u00a0{plain(note)}." for n, note in enumerate(notes, 1))


def duration(seconds: float | None) -> str:
    """45 s, 28 min."""
    if seconds is None:
        return "not told"
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def _headline(
    rows: Sequence[Row], figures: Sequence[Published], reader: ReaderFigures | None
) -> str:
    """The best variant, beside what a lookup, the reader and the best public model reach."""
    best = max((figure.accuracy for figure in figures if figure.public), default=0.0)
    measured = [(row, row.measured) for row in rows if row.measured is not None]
    if not measured:
        return f"Who was born where: the best public figure on dev is {percent(best)}"
    row, first = measured[0]
    read = f", reader {percent(reader.dev.accuracy)}" if reader else ""
    return (
        f"{row.label[0].upper()}{row.label[1:]}: {percent(first.accuracy)} of dev right; best "
        f"public figure {percent(best)}, lookup {percent(first.baselines['lookup_baseline'])}{read}"
    )


def _task(rows: Sequence[Row]) -> str:
    """What is asked, and of whom, in two sentences."""
    totals = [row.measured.total for row in rows if row.measured is not None]
    taught = any(row.self_taught for row in rows)
    return TASK.format(f"{totals[0]:,} " if totals else "", BUT_TAUGHT if taught else "")


def _other_questions(rows: Sequence[Row]) -> str:
    """Names the rows whose questions are not those of the best row; empty where none is."""
    measured = [(row.name, row.measured.data) for row in rows if row.measured is not None]
    others = [name for name, data in measured if data != measured[0][1]]
    if not others:
        return ""
    return (
        f"Not the same questions: {', '.join(others)} answered other dev questions than "
        f"{measured[0][0]}, whose constant answer, nearest name, lookup and ceiling are shown. "
        "Their shares cannot be compared."
    )


def _problems(rows: Sequence[Row]) -> tuple[list[str], str]:
    """Why recorded evaluations cannot be used, and the commands that record them again."""
    broken = [row for row in rows if row.problem]
    return (
        [f"The evaluation of {row.name} is not shown: {row.problem}." for row in broken],
        "\n".join(command for row in broken for command in _mending(row)),
    )


def _mending(row: Row) -> list[str]:
    """What records an evaluation again; without weights they are trained first."""
    again = [row.command] if row.command and not row.has_weights else []
    return [*again, EVALUATE.format(shlex.quote(row.name))]


def _table(rows: Sequence[Row], figures: Sequence[Published]) -> tuple[str, list[str]]:
    """The report card in Markdown, and its notes in the order of their marks."""
    notes: list[str] = []
    models = distinct([row.kind for row in rows], [row.name for row in rows])
    lines = [_line(row, model, figures, notes) for row, model in zip(rows, models, strict=True)]
    lines += _others(rows, figures, notes)
    return "\n".join([_HEAD, *(f"| {' | '.join(cells)} |" for cells in lines)]), notes


def _line(row: Row, model: str, figures: Sequence[Published], notes: list[str]) -> list[str]:
    same = published_for(row.variant, figures, pretrained=row.pretrained)
    machine = _noted(row.machine, notes) if row.machine else ""
    return [
        _model(row, model, notes),
        _accuracy(row),
        f"{row.n_parameters:,}",
        _pretraining(row, notes),
        _whole(duration(row.seconds)) + machine,
        *_elsewhere(same, notes),
    ]


def _model(row: Row, model: str, notes: list[str]) -> str:
    """The way to its heads; a mark where there are no weights to look at. A line ends before
    "self-taught" rather than inside it.
    """
    mark = plain(SELF_TAUGHT)
    unbroken = mark.replace("-", "-\u2060")
    name = _whole(plain(model)).replace(f"\u00a0{mark}", f" {unbroken}")
    if not row.has_weights:
        return f"{name}{_noted(NO_WEIGHTS, notes)}"
    return f"[{name}](attention?checkpoint={quote(row.name, safe='')})"


def _others(rows: Sequence[Row], figures: Sequence[Published], notes: list[str]) -> list[list[str]]:
    """Variants that only others have trained, and the constant answer."""
    covered = {
        figure
        for row in rows
        for figure in published_for(row.variant, figures, pretrained=row.pretrained)
    }
    left = [figure for figure in figures if figure not in covered]
    lines: list[list[str]] = []
    for variant, pretraining in dict.fromkeys((f.variant, f.pretraining) for f in left):
        same = [f for f in left if (f.variant, f.pretraining) == (variant, pretraining)]
        name, ours = model_label(variant), "not trained here"
        if variant == _CONSTANT:
            name, ours = _constant(rows)
        marked = ""
        if (variant, pretraining) == _RECIPE:
            ours, marked = NOT_RUN, _noted(RECIPE, notes)
        trained = {True: "yes", False: "no", None: "–"}[pretraining]
        cells = [plain(name), f"{plain(ours)}{marked}", "–", trained, "–", *_elsewhere(same, notes)]
        lines.append(cells)
    return lines


def _constant(rows: Sequence[Row]) -> tuple[str, str]:
    for row in rows:
        if row.measured is not None:
            share = row.measured.baselines["constant_baseline"]
            return f"always {row.measured.constant_answer}", percent(share)
    return "one constant answer", "–"


def _accuracy(row: Row) -> str:
    """The share and its interval, or why there is none."""
    if row.measured is None:
        return "not usable" if row.problem else "not recorded yet"
    low, high = row.measured.interval
    return _whole(f"**{percent(row.measured.accuracy)}** ({_bare(low)}–\u2060{_bare(high)})")


def _bare(share: float) -> str:
    return percent(share).removesuffix(" %")


def _pretraining(row: Row, notes: list[str]) -> str:
    if row.objectives is None:
        return "not told"
    return f"yes{_noted(', '.join(row.objectives), notes)}" if row.objectives else "no"


def _elsewhere(figures: Sequence[Published], notes: list[str]) -> tuple[str, str]:
    """The cells of the public figures and of the reports."""
    public, reports = ([f for f in figures if f.public is public] for public in (True, False))
    return _shares(public, notes), _shares(reports, notes)


def _shares(figures: Sequence[Published], notes: list[str]) -> str:
    """Shares of one unit, 13.8 / 22.2 / 11.8 %, with the marks of their notes."""
    if not figures:
        return "–"
    shares = " / ".join(_bare(figure.accuracy) for figure in figures)
    marks = dict.fromkeys(_noted(figure.note, notes) for figure in figures if figure.note)
    return f"{shares}\u00a0%{''.join(marks)}"


def _whole(text: str) -> str:
    """A text that stays on one line."""
    return text.replace(" ", "\u00a0")


def _noted(note: str, notes: list[str]) -> str:
    if note not in notes:
        notes.append(note)
    return f"\u202f{_mark(notes.index(note) + 1)}"


def _mark(number: int) -> str:
    return str(number).translate(_SUPERSCRIPTS)
