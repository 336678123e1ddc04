"""What the page says around its table: headline, task, problems, names of bars and of kinds."""

import shlex
from collections.abc import Sequence

from core.evaluation.report_card import Measured, Row, distinct
from core.evaluation.tables import Ablation, Published, SeedSpread, published_for
from pages.shared.text import percent, plain

PUBLIC, REPORTS = "public", "reports"
KINDS = {
    "right_country": "right country",
    "known_place": "another known place",
    "made_up": "a made-up place",
}
KINDS_MEAN = (
    "- **Right country**: another place in the country of the expected one. Of several places of "
    "one name the one with the most people counts.\n"
    "- **Another known place**: the answer to some training question, or a place GeoNames knows, "
    "in another country or in no known one (England is in none).\n"
    "- **A made-up place**: anything else, and an empty answer. GeoNames knows cities of 15,000 "
    "people or more, so a village may count here."
)
TASK = (
    "Answer “Where was X born?” from memory; only the exact text counts (Stanford CS224N, "
    "assignment 5). Pretraining reads one sentence a person; the {}dev questions are about people "
    "never asked about in training."
)
HELD_OUT = "held-out"

EMPTY = (
    "**No checkpoint of the course's task is here yet.** Name the folder with the course's files "
    "in `A5_DATA`, then train one and record its evaluation:"
)
EVALUATE = 'python -m core evaluate --checkpoint {} --corpus "$A5_DATA" --split dev --record'
EMPTY_COMMANDS = (
    'python -m core train --preset course-pieces --corpus "$A5_DATA" '
    f"--out checkpoints/course-pieces\n{EVALUATE.format('course-pieces')}"
)
NO_ABLATION = (
    "The ablation (the same ten minutes with one thing changed at a time) has not been run yet: "
    "there is no `assets/report_card/ablation.json`."
)


def headline(rows: Sequence[Row], figures: Sequence[Published]) -> str:
    """The best variant, beside what a lookup and the best public model reach."""
    best = max((figure.accuracy for figure in figures if figure.public), default=0.0)
    measured = [(row, row.measured) for row in rows if row.measured is not None]
    if not measured:
        return f"Who was born where: the best public figure on dev is {percent(best)}"
    row, first = measured[0]
    return (
        f"{row.label[0].upper()}{row.label[1:]}: {percent(first.accuracy)} of dev right; best "
        f"public figure {percent(best)}, lookup {percent(first.baselines['lookup_baseline'])}"
    )


def task(rows: Sequence[Row]) -> str:
    """What is asked, and of whom, in two sentences."""
    totals = [row.measured.total for row in rows if row.measured is not None]
    return TASK.format(f"{totals[0]:,} " if totals else "")


def other_questions(rows: Sequence[Row]) -> str:
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


def problems(rows: Sequence[Row]) -> tuple[list[str], str]:
    """Why recorded evaluations cannot be used, and the commands that record them again."""
    broken = [row for row in rows if row.problem]
    return (
        [f"The evaluation of {row.name} is not shown: {row.problem}." for row in broken],
        "\n".join(EVALUATE.format(shlex.quote(row.name)) for row in broken),
    )


def baseline_lines(measured: Measured) -> list[tuple[str, float]]:
    """What needs no model, with the number in the name."""
    names = {
        "constant_baseline": f"always {measured.constant_answer}",
        "nearest_name_baseline": "nearest name",
        "lookup_baseline": "lookup",
        "ceiling": "ceiling",
    }
    return [
        (f"{name} {percent(measured.baselines[key])}", measured.baselines[key])
        for key, name in names.items()
    ]


def bars(rows: Sequence[Row]) -> list[tuple[str, float, tuple[float, float]]]:
    """Label with its number, accuracy and interval of every measured row."""
    return [
        (f"{label}  {percent(row.measured.accuracy)}", row.measured.accuracy, row.measured.interval)
        for row, label in _labelled(rows)
        if row.measured is not None
    ]


def ablation_bars(found: Ablation) -> list[tuple[str, float, tuple[float, float]]]:
    """The runs as bars, the base first."""
    return [
        (f"{run.label}  {percent(run.accuracy)}", run.accuracy, run.interval) for run in found.runs
    ]


def run_lines(found: Ablation) -> list[str]:
    """A list in Markdown: what differs in each run, its steps and the size of its model."""
    return [
        f"- **{plain(run.label)}**: {plain(run.differs)} ({run.n_steps:,} steps, "
        f"{run.n_parameters:,} parameters)"
        for run in found.runs
    ]


def ablation_line(found: Ablation) -> str:
    """What all runs share, and which questions they answered."""
    shared = f"Seed {found.seed}, one run each; {plain(found.machine)}."
    if found.split != HELD_OUT:
        return shared
    return (
        f"**Held-out** questions: {found.runs[0].total} of the training questions, kept aside for "
        f"tuning and never trained on. {shared}"
    )


def points(rows: Sequence[Row], figures: Sequence[Published]) -> list[tuple[str, str, float, str]]:
    """Figures from elsewhere on the row of the same variant, each with its note."""
    shown = [row for row in rows if row.measured is not None]
    return [
        (label, PUBLIC if figure.public else REPORTS, figure.accuracy, _note(figure))
        for (label, *_), row in zip(bars(rows), shown, strict=True)
        for figure in published_for(row.variant, figures, pretrained=row.pretrained)
    ]


def spread_line(spread: SeedSpread) -> str:
    """Mean and range over seeds, in one sentence."""
    low, high = spread.range
    minutes = " to ".join(dict.fromkeys(f"{end(spread.seconds) / 60:.0f}" for end in (min, max)))
    return (
        f"**Seeds.** {plain(spread.preset)} trained anew with {len(spread.accuracies)} seeds: "
        f"{percent(spread.mean)} of {plain(spread.split)} on average, from {percent(low)} to "
        f"{percent(high)}. All had the {spread.n_steps:,} steps that {spread.minutes:.3g} minutes "
        f"gave the first, and took {minutes} minutes ({plain(spread.machine)})."
    )


def kinds(rows: Sequence[Row]) -> list[tuple[str, list[tuple[str, int]]]]:
    """Counts by kind of every measured row, the kinds in words."""
    return [
        (label, [(KINDS.get(kind, kind), n) for kind, n in row.measured.kinds.items()])
        for row, label in _labelled(rows)
        if row.measured is not None
    ]


def _note(figure: Published) -> str:
    report = f"report {figure.report}" if figure.report else ""
    return "; ".join(filter(None, (report, figure.note))) or "–"


def _labelled(rows: Sequence[Row]) -> list[tuple[Row, str]]:
    labels = distinct([row.label for row in rows], [row.name for row in rows])
    return list(zip(rows, labels, strict=True))
