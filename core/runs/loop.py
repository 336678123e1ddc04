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
    with the last step still counts.
    """
    last_save = time.monotonic()
    with stop_requests() as signalled:
        for record in advance(run):
            after_step(record)
            is_last = record.step == run.n_steps
            ending: Ending | None = "at its last step" if is_last else None
            if signalled.is_set() or is_stopped():
                ending = "stopped"
            elif not is_last and run.seconds > most_seconds:
                ending = "too late"
            if ending is not None or time.monotonic() - last_save > SAVE_EVERY_SECONDS:
                save()
                last_save = time.monotonic()
            if ending is not None:
                return ending
    return "at its last step"
