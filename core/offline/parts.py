"""What a kept page consists of: plain values, in the order in which they are read."""

from dataclasses import dataclass
from typing import Literal

Tone = Literal["text", "caption", "info", "success", "warning", "error"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A title in Markdown; level 1 is the file's own, so that these begin at 2."""

    markdown: str
    level: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A text in Markdown, and how it is meant."""

    markdown: str
    tone: Tone = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """TeX on a line of its own."""

    tex: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """Text as it is typed into a terminal."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A drawing (`svg` as picture.py and plotted.py give it) and what is seen in words."""

    svg: str
    alt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Raster:
    """A picture of dots; `kind` is its media type, `drawn` one that was a drawing before.

    Nothing in it answers to hovering.
    """

    data: bytes
    kind: str
    alt: str
    caption: str = ""
    drawn: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """In the place of what had no room: what was seen there."""

    alt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Cells as text, or as Markdown where the page reads them so."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    alt: str = ""
    markdown: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A figure with its name, and by how much it changed."""

    label: str
    value: str
    change: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What was chosen in a control; the label is Markdown, the value is text."""

    label: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Parts under a title in Markdown: in a frame, seen when the title is opened, or a chapter."""

    title: str
    parts: "tuple[Part, ...]"
    kind: Literal["framed", "folded", "chapter"] = "framed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Parts side by side where there is room; `shares` of the width are whole numbers of 12."""

    columns: "tuple[tuple[Part, ...], ...]"
    shares: tuple[int, ...]


Part = (
    Heading
    | Text
    | Formula
    | Code
    | Picture
    | Raster
    | Missing
    | Table
    | Number
    | Choice
    | Group
    | Columns
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file's title, what is said of its origin (name and value), and its parts."""

    title: str
    origin: tuple[tuple[str, str], ...]
    parts: tuple[Part, ...]
