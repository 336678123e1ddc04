"""The report card itself: a Markdown table, and the notes that its marks point to."""

from collections.abc import Sequence
from urllib.parse import quote

from core.catalogue import model_label
from core.evaluation.report_card import Row, distinct
from core.evaluation.tables import Published, published_for
from pages.shared.text import percent, plain

_HEAD = """\
| variant | dev accuracy (95 %) | parameters | pretrained | trained in | public | reports |
|:--|:--|--:|:--|--:|--:|--:|"""
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_CONSTANT = "constant"


def table(rows: Sequence[Row], figures: Sequence[Published]) -> tuple[str, list[str]]:
    """The report card in Markdown, and its notes in the order of their marks."""
    notes: list[str] = []
    models = distinct([row.kind for row in rows], [row.name for row in rows])
    lines = [_line(row, model, figures, notes) for row, model in zip(rows, models, strict=True)]
    lines += _others(rows, figures, notes)
    return "\n".join([_HEAD, *(f"| {' | '.join(cells)} |" for cells in lines)]), notes


def note_lines(notes: Sequence[str]) -> str:
    """The notes under the table."""
    return " ".join(f"{_mark(n)}\u00a0{plain(note)}." for n, note in enumerate(notes, 1))


def duration(seconds: float | None) -> str:
    """45 s, 28 min."""
    if seconds is None:
        return "not told"
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def _line(row: Row, model: str, figures: Sequence[Published], notes: list[str]) -> list[str]:
    same = published_for(row.variant, figures, pretrained=row.pretrained)
    machine = _noted(row.machine, notes) if row.machine else ""
    return [
        f"[{_whole(plain(model))}](attention?checkpoint={quote(row.name, safe='')})",
        _accuracy(row),
        f"{row.n_parameters:,}",
        _pretraining(row, notes),
        _whole(duration(row.seconds)) + machine,
        *_elsewhere(same, notes),
    ]


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
        trained = {True: "yes", False: "no", None: "–"}[pretraining]
        cells = [plain(name), plain(ours), "–", trained, "–", *_elsewhere(same, notes)]
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
