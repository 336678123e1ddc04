"""Means over seeds: runs of sweeps that differ in nothing else, their curves and results.

An interval here is one over seeds (95 %, Student's t): where the mean of many more trainings would
lie, each asked the same questions. How far chance in the questions goes a single run's own interval
says. Free of torch.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from core.intervals import Difference, Rate, mean_difference, mean_interval
from core.jobs.curves import Rows, accuracy_points, loss_points, result
from core.jobs.folder import SweepName
from core.jobs.state import Job

SPLITS = {"dev": "dev", "held_out": "held-out"}  # key of a result, in words; the first counts more
Point = tuple[float, float, float, float]  # x, mean, its 95 % interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Runs of a sweep that differ in their seed alone, by rising seed.

    `values` are those of the settings that the sweep varies beside the seed, in words.
    """

    sweep: SweepName
    values: tuple[str, ...]
    jobs: tuple[Job, ...]

    @property
    def id(self) -> str:
        """As it stands in an address."""
        return ":".join([self.sweep.id, *(value.replace(" ", "-") for value in self.values)])

    @property
    def counted(self) -> tuple[Job, ...]:
        """The runs that have finished."""
        return tuple(job for job in self.jobs if job.state == "finished")

    def shares(self, split: str) -> dict[int, float]:
        """Right answers of its finished runs, by seed."""
        found = {job.spec.seed: result(job, split) for job in self.counted if job.spec is not None}
        return {seed: share[0] for seed, share in found.items() if share is not None}


def groups_of(jobs: Sequence[Job]) -> list[Group]:
    """All groups among some jobs: the newest sweep first, its values in the order of its queue."""
    sweeps = {job.sweep.id: job.sweep for job in jobs if job.sweep is not None}
    return [group for one in sorted(sweeps, reverse=True) for group in _groups(sweeps[one], jobs)]


def names_of_groups(groups: Sequence[Group]) -> list[str]:
    """What tells them apart: the values, the sweep's name, both, or the end of its id besides."""
    alone = len({group.sweep.id for group in groups}) == 1
    names = [
        " · ".join(([] if alone and group.values else [group.sweep.name]) + [*group.values])
        for group in groups
    ]
    return [
        name if names.count(name) == 1 else f"{name} ({group.sweep.id[-6:]})"
        for name, group in zip(names, groups, strict=True)
    ]


def rows_of_counted(group: Group, rows: Mapping[str, Rows]) -> list[Rows]:
    """What its finished runs measured, by their ids; before there is one, what any has measured."""
    jobs = group.counted or group.jobs
    return [rows[job.id] for job in jobs if rows.get(job.id)]


def mean_losses(runs: Sequence[Rows], axis: str, *, window: int = 1) -> list[Point]:
    """The mean loss of some runs with its interval over them, not below 0; each is smoothed by
    itself.
    """
    curves = [loss_points(rows, axis, window=window) for rows in runs]
    return [(at, loss, max(low, 0.0), high) for at, loss, low, high in mean_curve(curves)]


def mean_answers(runs: Sequence[Rows], axis: str) -> list[Point]:
    """The mean share of right answers with its interval over runs, within 0 and 1."""
    curves = [[(at, share) for at, share, *_ in accuracy_points(rows, axis)] for rows in runs]
    return [
        (at, share, max(low, 0.0), min(high, 1.0)) for at, share, low, high in mean_curve(curves)
    ]


def mean_curve(curves: Sequence[Sequence[tuple[float, float]]]) -> list[Point]:
    """Mean and interval at the points of the curve that has fewest, as far as all others reach.

    A curve is read between its points along straight lines. One curve alone has no interval: its
    ends are the curve.
    """
    found = [points for points in curves if points]
    if not found:
        return []
    first, last = max(points[0][0] for points in found), min(points[-1][0] for points in found)
    places = [at for at, _ in min(found, key=len) if first <= at <= last]
    values = [_read_at(places, points) for points in found]
    return [(at, *_bounds([read[n] for read in values])) for n, at in enumerate(places)]


def mean_result(group: Group, split: str) -> Rate | None:
    """The mean share of right answers of its finished runs; None with none, no width with one."""
    shares = [*group.shares(split).values()]
    if not shares:
        return None
    middle, low, high = _bounds(shares)
    return Rate(value=middle, low=max(low, 0.0), high=min(high, 1.0))


