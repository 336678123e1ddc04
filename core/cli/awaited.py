"""Jobs of a table as one sweep: put into the queue, told at once, waited for to their end.

What ends this verb ends none of them: they are jobs like any other, and the table is made of them
later. Nothing tells another process of the end of a job but its files, so they are looked at.
"""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from core.jobs import actions
from core.jobs.assignment import Assignment
from core.jobs.launcher import Launcher
from core.jobs.state import Job
from core.jobs.sweeps import jobs_of_sweep

LOOK_EVERY_SECONDS = 2.0
Tell = Callable[[str], None]


def start(
    root: Path,
    specs: Sequence[Assignment],
    launcher: Launcher,
    *,
    name: str,
    later: str,
    tell: Tell,
) -> str:
    """Put all of them into the queue, or none; the sweep's id, which is told with the command that
    makes the table `later`. Raises as starting a sweep does.
    """
    sweep_id, ids = actions.start_sweep(root, specs, launcher, name=name)
    what = "trainings" if specs[0].verb == "train" else "jobs"
    tell(
        f"{sweep_id}: {len(ids)} {what} are in the queue; they go on without this terminal, and "
        f"once they have finished the table is made by {later} --sweep {sweep_id}"
    )
    return sweep_id


def wait(root: Path, sweep_id: str, *, tell: Tell) -> None:
    """Return when all have finished; how many they are is told whenever it changes.

    Raises ValueError with the first that ends otherwise, or is removed; KeyboardInterrupt leaves
    them as they are, and says so.
    """
    jobs, told = jobs_of_sweep(root, sweep_id), ""
    ids = [job.id for job in jobs]
    try:
        while _are_under_way(jobs, ids, sweep_id):
            if (said := _said(jobs)) != told:
                tell(f"{sweep_id}: {said}")
                told = said
            time.sleep(LOOK_EVERY_SECONDS)
            jobs = jobs_of_sweep(root, sweep_id)
    except KeyboardInterrupt:
        tell(f"they go on; the table is made later with --sweep {sweep_id}")
        raise
    tell(f"{sweep_id}: {_said(jobs)}")


def _said(jobs: Sequence[Job]) -> str:
    """How many stand how; one that is about to stop still runs."""
    n = Counter(job.state for job in jobs)
    running, waiting = n["running"] + n["stopping"], n["queued"]
    parts = [f"{n['finished']} of {len(jobs)} have finished"]
    parts += [f"{running} {'runs' if running == 1 else 'run'}"] if running else []
    parts += [f"{waiting} {'waits' if waiting == 1 else 'wait'}"] if waiting else []
    return ", ".join(parts)


def _are_under_way(jobs: Sequence[Job], ids: Sequence[str], sweep_id: str) -> bool:
    """Whether one has not finished yet. Raises ValueError where waiting would never end."""
    for job in jobs:
        if not job.is_active and job.state != "finished":
            why = f" ({job.message})" if job.message else ""
            raise ValueError(
                f"job {job.id}, {job.name}, is {job.state}{why}: let it go on with jobs resume "
                f"{job.id}; once all have finished, make the table with --sweep {sweep_id}"
            )
    if gone := [one for one in ids if one not in {job.id for job in jobs}]:
        raise ValueError(f"job {gone[0]} of {sweep_id} was removed: the table needs it, start anew")
    return any(job.is_active for job in jobs)
