"""What a model answers about people that it read about, and about names that nobody has.

Groups of names are asked one and the same question. Of a group is told how often the answer is the
true place, and else what; how probable the model holds its answers; and which signal of its inside
tells those it read about from those it never read. Free of torch.
"""

from dataclasses import dataclass
from typing import Literal

GroupName = Literal[
    "set",
    "asked",
    "read",
    "left_out",
    "unread",
    "invented",
    "one_letter",
    "surname",
    "crossed",
    "no_name",
]
# What an answer is, the first that holds: the true place, the place of the nearest name, the
# place that most of training's answers name, another place that the data knows, or none of these.
Outcome = Literal["right", "nearest", "most_frequent", "known_place", "made_up"]
OUTCOMES: tuple[Outcome, ...] = ("right", "nearest", "most_frequent", "known_place", "made_up")
SIGNALS = {
    "probability": "probability of the answer",
    "margin": "margin of the first piece to the second best",
    "entropy": "entropy of the first piece",
    "weight_on_name": "attention weight on the name, mean of all heads",
    "best_head": "attention weight on the name, best head",
    "contribution": "contribution of the name to the first piece",
    "agreement": "agreement between the layers",
}
SURE = 0.9
ATTENTION = ("weight_on_name", "best_head", "contribution")


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """n, of which `right` are right, with the 95 % interval of that share."""

    name: str
    n: int
    right: int
    low: float
    high: float
    made_up: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One name of a group: what was answered, and what is true, if anything."""

    name: str
    given: str
    place: str | None
    outcome: Outcome
    probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """What came of one group: how many answers of each outcome, with the interval of its share.

    `has_truth`: these names have a true place; else no answer can be right, and counts and
    intervals know no such outcome. `probabilities` are those of the whole answers, sorted. No
    examples where the names may not be stored, else some, spread over the group.
    """

    name: str
    label: str
    n: int
    has_truth: bool
    counts: dict[Outcome, int]
    intervals: dict[Outcome, tuple[float, float]]
    probabilities: tuple[float, ...]
    probability_median: float
    probability_mean: float
    examples: tuple[Example, ...] = ()

    @property
    def n_sure(self) -> int:
        """How many answers are more probable than SURE."""
        return sum(probability > SURE for probability in self.probabilities)


@dataclass(frozen=True, slots=True, kw_only=True)
class Auroc:
    """How well a signal tells read from never read: 0.5 is a coin, 1 always; `note` says more, as
    which head was best.
    """

    value: float
    low: float
    high: float
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Answers whose probability lies from `low` to `high`: how many, its mean, and how many are
    right. One without answers has the mean 0.
    """

    low: float
    high: float
    n: int
    confidence: float
    right: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Continent:
    """How many invented names were answered with its places, out of those whose answer lies on a
    continent, beside its share of the people asked about in training.
    """

    name: str
    n: int
    share: float
    low: float
    high: float
    training_share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """All of one checkpoint. `split` is "task" or the name of a question set.

    `read`, `never` are the groups that AUROC tells apart; calibration is of the group `read`.
    `reads` is False for a model that was trained on questions alone: the group `read` is then of
    people of whom other models read. `lacking` says for a part (a signal, a breakdown, a group) in
    a sentence why it is not there.
    `most_frequent` is empty where every answer of a set occurs once.
    """

    checkpoint: str
    split: str
    groups: dict[str, Group]
    read: str
    never: str
    auroc: dict[str, Auroc]
    calibration: tuple[Bin, ...]
    ece: float
    by_continent: tuple[Share, ...]
    by_pronoun: tuple[Share, ...]
    by_century: tuple[Share, ...]
    by_frequency: tuple[Share, ...]
    continents_of_invented: tuple[Continent, ...]
    lacking: dict[str, str]
    most_frequent: str
    seconds: float
    machine: str
    weights: str
    data: str
    reads: bool = True
