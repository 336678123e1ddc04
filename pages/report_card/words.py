"""What the page says around its table: headline, problems, names of bars and of kinds."""

import shlex
from collections.abc import Sequence

from core.evaluation.report_card import Measured, Row, distinct
from core.evaluation.tables import Ablation, Published, SeedSpread, published_for
from pages.shared.text import percent, plain

PUBLIC, REPORTS = "public", "reports"
KINDS = {
    "right_country": "right country",
    "known_place": "a place from training",
    "made_up": "a made-up place",
}
KINDS_MEAN = (
    "**Right country**: the answer lies in the country of the expected place, by the name alone "
    "(of several places of a name, the one with the most people; England and other parts of a "
    "country are in no list of cities and count below). **A place from training**: otherwise, the "
    "answer to some training question, or another place that GeoNames knows. **Made up**: "
    "anything else, and an empty answer."
)

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


def points(rows: Sequence[Row], figures: Sequence[Published]) -> list[tuple[str, str, float]]:
    """Figures from elsewhere on the row of the same variant."""
    shown = [row for row in rows if row.measured is not None]
    return [
        (label, PUBLIC if figure.public else REPORTS, figure.accuracy)
        for (label, *_), row in zip(bars(rows), shown, strict=True)
        for figure in published_for(row.variant, figures, pretrained=row.pretrained)
    ]


def spread_line(spread: SeedSpread) -> str:
    """Mean and range over seeds, in one sentence."""
    low, high = spread.range
    return (
        f"**Seeds.** {plain(spread.preset)} trained anew for {spread.minutes:.3g} minutes with "
        f"{len(spread.accuracies)} seeds: {percent(spread.mean)} of {plain(spread.split)} on "
        f"average, from {percent(low)} to {percent(high)} ({plain(spread.machine)})."
    )


def kinds(rows: Sequence[Row]) -> list[tuple[str, list[tuple[str, int]]]]:
    """Counts by kind of every measured row, the kinds in words."""
    return [
        (label, [(KINDS.get(kind, kind), n) for kind, n in row.measured.kinds.items()])
        for row, label in _labelled(rows)
        if row.measured is not None
    ]


def _labelled(rows: Sequence[Row]) -> list[tuple[Row, str]]:
    labels = distinct([row.label for row in rows], [row.name for row in rows])
    return list(zip(rows, labels, strict=True))
