"""What a sweep says: how good each network is, and whether pooling helps. No torch here.

A mean over seeds has its 95 % interval by Student's t, from the spread of the seeds. Two networks
are compared by the differences of the runs that share a seed, so that what first parameters and the
order of pictures do to both drops out. Which rate counts is chosen on validation pictures.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from core.intervals import wilson_interval
from core.pictures.networks import POOLING, STRIDES
from core.pictures.shifts import SHIFTS
from core.pictures.sweep import Run, Sweep
from core.theory.student import student

OVER_SEEDS, OVER_PICTURES = "Student's t over seeds", "Wilson over pictures"
Verdict = Literal["helps", "hurts", "open"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """A mean with its 95 % interval, which one number alone does not have."""

    mean: float
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkFigure:
    """A network's share of right answers on test pictures. `interval` says over what it is taken;
    `seeds` are the runs that did not diverge, `diverged` those that did.
    """

    name: str
    classes: int
    parameters: int
    rate: float
    accuracy: float
    low: float | None
    high: float | None
    seeds: int
    diverged: int
    n_test: int
    interval: str

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Accuracy with pooling less that with strides, paired by seed; `rates` are those of the two.

    `difference` is None where no seed went well with both. `verdict` is "open" where the interval
    holds 0, or there is none.
    """

    rates: tuple[float, float]
    difference: Mean | None
    diverged: int

    @property
    def verdict(self) -> Verdict:
        found = self.difference
        if found is None or found.low is None or found.high is None or found.low <= 0 <= found.high:
            return "open"
        return "helps" if found.mean > 0 else "hurts"

    def to_dict(self) -> dict[str, Any]:
        found = asdict(self) | {"rates": list(self.rates)}
        return found | {"verdict": self.verdict}


def mean_of(values: Sequence[float]) -> Mean:
    """The mean ± t · s / √n; s is the standard deviation of the n values, one at least."""
    n, mean = len(values), float(np.mean(values))
    if n < 2:
        return Mean(mean=mean, low=None, high=None, n=n)
    half = student(n - 1) * float(np.std(values, ddof=1)) / n**0.5
    return Mean(mean=mean, low=mean - half, high=mean + half, n=n)


def best_rate(sweep: Sweep, network: str) -> float:
    """The rate with the highest mean accuracy on validation pictures, diverged runs counted as 0.

    Raises ValueError where the network has no run yet.
    """
    there = [rate for rate in sweep.spec.rates_of(network) if sweep.of(network, rate)]
    if not there:
        raise ValueError(f"the sweep has no run of {network!r:.20}")
    return max(there, key=lambda rate: _validation(sweep.of(network, rate)))


def network_figures(sweep: Sweep) -> list[NetworkFigure]:
    """A row for each network that has a run, at its best rate."""
    there = [name for name in sweep.spec.networks if any(run.network == name for run in sweep.runs)]
    return [network_figure(sweep, name, best_rate(sweep, name)) for name in there]


def network_figure(sweep: Sweep, network: str, rate: float) -> NetworkFigure:
    """One network at one rate, which has a run. Where all diverged its accuracy is 0."""
    found = sweep.of(network, rate)
    good = accuracies(found)
    mean = mean_of(good) if good else Mean(mean=0.0, low=None, high=None, n=0)
    return NetworkFigure(
        name=network,
        classes=len(sweep.pictures.classes),
        parameters=found[0].parameters,
        rate=rate,
        accuracy=mean.mean,
        low=None if mean.low is None else max(0.0, mean.low),
        high=None if mean.high is None else min(1.0, mean.high),
        seeds=mean.n,
        diverged=len(found) - mean.n,
        n_test=sweep.pictures.n_test,
        interval=OVER_SEEDS,
    )


def one_network(
    name: str, *, classes: int, parameters: int, rate: float, correct: int, n_test: int
) -> NetworkFigure:
    """A row for one network that was trained once: its interval is that of its test pictures."""
    low, high = wilson_interval(correct, n_test)
    return NetworkFigure(
        name=name,
        classes=classes,
        parameters=parameters,
        rate=rate,
        accuracy=correct / n_test,
        low=low,
        high=high,
        seeds=1,
        diverged=0,
        n_test=n_test,
        interval=OVER_PICTURES,
    )


def pooling_at(sweep: Sweep, pooling_rate: float, strides_rate: float) -> Difference:
    """The paired differences over the seeds that both have."""
    one = {run.seed: run for run in sweep.of(POOLING, pooling_rate)}
    other = {run.seed: run for run in sweep.of(STRIDES, strides_rate)}
    pairs = [(one[seed].accuracy, other[seed].accuracy) for seed in sorted(one.keys() & other)]
    good = [a - b for a, b in pairs if a is not None and b is not None]
    return Difference(
        rates=(pooling_rate, strides_rate),
        difference=mean_of(good) if good else None,
        diverged=len(pairs) - len(good),
    )


def pooling_by_rate(sweep: Sweep) -> list[Difference]:
    """At each rate, in the order of the spec."""
    return [pooling_at(sweep, rate, rate) for rate in sweep.spec.rates]


def does_pooling_help(sweep: Sweep) -> Difference:
    """Each of the two at the rate that is best for it on validation pictures: the answer.

    Raises ValueError unless both have a run.
    """
    return pooling_at(sweep, best_rate(sweep, POOLING), best_rate(sweep, STRIDES))


def accuracy_by_shift(sweep: Sweep, network: str) -> list[Mean]:
    """At its best rate, for each shift of SHIFTS: the mean over seeds of the accuracy on test
    pictures moved so far, itself the mean over four directions. Empty where all diverged.
    """
    found = sweep.of(network, best_rate(sweep, network))
    good = [run for run in found if not run.diverged]
    if not good:
        return []
    return [
        mean_of([value for run in good if (value := run.shifted_accuracy(shift)) is not None])
        for shift in SHIFTS
    ]


def epoch_means(sweep: Sweep, network: str, rate: float, what: str) -> list[Mean]:
    """The mean over seeds after each epoch of `what`: a field of Epoch. Diverged runs are left out:
    a mean over those that are left at a time would jump.
    """
    good = [run for run in sweep.of(network, rate) if not run.diverged]
    columns = [[float(getattr(epoch, what)) for epoch in run.epochs] for run in good]
    return [mean_of(values) for values in zip(*columns, strict=True)]


def accuracies(runs: Sequence[Run]) -> list[float]:
    """Those of the runs that did not diverge."""
    return [found for run in runs if (found := run.accuracy) is not None]


def _validation(runs: Sequence[Run]) -> float:
    return float(np.mean([run.validation_accuracy for run in runs]))
