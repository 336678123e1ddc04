"""The tables of a picture of growth, and the places of the names at its right edge."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import pandas as pd

from core.figures import elements
from core.figures.palette import FAMILIES

LINE = 17  # pixels from one name to the next
NO_VALUES: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One method. `points` are (length, value, lower quartile, upper quartile, why to be careful);
    `predicted` and `other` (length, value). `grows` says its power of L.
    """

    method: str
    grows: str
    family: int
    shape: int
    points: Sequence[tuple[float, float, float, float, str]]
    predicted: Sequence[tuple[float, float]] = NO_VALUES
    other: Sequence[tuple[float, float]] = NO_VALUES


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """Where a method begins to win: the length, and the ends of its interval."""

    text: str
    family: int
    at: float
    low: float
    high: float


def measured(lines: Sequence[Line], factor: float) -> pd.DataFrame:
    """A row a point; `flagged` where it is to be read with care."""
    rows: list[dict[str, Any]] = [
        {
            "method": line.method,
            "grows": line.grows,
            "length": length,
            "value": factor * value,
            "low": factor * low,
            "high": factor * high,
            "flags": flags or "none",
            "flagged": bool(flags),
        }
        for line in lines
        for length, value, low, high, flags in line.points
    ]
    columns = "method grows length value low high flags flagged".split()
    return pd.DataFrame(rows, columns=columns)


def pairs(
    lines: Mapping[str, Sequence[tuple[float, float]]], factor: float, named: str = "method"
) -> pd.DataFrame:
    """(length, value) of each name, which stands in the column `named`."""
    rows = [
        (name, length, factor * value) for name, pairs in lines.items() for length, value in pairs
    ]
    return pd.DataFrame(rows, columns=[named, "length", "value"])


def ends(
    lines: Sequence[Line], factor: float, limits: tuple[float, float], height: int
) -> pd.DataFrame:
    """The last point of each method, and where its name stands: beside it, as far as names have
    room.
    """
    last = [(line.method, *line.points[-1][:2]) for line in lines if line.points]
    low, high = (math.log(end) for end in limits)
    wanted = [math.log(max(factor * value, limits[0])) for _, _, value in last]
    places = elements.spread(wanted, LINE * (high - low) / height, low, high)
    rows = [
        (method, length, factor * value, math.exp(place))
        for (method, length, value), place in zip(last, places, strict=True)
    ]
    return pd.DataFrame(rows, columns=["method", "length", "value", "at"])


def span(tables: Sequence[pd.DataFrame]) -> tuple[float, float]:
    """The ends of the upright axis: a little beyond all that is drawn."""
    columns = [
        cast("list[float]", frame[field].tolist())
        for frame in tables
        for field in ("value", "low", "high")
        if field in frame
    ]
    values = [value for column in columns for value in column if value > 0]
    return (min(values) / 1.3, 1.3 * max(values)) if values else (1.0, 10.0)


def crossings(found: Sequence[Crossing]) -> pd.DataFrame:
    """A row a crossing, with the colour of its family."""
    rows = [(one.at, one.low, one.high, one.text, FAMILIES[one.family]) for one in found]
    return pd.DataFrame(rows, columns=["length", "low", "high", "text", "colour"])


def lengths(lines: Sequence[Line]) -> list[float]:
    """Those that were measured or predicted."""
    measured = {point[0] for line in lines for point in line.points}
    return sorted(measured | {length for line in lines for length, _ in line.predicted})