def settled_split(groups: Sequence[Group]) -> str | None:
    """The split that all groups have a result of, the more telling one; None before that."""
    return next((split for split in SPLITS if all(group.shares(split) for group in groups)), None)


def behind_the_best(
    groups: Sequence[Group], split: str
) -> tuple[int, list[tuple[int, Difference | None]]]:
    """Which group has the highest mean, and by how much it is ahead of each other, best first."""
    means = [fmean(group.shares(split).values()) for group in groups]
    best, *others = sorted(range(len(groups)), key=lambda number: -means[number])
    shares = [group.shares(split) for group in groups]
    return best, [(number, mean_difference(shares[best], shares[number])) for number in others]


def verdict(groups: Sequence[Group], names: Sequence[str]) -> str:
    """Whether the best group is ahead of the next by more than noise, in a sentence or two.

    Empty before every group has a result. Of fewer than two seeds nothing can be told.
    """
    split = settled_split(groups)
    if split is None or not groups:
        return ""
    few = [name for name, group in zip(names, groups, strict=True) if len(group.shares(split)) < 2]
    if few:
        return f"With fewer than two finished seeds ({', '.join(few)}) no noise can be told."
    if len(groups) == 1:
        return ""
    best, [(second, found), *_] = behind_the_best(groups, split)
    if found is None:
        return ""
    if not found.value:
        return f"{names[best]} and {names[second]} are alike in the mean: nothing sets them apart."
    how = f"{found.n_pairs} seeds in pairs" if found.n_pairs else "their seeds are not the same"
    ahead = (
        f"{names[best]} is ahead of {names[second]} by {points(found)} of the {SPLITS[split]} "
        f"questions ({how})"
    )
    if found.low == found.high:
        return f"{ahead}, the same for all seeds: too few of them to tell noise."
    if found.may_be_noise:
        return f"{ahead}. The interval holds 0: the difference may be noise."
    return f"{ahead}. The interval leaves out 0: more than noise between seeds."


def points(found: Difference) -> str:
    """A difference of shares in percentage points, with its interval."""
    return f"{100 * found.value:.1f} points ({100 * found.low:.1f} to {100 * found.high:.1f})"


def row(group: Group, name: str) -> dict[str, Any]:
    """A group with its results, for JSON: one's mean and interval are None where nobody knows."""
    found: dict[str, Any] = {"name": name, "runs": len(group.jobs), "finished": len(group.counted)}
    for split in SPLITS:
        shares, mean = group.shares(split), mean_result(group, split)
        interval = None if mean is None or len(shares) < 2 else [mean.low, mean.high]
        found[split] = {
            "by_seed": {str(seed): share for seed, share in shares.items()},
            "mean": None if mean is None else mean.value,
            "interval": interval,
        }
    return found


def _read_at(places: Sequence[float], points: Sequence[tuple[float, float]]) -> list[float]:
    """A curve at some places, along straight lines between its points."""
    read = np.interp(places, [at for at, _ in points], [value for _, value in points])
    return [float(value) for value in read]


def _bounds(values: Sequence[float]) -> tuple[float, float, float]:
    """Mean and interval of one number for each run; of a single one the number itself."""
    if len(values) < 2:
        return values[0], values[0], values[0]
    found = mean_interval(values)
    return found.value, found.low, found.high


def _groups(sweep: SweepName, jobs: Sequence[Job]) -> list[Group]:
    own = [job for job in jobs if job.sweep == sweep and job.spec is not None]
    own.sort(key=lambda job: job.id)
    several = [
        [*dict.fromkeys(values)] for values in zip(*(_settings(job) for job in own), strict=True)
    ]
    found: dict[tuple[str, ...], list[Job]] = {}
    for job in own:
        values = zip(_settings(job), several, strict=True)
        key = tuple(value for value, others in values if len(others) > 1)
        found.setdefault(key, []).append(job)
    return [
        Group(sweep=sweep, values=values, jobs=tuple(sorted(group, key=_seed)))
        for values, group in found.items()
    ]


def _settings(job: Job) -> tuple[str, ...]:
    """What a sweep varies beside the seed, in words."""
    if job.spec is None:
        return ()
    rate = job.spec.overrides.learning_rate
    return job.spec.preset, "usual rate" if rate is None else f"rate {rate:g}"


def _seed(job: Job) -> int:
    return 0 if job.spec is None else job.spec.seed
