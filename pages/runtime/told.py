"""What each of the two questions has to say about a setting that was measured."""

from dataclasses import dataclass

from core.figures.template import Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A chart with the name of its file and what it says to those who do not see it."""

    name: str
    chart: Figure
    alt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A headline, two pictures, how to read them, and rows of numbers under their own heading."""

    title: str
    pictures: tuple[Picture, Picture]
    how: str
    heading: str
    rows: list[dict[str, str]]
    more: str
