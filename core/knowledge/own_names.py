"""Names of one's own from a file: UTF-8, tab separated, read strictly. Free of torch.

A header `name` or `name<TAB>place`, then a name a line. With a place the answers are compared to
it; white space around a cell does not matter.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from core.data.characters import compose, split_lines
from core.data.question_set import refuse_odd_cell
from core.knowledge.record import GroupName
from core.reading import read_bytes

MOST_BYTES = 2**20
MOST_NAMES = 2_000
MOST_CHARACTERS = 200  # of a name or a place
HEADERS = (("name",), ("name", "place"))


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnName:
    """A name, the place that is true if one is told, and where it stands in its file."""

    name: str
    place: str | None
    where: str = ""


def read_names(path: Path) -> tuple[OwnName, ...]:
    """Names from a file. Raises ValueError naming file, line, and what is allowed, and for a file
    that is called as one of our groups: its figures would stand in that group's place.
    """
    if path.stem in get_args(GroupName):
        raise ValueError(f"{path}: a group is called {path.stem!r} already; rename the file")
    return parse_names(read_bytes(path, MOST_BYTES), where=str(path))


def parse_names(
    raw: bytes, *, where: str, header: tuple[str, ...] | None = None
) -> tuple[OwnName, ...]:
    """Names from the bytes of a file, which an error calls `where`; of a text without a header, the
    one that it would have is told.

    Raises ValueError naming line and what is allowed.
    """
    if len(raw) > MOST_BYTES:
        raise ValueError(f"{where}: {len(raw):,} bytes; at most {MOST_BYTES:,} are read")
    lines = [compose(line) for line in split_lines(raw, name=where)]
    n_above = int(header is None)
    if header is None:
        header = tuple(cell.strip() for cell in lines[0].split("\t")) if lines else ()
    if header not in HEADERS:
        raise ValueError(
            f"{where}, line 1: the header must be name, or name and place with a tab between them"
        )
    if not 1 <= (n_names := len(lines) - n_above) <= MOST_NAMES:
        raise ValueError(f"{where}: {n_names:,} names; 1 to {MOST_NAMES:,} are allowed")
    seen: dict[str, int] = {}
    found: list[OwnName] = []
    for number, line in enumerate(lines[n_above:], n_above + 1):
        row = _row(line, header, f"{where}, line {number}")
        first = seen.setdefault(row.name, number)
        if first != number:
            raise ValueError(f"{row.where}: {row.name} stands already on line {first}")
        found.append(row)
    return tuple(found)


def _row(line: str, header: tuple[str, ...], where: str) -> OwnName:
    cells = [cell.strip() for cell in line.split("\t")]
    if len(cells) != len(header):
        raise ValueError(
            f"{where}: {len(cells)} columns, the header has {len(header)}, with a tab between them"
        )
    for column, cell in zip(header, cells, strict=True):
        refuse_odd_cell(cell, column, MOST_CHARACTERS, where)
    return OwnName(name=cells[0], place=cells[1] if len(cells) > 1 else None, where=where)
