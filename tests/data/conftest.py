"""The shipped table, the course's files where they are at hand, and a made-up person."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.data.people import Person, load_people

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT.parent / "shared" / "data" / "notable-people-reference.tsv"

PersonMaker = Callable[..., Person]


@pytest.fixture(scope="session")
def table() -> list[Person]:
    """Everybody in the shipped table."""
    return load_people(ROOT / "assets" / "people.tsv")


@pytest.fixture(scope="session")
def judged_path() -> Path:
    """The shipped judgements about disagreements with the reference."""
    return ROOT / "assets" / "people_judged.tsv"


@pytest.fixture(scope="session")
def reference_path() -> Path:
    """The reference table; it is no part of the project."""
    if not REFERENCE.is_file():
        pytest.skip("the reference table is not at ../shared/data/notable-people-reference.tsv")
    return REFERENCE


@pytest.fixture
def make_person() -> PersonMaker:
    """A maker of people: every field has a value that a test may replace."""
    given: dict[str, Any] = {
        "name": "Ada Example",
        "pronoun": "she",
        "birthplace": "Springfield",
        "country": "Utopia",
        "continent": "Europe",
        "born": 1901,
        "died": 1980,
        "occupation": "engineer",
        "known_for": "the first bridge of glass",
    }
    return lambda **changes: Person(**{**given, **changes})
