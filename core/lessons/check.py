"""Every claim of a lesson computed again, beside what the lesson states."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from core.lessons.calls import CALLS
from core.lessons.computed import (
    answers,
    by_hand,
    draws,
    knowledge,
    memory,
    pictures,
    records,
    speech,
    times,
)
from core.lessons.computed.once import Once
from core.lessons.lesson import UNITS, Claim, Lesson

ROUNDING = 1e-9  # of a number that is stated as it is computed


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """One claim; all numbers are in its unit. `text` is the claim's, with the stated number."""

    text: str
    stated: float
    computed: float
    tolerance: float
    holds: bool


def check(lesson: Lesson) -> list[Checked]:
    """All claims, step by step. Cost: one trace of each question, one sample of each setting.

    Raises ValueError for a claim that cannot be computed, naming step and claim.
    """
    once, found = Once(), list[Checked]()
    for number, step in enumerate(lesson.steps, 1):
        for claim in step.claims:
            try:
                found.append(check_claim(claim, once))
            except ValueError as error:
                where = f"{lesson.name}, step {number}, claim {claim.name!r}"
                raise ValueError(f"{where}: {error}") from None
    return found


def check_claim(claim: Claim, once: Once) -> Checked:
    """One claim; what it shares with others is computed once."""
    computed = UNITS[claim.unit] * functions()[claim.call](once, **claim.with_)
    off = abs(computed - claim.stated)
    return Checked(
        text=f"{claim.figure} {claim.text}",
        stated=claim.stated,
        computed=computed,
        tolerance=claim.tolerance,
        holds=off <= claim.tolerance + ROUNDING * abs(claim.stated),
    )


def functions() -> Mapping[str, Callable[..., float]]:
    """The function of each row in `CALLS`."""
    rooms = (answers, records, knowledge, by_hand, draws, times, speech, pictures, memory)
    return {
        name: next(getattr(room, name) for room in rooms if hasattr(room, name)) for name in CALLS
    }
