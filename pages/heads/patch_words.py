"""What is said of patching: the grid of its sites, the site that moves most, what it means."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.data.characters import legible
from core.data.vocabulary import MASK, Vocabulary
from core.figures.signed import Cell
from core.inspection.captions import head_name
from core.inspection.patching import Patched, Site
from pages.shared.text import plain

MEANS = (
    "0: the answer stays as likely as it was; 1: the two answers stand to each other as in the "
    "other run; below 0: moved away from it. One site is changed at a time, so what two carry "
    "together may show in neither."
)
SAME = "Both questions get the same answer here: there is nothing that a patch could move."


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """The sites as cells; rows are layers or heads, columns positions."""

    cells: list[Cell]
    rows: list[str]
    columns: list[str]


def labels(vocabulary: Vocabulary, question: str, other: str) -> list[str]:
    """The tokens of both, position by position, and ⁇."""
    first, second = (vocabulary.labels(vocabulary.encode(text)) for text in (question, other))
    names = [a if a == b else f"{a} | {b}" for a, b in zip(first, second, strict=True)]
    return [*names, MASK]


def grid_of(found: Patched, columns: list[str]) -> Grid:
    """Sites whose effect is a number, at their row and position."""
    rows = list(dict.fromkeys(_row_name(site) for site in found.sites))
    cells = [
        Cell(rows.index(_row_name(site)), site.position, float(moved))
        for site, moved in zip(found.sites, found.moved, strict=True)
        if not np.isnan(moved)
    ]
    return Grid(cells=cells, rows=rows, columns=columns)


def headline(found: Patched, grid: Grid) -> str:
    """The site that moves the answer furthest."""
    own, others = (legible(answer) or "(nothing)" for answer in found.answers)
    if not grid.cells:
        return f"Both questions get the answer {own}"
    best = max(grid.cells, key=lambda cell: cell.value)
    place = f"{grid.rows[best.row]} at “{grid.columns[best.column]}”"
    return f"{place} alone moves the answer {best.value:.2g} of the way from {own} to {others}"


def setting(found: Patched, question: str, other: str) -> str:
    """Both questions with the log-probabilities that are moved between."""
    here, there = found.question[1] - found.question[0], found.other[1] - found.other[0]
    return (
        f"{plain(question)} → **{plain(found.answers[0])}** · {plain(other)} → "
        f"**{plain(found.answers[1])}**. The log-probability of the second answer, less that of "
        f"the first, is {here:.3g} in the one run and {there:.3g} in the other."
    ).replace(" -", " −")


def frame(found: Patched, grid: Grid) -> pd.DataFrame:
    """A row a site: log-probabilities of both answers, and how far they moved."""
    return pd.DataFrame(
        {
            "site": [_row_name(site) for site in found.sites],
            "position": [site.position for site in found.sites],
            "token": [grid.columns[site.position] for site in found.sites],
            "log p(own answer)": found.patched[:, 0],
            "log p(other answer)": found.patched[:, 1],
            "moved": found.moved,
        }
    )


def _row_name(site: Site) -> str:
    if site.head is None:
        return f"after L{site.layer}"
    return head_name(site.layer, site.head)
