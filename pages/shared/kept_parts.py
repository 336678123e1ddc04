"""A page as it was drawn, as parts of a file: what is seen and chosen, nothing to press."""

import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from streamlit.proto.Block_pb2 import Block
from streamlit.proto.Element_pb2 import Element
from streamlit.runtime import get_instance

from core.offline.fitting import walk
from core.offline.parts import (
    Choice,
    Code,
    Columns,
    Formula,
    Group,
    Heading,
    Number,
    Part,
    Picture,
    Raster,
    Text,
    Tone,
)
from core.offline.picture import vega_picture
from core.offline.plotted import plotly_picture
from pages.shared.chosen import ValueOf, choice
from pages.shared.drawn import Node
from pages.shared.hidden import TEXT
from pages.shared.kept_tables import data_table, said_table
from pages.shared.letters import letters_in
from pages.shared.text import plain

WIDTH, GAP, TWELFTHS = 920, 24, 12  # pixels of the file's column, between two; parts of a width
LEAST_WIDTH = 190  # of a picture: narrower columns stand below one another
_MEDIA = re.compile(r"/media/([0-9a-f]+)(\.\w+)?$")
_TITLED = re.compile(r"^#", re.MULTILINE)
_TONES: dict[int, Tone] = {1: "error", 2: "warning", 3: "info", 4: "success"}
NATIVE, CAPTION, LATEX = 1, 2, 4  # kinds of Streamlit's Markdown
_LEVELS = {"h1": 2, "h2": 2, "h3": 3}


@dataclass(frozen=True, slots=True)
class Reader:
    """What the controls are at, which are left out, and how many pixels there are across."""

    value_of: ValueOf
    only: frozenset[str] | None = None
    hidden: frozenset[str] = frozenset()
    width: int = WIDTH

    def narrower(self, share: int) -> "Reader":
        across = self.width * share // TWELFTHS - GAP
        return replace(self, width=across if across >= LEAST_WIDTH else self.width)


def parts_of(node: Node, reader: Reader) -> tuple[Part, ...]:
    """What is in a container."""
    return tuple(part for one in node for part in _parts(one, reader))


def _parts(node: Node, reader: Reader) -> Iterable[Part]:
    if node.element is not None:
        part = _element(node.element, reader)
        return () if part is None else (part,)
    kind = None if node.block is None else node.block.WhichOneof("type")
    if kind in ("expandable", "popover", "tab"):
        inside = parts_of(node, reader)
        if kind == "popover" and reader.only is not None and not _chooses(inside):
            return ()
        return (Group(title=_title(node.block), parts=inside),) if inside else ()
    sides = [one for one in node if _share(one) is not None]
    if len(sides) > 1:
        return _beside(sides, _whole(node, sides), reader)
    return parts_of(node, reader)


def _chooses(parts: Sequence[Part]) -> bool:
    return any(isinstance(part, Choice) for part in walk(parts))


def _title(block: Block | None) -> str:
    if block is None:
        return ""
    inside: Any = getattr(block, str(block.WhichOneof("type")))
    return str(inside.label)


def _share(node: Node) -> float | None:
    """How wide a column or a cell of a grid is; None for anything else."""
    if node.block is None:
        return None
    if node.block.WhichOneof("type") == "column":
        return node.block.column.weight
    if node.block.HasField("grid_cell"):
        return float(node.block.grid_cell.column_span or 1)
    return None


def _whole(node: Node, sides: list[Node]) -> float:
    """How wide all is in the same measure."""
    grid = node.block is not None and node.block.WhichOneof("type") == "grid_container"
    columns = node.block.grid_container.columns if grid and node.block is not None else 0
    return float(columns or sum(_share(one) or 0 for one in sides))


def _beside(sides: list[Node], whole: float, reader: Reader) -> Iterable[Part]:
    """Columns that have anything in them, each with its part of the width."""
    shares = [max(1, min(TWELFTHS, round(TWELFTHS * (_share(one) or 1) / whole))) for one in sides]
    drawn = [
        (parts_of(one, reader.narrower(share)), share)
        for one, share in zip(sides, shares, strict=True)
    ]
    kept = [(parts, share) for parts, share in drawn if parts]
    every = tuple(part for parts, _ in kept for part in parts)
    if len(kept) < 2 or all(isinstance(part, Choice) for part in every):
        return every
    return (Columns(columns=tuple(parts for parts, _ in kept), shares=tuple(s for _, s in kept)),)


