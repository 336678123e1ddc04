"""Checks the table of people: its own bars, and its birthplaces against a reference table."""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.data.characters import read_lines
from core.data.people import Person

JUDGED_COLUMNS = ("name", "ours", "reference", "verdict", "reason")
VERDICTS = ("ours", "same", "disputed", "namesake")
UNKNOWN_PLACE = "Other"
NAMESAKE_YEARS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceRow:
    """A row of the reference; `born` is None where it is not a whole number."""

    name: str
    birthplace: str
    born: int | None


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was decided about one disagreement, and why."""

    name: str
    ours: str
    reference: str
    verdict: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """How a table agrees with the reference. Namesakes (other birth year) are not shared."""

    shared: int
    agreed: int
    judged: list[Judgement]
    unjudged: list[tuple[str, str, str]]

    @property
    def right(self) -> int:
        """Shared names whose birthplace agrees or was judged to be right here."""
        return self.agreed + sum(entry.verdict in ("ours", "same") for entry in self.judged)


def fold(text: str) -> str:
    """Without accents, case and hyphens: 'São Paulo' and 'Sao paulo' are one place."""
    decomposed = unicodedata.normalize("NFKD", text)
    bare = "".join(c for c in decomposed if not unicodedata.combining(c))
    return " ".join(bare.replace("-", " ").casefold().split())


def compare(
    people: Iterable[Person], reference: Sequence[ReferenceRow], judged: Sequence[Judgement]
) -> Comparison:
    """Compare birthplaces by folded name; a judgement counts only for the very values it names."""
    rows: dict[str, list[ReferenceRow]] = {}
    for row in reference:
        if row.birthplace != UNKNOWN_PLACE:
            rows.setdefault(fold(row.name), []).append(row)
    judgements = {(j.name, j.ours, j.reference): j for j in judged}
    shared, agreed = 0, 0
    known: list[Judgement] = []
    unjudged: list[tuple[str, str, str]] = []
    for person in people:
        row = _row_of(person, rows.get(fold(person.name), []))
        if row is None:
            continue
        shared += 1
        judgement = judgements.get((person.name, person.birthplace, row.birthplace))
        if fold(row.birthplace) == fold(person.birthplace):
            agreed += 1
        elif judgement is not None:
            known.append(judgement)
        else:
            unjudged.append((person.name, person.birthplace, row.birthplace))
    return Comparison(shared=shared, agreed=agreed, judged=known, unjudged=unjudged)


def _row_of(person: Person, rows: Sequence[ReferenceRow]) -> ReferenceRow | None:
    """The first row that may be this person by birth year: one name can be in the table twice."""
    for row in rows:
        if row.born is None or abs(row.born - person.born) <= NAMESAKE_YEARS:
            return row
    return None


def table_figures(people: Sequence[Person]) -> dict[str, float]:
    """The figures that the project asks of its table, as counts and shares."""
    places = Counter(person.birthplace for person in people)
    elsewhere = sum(p.continent not in ("Europe", "North America") for p in people)
    return {
        "people": len(people),
        "birthplaces": len(places),
        "countries": len({person.country for person in people}),
        "women_share": sum(person.pronoun == "she" for person in people) / len(people),
        "outside_europe_and_north_america_share": elsewhere / len(people),
        "largest_place_share": max(places.values()) / len(people),
    }


def load_reference(path: Path) -> list[ReferenceRow]:
    """Read name, birth_city and birth_year. Raises ValueError if a column is missing."""
    rows = _read(path, ("name", "birth_city", "birth_year"))
    return [
        ReferenceRow(
            name=row["name"], birthplace=row["birth_city"], born=_whole_number(row["birth_year"])
        )
        for row in rows
    ]


def load_judgements(path: Path) -> list[Judgement]:
    """Read the judged disagreements. Raises ValueError for an unknown verdict."""
    rows = _read(path, JUDGED_COLUMNS)
    judgements = [Judgement(*(row[column] for column in JUDGED_COLUMNS)) for row in rows]
    for entry in judgements:
        if entry.verdict not in VERDICTS:
            raise ValueError(f"{path}: {entry.name}: verdict {entry.verdict!r}, not {VERDICTS}")
    return judgements


def _read(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    head, *lines = read_lines(path) or [""]
    found = head.split("\t")
    if missing := [column for column in columns if column not in found]:
        raise ValueError(f"{path}: the columns {', '.join(missing)} are missing")
    rows: list[dict[str, str]] = []
    for number, line in enumerate(lines, 2):
        cells = line.split("\t")
        if len(cells) != len(found):
            raise ValueError(f"{path}, line {number}: {len(cells)} columns, not {len(found)}")
        rows.append(dict(zip(found, cells, strict=True)))
    return rows


def _whole_number(text: str) -> int | None:
    return int(text) if text.lstrip("-").isdigit() else None
