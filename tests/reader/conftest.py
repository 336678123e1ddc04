"""Invented people whose sentences say where they were born, and also where they went."""

import pytest

from core.reader.words import Pair

PLACES = ["Oslo", "Lima", "Rome", "St. Louis", "Cairo", "Turin", "Quito", "Delhi"]


@pytest.fixture
def pairs() -> list[Pair]:
    """40, each place five times."""
    return [
        Pair(
            name=f"Nomen{number} Bell",
            text=f"Nomen{number} Bell of {PLACES[(number * 3 + 1) % 8]} was born in "
            f"{PLACES[number % 8]}, and died in {PLACES[(number * 5 + 2) % 8]}.",
            answer=PLACES[number % 8],
        )
        for number in range(40)
    ]