def _element(element: Element, reader: Reader) -> Part | None:
    """One part; None for what cannot be kept, such as buttons and links to other pages."""
    kind = str(element.WhichOneof("type"))
    read = _ELEMENTS.get(kind)
    if read is not None:
        return read(getattr(element, kind), reader)
    return choice(element, reader.value_of, reader.hidden, reader.only)


def _markdown(found: Any, reader: Reader) -> Part | None:
    if found.element_type == LATEX:
        return Formula(tex=found.body.strip().removeprefix("$$").removesuffix("$$"))
    if not found.body.strip() or found.element_type not in (NATIVE, CAPTION):
        return None
    if TEXT in reader.hidden and not _TITLED.search(found.body):  # titles stay, as on the page
        return None
    return Text(markdown=found.body, tone="caption" if found.element_type == CAPTION else "text")


def _heading(found: Any, _: Reader) -> Part:
    return Heading(markdown=found.body, level=_LEVELS.get(found.tag, 3))


def _alert(found: Any, _: Reader) -> Part | None:
    text = "\n\n".join(one for one in (found.title, found.body) if one)
    return Text(markdown=text, tone=_TONES.get(found.format, "info")) if text else None


def _code(found: Any, _: Reader) -> Part:
    return Code(text=found.code_text)


def _html(found: Any, _: Reader) -> Part | None:
    """Lines of letters; anything else is how the page looks."""
    lines = letters_in(found.body)
    return None if lines is None else Code(text=lines)


def _metric(found: Any, _: Reader) -> Part:
    return Number(label=found.label, value=found.body, change=found.delta)


def _progress(found: Any, _: Reader) -> Part:
    return Text(markdown=f"{found.text} ({found.value} %)", tone="caption")


def _sound(found: Any, _: Reader) -> Part:
    """By its name: the file stays small."""
    return Text(markdown=f"{plain(found.alt or 'Sound')} (to be heard on the page)", tone="caption")


def _pictures(found: Any, _: Reader) -> Part | None:
    kept = [_raster(one) for one in found.imgs]
    pictures = [one for one in kept if one is not None]
    if len(pictures) < 2:
        return pictures[0] if pictures else None
    return Group(title="", parts=tuple(pictures))


def _raster(image: Any) -> Raster | None:
    """The bytes that the server holds for its own address; of another's nothing is fetched."""
    at = _MEDIA.search(image.url)
    file = None if at is None else get_instance().media_file_mgr.read_file(at[1])
    if file is None:
        return None
    alt = image.alt or image.caption or "A picture of the page"
    return Raster(data=file.content, kind=file.mimetype, alt=alt, caption=image.caption)


def _vega(found: Any, reader: Reader) -> Part:
    spec = json.loads(found.spec)
    spec["datasets"] = {one.name: _rows(one.data.data) for one in found.datasets}
    alt = found.alt or "A chart"
    return Picture(svg=vega_picture(spec, alt=alt, width=reader.width), alt=alt)


def _rows(data: bytes) -> list[dict[str, Any]]:
    """Rows of a table; numbers that are none become null, as they do on the way to a browser."""
    table = pa.ipc.open_stream(data).read_all()
    return [
        {name: None if _is_nan(value) else value for name, value in row.items()}
        for row in table.to_pylist()
    ]


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def _plotly(found: Any, reader: Reader) -> Part:
    alt = found.alt or "A chart"
    return Picture(svg=plotly_picture(json.loads(found.spec), alt=alt, width=reader.width), alt=alt)


_ELEMENTS: dict[str, Callable[[Any, Reader], Part | None]] = {
    "markdown": _markdown,
    "heading": _heading,
    "alert": _alert,
    "code": _code,
    "html": _html,
    "metric": _metric,
    "progress": _progress,
    "audio": _sound,
    "imgs": _pictures,
    "vega_lite_chart": _vega,
    "plotly_chart": _plotly,
    "dataframe": data_table,
    "table": said_table,
}
