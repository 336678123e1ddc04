"""Sweeps: jobs that differ in seed, learning rate or preset, and what is done to all of them.

Each is an ordinary job. What they have in common is sweep.json in each of their folders and nothing
else, so a sweep ends with its last job. No torch here.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

from core.jobs import actions
from core.jobs.folder import is_sweep_id
from core.jobs.spec import LONGEST_NAME, TrainSpec, train_spec
from core.jobs.state import Job, list_all
from core.training.recipe import Overrides

Value = TypeVar("Value", str, int, float)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """What is put into the queue together: a title, and trainings in the order of the queue."""

    name: str
    specs: tuple[TrainSpec, ...]


def make_sweep(
    presets: Sequence[str],
    *,
    seeds: Sequence[int] = (0,),
    learning_rates: Sequence[float] = (),
    name: str = "",
    overrides: Overrides | None = None,
    **same: Any,
) -> Sweep:
    """Every preset at every rate from every seed; `same` is what `train_spec` takes besides.

    A seed goes through everything, then the next, so that what is done is comparable early. Raises
    ValueError for a value named twice, for a sweep of one, and for what cannot be trained.
    """
    overrides = Overrides() if overrides is None else overrides
    if learning_rates and overrides.learning_rate is not None:
        raise ValueError("one learning rate and several are named: leave out one of both")
    rates = tuple(learning_rates) or (overrides.learning_rate,)
    for what, values in (("seed", seeds), ("learning rate", rates), ("preset", presets)):
        if twice := [value for number, value in enumerate(values) if value in values[:number]]:
            raise ValueError(f"{what} {twice[0]} is named twice")
    cases = list(product(seeds, presets, rates))
    if len(cases) < 2:
        raise ValueError("a sweep of one training: name several seeds or several learning rates")
    if len(cases) > actions.MOST_IN_SWEEPS:
        raise ValueError(f"{len(cases)} trainings: a sweep has at most {actions.MOST_IN_SWEEPS}")

    def spec(seed: int, preset: str, rate: float | None) -> TrainSpec:
        parts = [name.strip()] if name.strip() else []
        parts += [preset] if len(presets) > 1 or not parts else []
        parts += [f"rate {rate:g}"] if len(rates) > 1 else []
        parts += [f"seed {seed}"] if len(seeds) > 1 else []
        own = replace(overrides, learning_rate=rate)
        return train_spec(preset, name=" · ".join(parts), seed=seed, overrides=own, **same)

    title = name.strip() or ", ".join(presets)
    return Sweep(name=title[:LONGEST_NAME], specs=tuple(spec(*case) for case in cases))


def several(text: str, read: Callable[[str], Value], *, what: str, example: str) -> list[Value]:
    """Values with spaces or commas between them, as somebody types them into one field.

    Raises ValueError naming what cannot be read.
    """
    values: list[Value] = []
    for word in text.replace(",", " ").split():
        try:
            values.append(read(word))
        except ValueError:
            raise ValueError(f"{what}: {word[:40]!r} cannot be read; write {example}") from None
    return values


def of_sweep(jobs: Iterable[Job], sweep_id: str) -> list[Job]:
    """The jobs of a sweep in their order; `jobs` are the newest first."""
    found = [job for job in jobs if job.sweep is not None and job.sweep.id == sweep_id]
    return sorted(found, key=lambda job: job.id)


def jobs_of_sweep(root: Path, sweep_id: str) -> list[Job]:
    """The same from the disk. Raises ValueError where there is none."""
    if not is_sweep_id(sweep_id):
        raise ValueError(f"{sweep_id!r:.60} is no id of a sweep")
    if not (found := of_sweep(list_all(root), sweep_id)):
        raise ValueError(f"there is no sweep {sweep_id}")
    return found


def stop_sweep(root: Path, sweep_id: str) -> list[Job]:
    """Ask every job that waits or runs to end; the last first, so that none begins meanwhile.

    Called again this presses on, as stopping a job does. Returns its jobs as they are then.
    """
    active = [job for job in jobs_of_sweep(root, sweep_id) if job.is_active]
    if not active:
        raise ValueError(f"no job of {sweep_id} waits or runs")
    for job in reversed(active):
        with suppress(ValueError):  # it ended just now
            actions.stop(root, job.id)
    return jobs_of_sweep(root, sweep_id)


def resume_sweep(root: Path, sweep_id: str, go_on: Callable[[Job], None]) -> list[Job]:
    """Let every job go on that ended without finishing, in their order."""
    ended = [job for job in jobs_of_sweep(root, sweep_id) if job.can_resume]
    if not ended:
        raise ValueError(f"no job of {sweep_id} can go on: none has ended without finishing")
    for job in ended:
        go_on(job)
    return jobs_of_sweep(root, sweep_id)


def remove_sweep(root: Path, sweep_id: str) -> list[Job]:
    """Delete all jobs of a sweep, with what they trained; none while one is active."""
    jobs = jobs_of_sweep(root, sweep_id)
    if n_active := sum(job.is_active for job in jobs):
        raise ValueError(f"{n_active} jobs of {sweep_id} wait or run: stop it first")
    for job in jobs:
        actions.remove(root, job.id)
    return jobs
