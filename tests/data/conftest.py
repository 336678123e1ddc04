"""The shipped table, the course's files where they are at hand, and a made-up person."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.data.people import Person, load_people

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT.parent / "shared" / "data" / "notable-people-reference.tsv"

PersonMaker = Callable[..., Person]


@pytest.fixture(scope="session")
def people() -> list[Person]:
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


@pytest.fixture(scope="session")
def real_course() -> Path:
    """The course's own files; they are no part of the project."""
    given = os.environ.get("A5_DATA")
    folder = Path(given) if given else ROOT.parent / "shared" / "data" / "cs224n-a5"
    if not (folder / "wiki.txt").is_file():
        pytest.skip("the course's files are neither in A5_DATA nor in ../shared/data/cs224n-a5")
    return folder


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
