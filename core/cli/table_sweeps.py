"""Tables of trainings made of sweeps: which trainings they need as jobs, and the cards of these."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from shlex import join
from typing import Any

from core import paths
from core.checkpoints.shelf import CARD
from core.cli import awaited
from core.cli.places import device_asked, launcher_asked
from core.cli.train import tell
from core.files import read_json
from core.jobs.assignment import Assignment
from core.jobs.estimate import estimate
from core.jobs.spec import train_spec
from core.jobs.state import Job
from core.jobs.sweeps import jobs_of_sweep, make_sweep
from core.runs.kinds import kind_of_dict
from core.training.variation import Variation


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """The card of a finished job; `minutes` if it was to last as long, not so many steps."""

    card: dict[str, Any]
    minutes: float | None

    @property
    def length(self) -> tuple[float | None, int | None]:
        return self.minutes, self.card["n_steps"] if self.minutes is None else None


def refuse_mixtures(options: argparse.Namespace) -> None:
    """Raise ValueError for options that say nothing together."""
    if options.on is not None and options.sweep is not None:
        raise ValueError("--on trains, --sweep reads what was trained: leave out one of both")
    for name in ("partition", "time", "gpus") if options.on is None else ():
        if getattr(options, name) is not None:
            raise ValueError(f"--{name} is a cluster's matter: it goes with --on slurm")
    if options.on is not None and getattr(options, "corpus", None) is not None:
        found = paths.course_folder()
        if found is None or found.resolve() != options.corpus.resolve():
            variable = paths.COURSE_VARIABLE
            raise ValueError(f"jobs read the course's files from {variable}: set it, not --corpus")


def seeds_as_jobs(options: argparse.Namespace) -> str:
    """The preset from every seed, with as many steps each; the finished sweep's id.

    Minutes become steps before the first starts, by a few steps here; nobody here knows how fast a
    node is. Raises ValueError.
    """
    device, steps = device_of_jobs(options), options.steps
    if steps is None and options.on != "local":
        raise ValueError("--steps is needed: all seeds have as many, whatever node they run on")
    if steps is None:
        whole = train_spec(options.preset, minutes=options.minutes, device=device)
        steps = estimate(whole).n_steps
        tell(f"{options.minutes:g} minutes are about {steps:,} steps here: each seed has as many")
    sweep = make_sweep([options.preset], seeds=options.seeds, steps=steps, device=device)
    return waited_for(options, sweep.specs, name=sweep.name)


def rows_as_jobs(options: argparse.Namespace, rows: Sequence[Variation]) -> str:
    """The preset of every row from one seed; the finished sweep's id. Raises ValueError."""
    length = {"minutes": options.minutes} if options.steps is None else {"steps": options.steps}
    sweep = make_sweep(
        [row.recipe.name for row in rows],
        seeds=[options.seed],
        name=f"ablation of {options.of}",
        device=device_of_jobs(options),
        **length,
    )
    return waited_for(options, sweep.specs, "--of", options.of, name=sweep.name)


def cards_of_sweep(sweep_id: str) -> list[Trained]:
    """Of its jobs by rising seed. Raises ValueError while one has not finished."""
    found = [
        Trained(
            card=read_json(paths.RUNS / job.id / CARD),
            minutes=None if job.spec is None else job.spec.minutes,
        )
        for job in finished(sweep_id, "train")
    ]
    return sorted(found, key=lambda one: one.card["seed"])


def cards_of_seeds(sweep_id: str) -> list[dict[str, Any]]:
    """Raises ValueError unless they differ in their seed alone."""
    cards = [one.card for one in cards_of_sweep(sweep_id)]
    if any(
        (card["recipe"], card["n_steps"]) != (cards[0]["recipe"], cards[0]["n_steps"])
        for card in cards
    ):
        raise ValueError(f"the jobs of {sweep_id} differ in more than their seed, or in steps")
    return cards


def cards_of_rows(
    rows: Sequence[Variation], sweep_id: str
) -> tuple[list[dict[str, Any]], float | None]:
    """The one card of each row, all of one seed and as long; their minutes, if not so many steps.

    Raises ValueError.
    """
    all_of_them = cards_of_sweep(sweep_id)
    found = {
        kind_of_dict(one.card["recipe"]).read_recipe(one.card["recipe"]): one.card
        for one in all_of_them
    }
    lengths = {(one.card["seed"], one.length) for one in all_of_them}
    if {*found} != {row.recipe for row in rows} or len(lengths) > 1:
        names = ", ".join(row.recipe.name for row in rows)
        raise ValueError(
            f"{sweep_id}: needed is one job of each of these presets, all of one seed and as many "
            f"steps: {names}"
        )
    return [found[row.recipe] for row in rows], all_of_them[0].minutes


def finished(sweep_id: str, verb: str) -> list[Job]:
    """The jobs of a sweep. Raises ValueError while one has not finished, or does something else."""
    jobs = jobs_of_sweep(paths.RUNS, sweep_id)
    for job in jobs:
        if job.assignment is not None and job.assignment.verb != verb:
            raise ValueError(f"{sweep_id} is a sweep of the verb {job.assignment.verb}")
        if job.state != "finished":
            raise ValueError(
                f"job {job.id} of {sweep_id} is {job.state}: a table needs finished ones"
            )
    return jobs


def device_of_jobs(options: argparse.Namespace) -> str:
    """As it is asked for where the jobs run. Raises ValueError."""
    return device_asked(options.device, options.on, gpus=options.gpus)


def waited_for(
    options: argparse.Namespace, specs: Sequence[Assignment], *more: str, name: str
) -> str:
    """Put into the queue and waited for; the sweep's id. `more` stands behind the verb of the
    command that makes the table later. Raises ValueError.
    """
    launcher = launcher_asked(options, options.on)
    later = ["python", "-m", "core", options.verb, *more]
    later += [] if options.out is None else ["--out", str(options.out)]
    sweep_id = awaited.start(paths.RUNS, specs, launcher, name=name, later=join(later), tell=tell)
    awaited.wait(paths.RUNS, sweep_id, tell=tell)
    return sweep_id
