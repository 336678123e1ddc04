"""`jobs` of whole sweeps: shown with their means over seeds, stopped, resumed and removed."""

import argparse
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from core import paths
from core.jobs import actions, sweeps
from core.jobs.launcher import Launcher
from core.jobs.over_seeds import (
    SPLITS,
    Group,
    groups_of,
    mean_result,
    names_of_groups,
    row,
    verdict,
)
from core.jobs.state import Job

Told = tuple[dict[str, Any], str]  # what --json prints, and what is read without it


def add_values(parser: argparse.ArgumentParser) -> None:
    """What is varied; where it is not told, the one seed and rate of a job alone count."""
    parser.add_argument("--seeds", type=int, nargs="+", metavar="SEED")
    parser.add_argument("--learning-rates", type=float, nargs="+", metavar="RATE")


def start(
    options: argparse.Namespace, besides: dict[str, Any], launcher: Launcher
) -> tuple[str, list[str]]:
    """Put them into the queue; `besides` is the same for all. The sweep's id and those of jobs."""
    sweep = sweeps.make_sweep(
        options.preset,
        seeds=options.seeds or [options.seed],
        learning_rates=options.learning_rates or (),
        **besides,
    )
    return actions.start_sweep(paths.RUNS, sweep.specs, launcher, name=sweep.name)


def show(sweep_id: str) -> Told:
    """Its jobs, their means for each value that is varied, and what may be noise."""
    jobs = sweeps.jobs_of_sweep(paths.RUNS, sweep_id)
    groups = groups_of(jobs)
    names = names_of_groups(groups)
    said = verdict(groups, names)
    report = {
        **_report(sweep_id, jobs),
        "groups": [row(group, name) for group, name in zip(groups, names, strict=True)],
        "verdict": said,
    }
    means = [_means(group, name) for group, name in zip(groups, names, strict=True)]
    return report, "\n".join([*map(line, jobs), *means, *filter(None, [said])])


def stop(sweep_id: str, *, pause: Callable[[], None]) -> Told:
    """Ask, and press on until every worker is gone."""
    jobs = sweeps.stop_sweep(paths.RUNS, sweep_id)
    while any(job.state == "stopping" for job in jobs):
        pause()
        with suppress(ValueError):  # the last ended just now
            sweeps.stop_sweep(paths.RUNS, sweep_id)
        jobs = sweeps.jobs_of_sweep(paths.RUNS, sweep_id)
    return _report(sweep_id, jobs), "\n".join(map(line, jobs))


def resume(sweep_id: str, go_on: Callable[[Job], None]) -> Told:
    """Those that ended without finishing go on."""
    jobs = sweeps.resume_sweep(paths.RUNS, sweep_id, go_on)
    return _report(sweep_id, jobs), "\n".join(map(line, jobs))


def remove(sweep_id: str) -> Told:
    """All of them, and what they trained."""
    jobs = sweeps.remove_sweep(paths.RUNS, sweep_id)
    ids = [job.id for job in jobs]
    return {"sweep": sweep_id, "ids": ids}, f"{len(ids)} jobs of {sweep_id} are removed"


def line(job: Job) -> str:
    """One job in a list."""
    place = "" if job.place is None else f" ({job.place}. in line)"
    steps = "" if job.status is None else f"step {job.status.step}, "
    sweep = "" if job.sweep is None else f"  [{job.sweep.id}]"
    device = "" if job.device in (None, "cpu") else f"  on {job.device}"
    line = f"{job.id}  {job.state + place:<18} {steps}{job.progress:.0%}  {job.name}{sweep}{device}"
    if job.there is None:
        return line
    where = f"on the cluster{'' if job.host is None else f', {job.host}'}"
    return f"{line}  ({where}{f': {job.there.reason}' if job.there.reason else ''})"


def _report(sweep_id: str, jobs: Sequence[Job]) -> dict[str, Any]:
    return {"sweep": sweep_id, "jobs": [job.row() for job in jobs]}


def _means(group: Group, name: str) -> str:
    """The means of a group over its finished runs, as far as there are any."""
    parts: list[str] = []
    for split, called in SPLITS.items():
        if (mean := mean_result(group, split)) is not None:
            alike = " (all seeds alike)" if len(group.shares(split)) > 1 else ""
            spread = mean.low < mean.high
            interval = f" ({mean.low:.1%} to {mean.high:.1%})" if spread else alike
            parts.append(f"{mean.value:.1%}{interval} of {called}")
    said = ", ".join(parts) or "nothing yet"
    return f"{name}, {len(group.counted)} of {len(group.jobs)} seeds: {said}"
