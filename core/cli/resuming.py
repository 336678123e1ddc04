"""`jobs resume`: a job or a sweep goes on where it was, or on another device."""

import argparse
from typing import Any

from core import paths
from core.cli import sweeps
from core.cli.arguments import device_name
from core.cli.places import add_asked, device_asked, launcher_asked, queue_of
from core.jobs import actions
from core.jobs.folder import is_sweep_id
from core.jobs.state import Job, show
from core.training.where import PRECISIONS


def add_again(parser: argparse.ArgumentParser) -> None:
    """Where it goes on, if that is told."""
    parser.add_argument(
        "--device", type=device_name, help="another one from now on; the same unless told"
    )
    parser.add_argument(
        "--precision",
        choices=PRECISIONS,
        help="on the same device the same unless told, on another one float32",
    )
    add_asked(parser)


def resume(options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """What ended without finishing is put into its queue again. Raises ValueError."""

    def go_on(job: Job) -> None:
        actions.resume(
            paths.RUNS,
            job.id,
            launcher_asked(options, job.on),
            device=_device_again(options.device, job),
            precision=options.precision,
        )

    if is_sweep_id(options.id):
        return sweeps.resume(options.id, go_on)
    before = show(paths.RUNS, options.id)
    go_on(before)
    told = f"{options.id} is in the queue{queue_of(before.on)}{_from(before)}"
    return {"id": options.id}, told


def _device_again(asked: str | None, job: Job) -> str | None:
    """What a job that goes on is told; None if nothing was asked for."""
    if asked is None:
        return None
    processes = 1 if job.spec is None else job.spec.processes
    return device_asked(asked, job.on, processes=processes)


def _from(before: Job) -> str:
    """Where a job goes on, if that is before the step at which it was."""
    status = before.status
    if status is None or status.step == (saved := status.saved_step or 0):
        return ""
    return f"; it was at step {status.step} and goes on behind step {saved}, the last one saved"
