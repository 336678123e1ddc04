"""What models recall that were trained to: recorded trainings on pairs, by mechanism.

`python -m core memory mqar --record` trains them and writes the record that is read here. No torch.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from core import catalogue
from core.files import read_json
from core.intervals import Rate, mean_interval
from core.paths import ASSETS

RECORD = ASSETS / "memory" / "mqar.json"
RATES = (0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16)
SEEDS = (0, 1, 2, 3, 4)
ALONE = "softmax-alone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """A model that is trained: its mechanism, and what sizes differ from the preset's."""

    name: str
    attention: str
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])


MODELS = (
    Trained(name="softmax", attention="softmax"),
    Trained(name="elu", attention="elu"),
    Trained(name="delta", attention="delta"),
    Trained(name="gated-delta", attention="gated-delta"),
    Trained(name="window", attention="window", sizes={"window": 32}),
    Trained(name=ALONE, attention="softmax", sizes={"short_convolution": 0}),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed:
    """One training: the share of asked keys of the dev texts, by the number of pairs."""

    seed: int
    recalled: dict[str, float]
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A model: the share of held-out keys at every rate that was tried (one seed), by the rate as
    text; the best of them, and what trainings at it recalled.
    """

    model: str
    tried: dict[str, float]
    rate: float
    seeds: tuple[Seed, ...]

    def at(self, n_pairs: int) -> Rate:
        """The mean over seeds with its 95 % interval (Student's t), within 0 and 1; of one seed its
        share alone.
        """
        shares = [one.recalled[str(n_pairs)] for one in self.seeds]
        if len(shares) == 1:
            return Rate(value=shares[0], low=shares[0], high=shares[0])
        found = mean_interval(shares)
        return replace(found, low=max(0.0, found.low), high=min(1.0, found.high))


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """All that was trained. Nothing else differs: texts, steps, seeds, sizes."""

    machine: str
    command: str
    n_steps: int
    pairs: tuple[int, ...]
    found: tuple[Found, ...]

    def of(self, models: Sequence[str]) -> list[Found]:
        """Of some models, in the record's order."""
        return [one for one in self.found if one.model in models]

    def to_dict(self) -> dict[str, Any]:
        """As it is recorded; `recall_from_dict` is the inverse."""
        return asdict(self)


def label(model: str) -> str:
    """As it stands in pictures."""
    if model == ALONE:
        return "softmax alone"
    return catalogue.label(model)


def best(tried: Mapping[str, float]) -> float:
    """The rate with the largest share; of equals the least."""
    return float(max(sorted(tried, key=float), key=tried.__getitem__))


def recall_from_dict(data: dict[str, Any]) -> Recall:
    """Raises ValueError for anything else than a record."""
    try:
        return msgspec.convert(data, Recall)
    except msgspec.ValidationError as error:
        raise ValueError(f"not a record of recall: {error}") from None


def load_recall(path: Path = RECORD) -> Recall:
    """The record that is shipped. Raises ValueError for another file, or none."""
    return recall_from_dict(read_json(path))
