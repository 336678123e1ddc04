"""Random tokens said twice: what each head does the second time, as values. No torch here.

A text x₁ … xₙ x₁ … xₙ of n different random tokens holds nothing to know but what was just read:
whoever predicts its second half better than its first has looked back (Olsson et al. 2022,
"In-context learning and induction heads"). A score is the mean weight that the rows of the second
half, k = 1 … n, put on one token:

    previous token     the one before the row
    duplicate token    the first xₖ
    induction          the one after the first xₖ
"""

from dataclasses import dataclass
from math import log

from core.catalogue import EFFECTIVE
from core.inspection.captions import CLEAR_FACTOR, CLEAR_WEIGHT
from core.inspection.heads import Head, OneHead

SCORES = ("previous_token", "duplicate_token", "induction")
# What a table can be sorted by, beside what it is called.
NAMES = {name: name.replace("_", " ") for name in SCORES}


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A mean weight, and what rows give that attend uniformly to all they can see.

    Without the first token of the text the other weights of a row are divided by their sum, and
    rows that should look at the first token are left out; None for a head with negative weights,
    which are no shares of anything.
    """

    weight: float
    uniform: float
    without_first: float | None
    uniform_without_first: float

    @property
    def is_clear(self) -> bool:
        """At least 0.3, and at least twice what uniform attention gives."""
        return self.weight >= max(CLEAR_WEIGHT, CLEAR_FACTOR * self.uniform)

    def shown(self, *, without_first: bool) -> tuple[float | None, float]:
        """The score and its baseline in one of both forms."""
        if without_first:
            return self.without_first, self.uniform_without_first
        return self.weight, self.uniform


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedRow(OneHead):
    """One head."""

    previous_token: Score
    duplicate_token: Score
    induction: Score

    def score(self, name: str) -> Score:
        """One of SCORES."""
        scores = (self.previous_token, self.duplicate_token, self.induction)
        return scores[SCORES.index(name)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A mean over sequences with its 95 % interval: 1.96 standard errors to both sides."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """Heads drawn with a seed, and the loss of the second half while they are off together."""

    seed: int
    heads: tuple[Head, ...]
    loss: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Losses:
    """Nats a token over x₂ … xₙ of a half: the second x₁ follows on nothing that was read.

    `best`: the heads with the largest induction scores. The heads of a draw are any of the model,
    some of the best ones too, but never just these. without_random: the mean over draws.
    Differences are taken sequence by sequence: `saved` is what the second half costs less than the
    first, added_by_… what it costs more than with every head on.
    """

    first: Estimate
    second: Estimate
    saved: Estimate
    best: tuple[Head, ...]
    without_best: Estimate
    without_random: Estimate
    added_by_best: Estimate
    added_by_random: Estimate
    best_above_random: Estimate
    draws: tuple[Draw, ...]

    @property
    def range(self) -> tuple[float, float]:
        """The smallest and the largest loss of a draw."""
        losses = [draw.loss for draw in self.draws]
        return min(losses), max(losses)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated:
    """Every head, layer by layer, over n_sequences texts of twice n_tokens tokens.

    `begin`: the token in front of each, if any. n_ordinary: how many tokens were drawn from.
    """

    checkpoint: str
    mechanism: str
    n_sequences: int
    n_tokens: int
    seed: int
    begin: int | None
    n_ordinary: int
    rows: tuple[RepeatedRow, ...]
    losses: Losses

    @property
    def chance(self) -> float:
        """Nats a token of a guess that takes each of the drawn tokens to be as likely."""
        return log(self.n_ordinary)

    @property
    def looks_back(self) -> bool:
        """Whether the second half costs less than the first, beyond the interval."""
        return self.losses.saved.low > 0

    @property
    def has_effective_weights(self) -> bool:
        """Whether weights are effective ones, of linear attention or of a state."""
        return self.mechanism in EFFECTIVE

    def clear(self, name: str) -> list[RepeatedRow]:
        """The heads with a clear score, the largest first."""
        return [row for row in self.sorted_by(name) if row.score(name).is_clear]

    def sorted_by(self, name: str, *, without_first: bool = False) -> list[RepeatedRow]:
        """The rows with the largest score first; those without one last."""

        def value(row: RepeatedRow) -> float:
            found, _ = row.score(name).shown(without_first=without_first)
            return float("-inf") if found is None else found

        return sorted(self.rows, key=value, reverse=True)
