"""A file within its size: what has no room gives way, largest first, and the file says so.

Drawings become pictures of dots, which do not answer to hovering; then tables end early; what is
still too large is left out, in its place what was seen there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from core.offline.document import html_of
from core.offline.parts import Columns, Document, Group, Missing, Part, Picture, Raster, Table

MOST_BYTES = 2_000_000
MOST_ROWS = 100  # of a table that ends early
SCALE = 1.5  # dots a pixel


def file_of(document: Document, *, most: int = MOST_BYTES) -> bytes:
    """The file in UTF-8. Raises ValueError where even the texts alone have no room."""
    parts, n_short = document.parts, 0
    while True:
        said = _said(parts, n_short, most)
        data = html_of(replace(document, parts=parts), said=said).encode()
        if len(data) <= most:
            return data
        large = _largest(parts)
        if large is None:
            raise ValueError(f"the texts alone take {len(data)} bytes, a file has at most {most}")
        n_short += isinstance(large, Table)
        parts = _exchanged(parts, large, _smaller(large))


def _largest(parts: Sequence[Part]) -> Picture | Table | Raster | None:
    """What gives way next."""
    inside = list(walk(parts))
    drawn = [part for part in inside if isinstance(part, Picture)]
    if drawn:
        return max(drawn, key=lambda part: len(part.svg))
    tables = [part for part in inside if isinstance(part, Table) and len(part.rows) > MOST_ROWS]
    if tables:
        return max(tables, key=lambda table: len(table.rows) * len(table.columns))
    dots = [part for part in inside if isinstance(part, Raster)]
    return max(dots, key=lambda part: len(part.data)) if dots else None


def _smaller(part: Picture | Table | Raster) -> Part:
    if isinstance(part, Picture):
        # Its renderer is 90 MB: only who needs it loads it.
        import vl_convert  # noqa: PLC0415 # pyright: ignore[reportMissingTypeStubs]

        dots = vl_convert.svg_to_png(part.svg, scale=SCALE)
        return Raster(data=dots, kind="image/png", alt=part.alt, drawn=True)
    if isinstance(part, Table):
        return replace(part, rows=part.rows[:MOST_ROWS])
    return Missing(alt=part.alt)


def walk(parts: Sequence[Part]) -> Iterator[Part]:
    """All parts, those inside of others, too."""
    for part in parts:
        yield part
        if isinstance(part, Group):
            yield from walk(part.parts)
        elif isinstance(part, Columns):
            for column in part.columns:
                yield from walk(column)


def _exchanged(parts: tuple[Part, ...], old: Part, new: Part) -> tuple[Part, ...]:
    """The same parts with `new` where `old` was."""

    def exchanged(part: Part) -> Part:
        if part is old:
            return new
        if isinstance(part, Group):
            return replace(part, parts=_exchanged(part.parts, old, new))
        if isinstance(part, Columns):
            inside = tuple(_exchanged(column, old, new) for column in part.columns)
            return replace(part, columns=inside)
        return part

    return tuple(exchanged(part) for part in parts)


def _said(parts: Sequence[Part], n_short: int, most: int) -> str:
    """The one sentence about what gave way; empty if nothing did."""
    inside = list(walk(parts))
    n_dots = sum(isinstance(part, Raster) and part.drawn for part in inside)
    n_out = sum(isinstance(part, Missing) for part in inside)
    told = [
        f"{_counted(n, thing)} {what}"
        for n, thing, what in (
            (n_dots, "drawing", "became dots, which do not answer to the pointer"),
            (n_short, "table", f"cut after {MOST_ROWS} rows"),
            (n_out, "picture", "left out"),
        )
        if n
    ]
    return f"Not everything has room in {most / 1e6:g} MB: {'; '.join(told)}." if told else ""


def _counted(n: int, thing: str) -> str:
    return f"{n} {thing}{'' if n == 1 else 's'}"
