"""What a similarity says of a recogniser that it does not say of none at all."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.speech.record import SpeechFigures
from core.speech.scores import Scores

SIMILARITIES = {
    "jaccard": "Jaccard",
    "cosine": "cosine",
    "damerau_levenshtein": "Damerau–Levenshtein",
}
WITHOUT = {
    "shuffled": "the right letters in random order",
    "fixed": "one fixed sentence for all",
    "unrelated": "an unrelated sentence",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """One measure of one recogniser; `without` is the most that needs none, `which` of WITHOUT."""

    measure: str
    value: float
    without: float
    which: str

    @property
    def above(self) -> float:
        """What is left to the recogniser; below 0 where that is more than it has itself."""
        return self.value - self.without


def reached(figures: SpeechFigures) -> tuple[Reached, ...]:
    """The three similarities beside their highest baseline."""
    return tuple(
        Reached(measure=measure, value=getattr(figures, measure), without=without, which=which)
        for measure in SIMILARITIES
        for without, which in (max((value, name) for name, value in _without(figures, measure)),)
    )


def right_share(scores: SpeechFigures | Scores) -> float:
    """1 − character error: to stand beside similarities; below 0 where more is wrong than said."""
    return 1 - scores.character_error


def differences(one: SpeechFigures, other: SpeechFigures) -> dict[str, float]:
    """By how much a measure is larger for one recogniser than for another."""
    return {measure: getattr(one, measure) - getattr(other, measure) for measure in SIMILARITIES}


def _without(figures: SpeechFigures, measure: str) -> Sequence[tuple[str, float]]:
    return [(name, getattr(getattr(figures.baselines, name), measure)) for name in WITHOUT]
