"""What a sweep trains, frozen and checked at once: networks, rates, seeds. No torch here."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, NamedTuple

from core.from_json import dataclass_from_dict
from core.pictures.networks import NETWORKS, PATCHES, check_network

MOST_RATES, MOST_RATE = 8, 10.0
MOST_SECONDS = 4 * 3600.0
RANGES = {
    "seeds": (1, 20),
    "first_seed": (0, 2**31 - 1),
    "epochs": (1, 200),
    "batch": (8, 1024),
    "threads": (1, 256),
}
LATER = ("first_seed",)  # keys that files of earlier versions lack
# Seconds for 1,000 pictures of one epoch on one core, as measured: an estimate, no promise.
SECONDS = {"pooling": 0.2, "strides": 0.13, "patches": 1.2}
USUAL_PICTURES = 7_000


class Case(NamedTuple):
    """One training of a sweep."""

    network: str
    rate: float
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepSpec:
    """Every network at every rate, from every seed. Raises ValueError for what is not trained.

    Attention over patches is trained in another way (core.training.pictures), at `patch_rate`
    alone. Seeds are `seeds` ones from `first_seed` on; a seed decides first parameters and order of
    the pictures, the same for both convolutional networks.
    """

    source: str = "digits"
    networks: tuple[str, ...] = NETWORKS
    rates: tuple[float, ...] = (0.1, 0.01, 0.001)
    patch_rate: float = 0.002
    seeds: int = 5
    first_seed: int = 0
    epochs: int = 12
    batch: int = 64
    padding: int = 0
    threads: int = 2

    def __post_init__(self) -> None:
        if not self.networks or len(set(self.networks)) < len(self.networks):
            raise ValueError(f"networks {', '.join(self.networks)!r:.80}: each once, at least one")
        for network in self.networks:
            check_network(network, self.padding)
        if not 1 <= len(set(self.rates)) == len(self.rates) <= MOST_RATES:
            raise ValueError(f"{len(self.rates)} rates; 1 to {MOST_RATES} that differ are allowed")
        for rate in (*self.rates, self.patch_rate):
            if not (math.isfinite(rate) and 0 < rate <= MOST_RATE):
                raise ValueError(f"rate {rate:g}; above 0 and at most {MOST_RATE:g} is allowed")
        for name, (least, most) in RANGES.items():
            if not least <= getattr(self, name) <= most:
                raise ValueError(
                    f"{name} is {getattr(self, name)}; {least} to {most:,} are allowed"
                )

    @property
    def cases(self) -> list[Case]:
        """In the order of training: a seed through everything, then the next."""
        return [
            Case(network, rate, seed)
            for seed in range(self.first_seed, self.first_seed + self.seeds)
            for network in self.networks
            for rate in self.rates_of(network)
        ]

    @property
    def by_seed(self) -> tuple["SweepSpec", ...]:
        """The same in parts of one seed each."""
        return tuple(
            replace(self, first_seed=self.first_seed + number, seeds=1)
            for number in range(self.seeds)
        )

    def rates_of(self, network: str) -> tuple[float, ...]:
        return (self.patch_rate,) if network == PATCHES else self.rates

    def seconds(self, network: str, *, n_pictures: int = USUAL_PICTURES) -> float:
        """About how long one training takes, its tests included."""
        return SECONDS[network] * n_pictures / 1000 * (self.epochs + 2)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able; `sweep_spec_from_dict` is the inverse."""
        return asdict(self) | {"networks": list(self.networks), "rates": list(self.rates)}


def sweep_spec_from_dict(data: dict[str, Any]) -> SweepSpec:
    """Raises ValueError for unknown or missing keys and for what SweepSpec refuses."""
    needed = [one.name for one in fields(SweepSpec) if one.name not in LATER]
    if missing := [name for name in needed if name not in data]:
        raise ValueError(f"missing keys: {', '.join(missing)}")
    return dataclass_from_dict(SweepSpec, with_tuples(data, "networks", "rates"))


def with_tuples(data: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """JSON knows lists only: those of these names as the tuples that they were."""
    lists = {name: data[name] for name in names if isinstance(data.get(name), list)}
    return {**data, **{name: tuple(value) for name, value in lists.items()}}


def seconds_of(spec: SweepSpec, done: int = 0) -> float:
    """About how long the cases take that come after the first `done`."""
    return sum(spec.seconds(case.network) for case in spec.cases[done:])
