"""The one loop over a run's steps: when it saves, and when it ends."""

import math
import time
from collections.abc import Callable
from typing import Literal

from core.runs.run import Run, advance
from core.runs.stopping import stop_requests
from core.training.loop import StepRecord

SAVE_EVERY_SECONDS = 60.0
Ending = Literal["at its last step", "stopped", "too late"]
GOES_ON, LATE, STOPPED = range(3)  # of several processes the largest that one of them says counts


def train(
    run: Run,
    *,
    after_step: Callable[[StepRecord], object],
    save: Callable[[], None],
    is_stopped: Callable[[], bool] = lambda: False,
    most_seconds: float = math.inf,
) -> Ending:
    """Step a run until its last step, a request to stop or the end of its time; says which.

    `save` is called about once a minute and before this returns, always between two steps. A
    request is a signal, or what `is_stopped` says when it is asked after each step; one that comes
    with the last step still counts. Several processes end at the same step, if one of them has to.
    """
    last_save = time.monotonic()
    with stop_requests() as signalled:
        for record in advance(run):
            after_step(record)
            if record.step < run.step:  # a device is ahead: its state is not that of this record
                continue
            ending = _ending(
                run,
                stopped=signalled.is_set() or is_stopped(),
                late=record.step < run.n_steps and run.seconds > most_seconds,
            )
            if ending is not None or time.monotonic() - last_save > SAVE_EVERY_SECONDS:
                save()
                last_save = time.monotonic()
            if ending is not None:
                return ending
    return "at its last step"


def _ending(run: Run, *, stopped: bool, late: bool) -> Ending | None:
    """Whether the run ends at the step where it stands, and why."""
    agreed = run.trainer.team.most(STOPPED if stopped else LATE if late else GOES_ON)
    if agreed == STOPPED:
        return "stopped"
    if run.step == run.n_steps:
        return "at its last step"
    return "too late" if agreed == LATE else None
