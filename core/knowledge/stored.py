"""The lists of our own people in a file: assets/knowledge/groups.tsv. Free of torch.

A header, then a name a line: its group, itself, and the person whose place would be the true answer
(empty where there is none). assets/make_groups.py writes it by the rules of core.knowledge.groups.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from core.data.characters import read_lines
from core.knowledge.groups import Named
from core.knowledge.record import GroupName

HEADER = ("group", "name", "person")
STORED: tuple[GroupName, ...] = (
    "asked",
    "invented",
    "one_letter",
    "surname",
    "crossed",
    "no_name",
)


def groups_text(groups: Mapping[GroupName, Sequence[Named]]) -> str:
    """The file's text."""
    rows = [(group, named.name, named.person) for group in STORED for named in groups[group]]
    return "".join("\t".join(row) + "\n" for row in (HEADER, *rows))


def read_groups(path: Path) -> dict[GroupName, list[tuple[str, str]]]:
    """(name, person) of each group in the order of the file.

    Raises ValueError naming file, line and what is allowed.
    """
    lines = [tuple(line.split("\t")) for line in read_lines(path)]
    if not lines or lines[0] != HEADER:
        raise ValueError(f"{path}, line 1: the header must be {' '.join(HEADER)}")
    groups: dict[GroupName, list[tuple[str, str]]] = {group: [] for group in STORED}
    seen: dict[str, int] = {}
    for number, row in enumerate(lines[1:], 2):
        where = f"{path}, line {number}"
        if len(row) != len(HEADER) or not row[1].strip():
            raise ValueError(f"{where}: a group, a name and a person are needed, tabs between them")
        group, name, person = row
        if group not in STORED:
            raise ValueError(f"{where}: {group!r:.80} is none of {', '.join(STORED)}")
        first = seen.setdefault(name.casefold(), number)
        if first != number:
            raise ValueError(f"{where}: {name} stands already on line {first}")
        groups[group].append((name, person))
    return groups
