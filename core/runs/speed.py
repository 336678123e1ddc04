"""How fast a training is, by a few steps of one that is thrown away."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from core.training.loop import Trainer

TRIAL_STEPS = 10_000  # more than are taken, so that the trial stays at its beginning


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """Steps and real tokens a second."""

    steps_per_second: float
    tokens_per_second: float


def measure_speed(
    trainer: Trainer, *, clock: Callable[[], float], n_warmup: int = 5, n_measured: int = 15
) -> Speed:
    """Take steps and time them; the first ones are slow and left out.

    A device has done them when it is asked for their losses: before the first that is measured, and
    behind the last.
    """
    first = trainer.cursor.step + n_warmup
    steps = trainer.steps(lambda step: step in (first, first + n_measured))
    for _ in range(n_warmup):
        next(steps)
    started = clock()
    n_tokens = sum(next(steps).n_tokens for _ in range(n_measured))
    seconds = clock() - started
    return Speed(steps_per_second=n_measured / seconds, tokens_per_second=n_tokens / seconds)


def steps_for_minutes(
    make_trainer: Callable[[int], Trainer], minutes: float, *, clock: Callable[[], float]
) -> int:
    """How many steps fit into some minutes, by the speed of a throw-away trainer.

    Of several processes the quickest one's measurement counts for all.
    """
    if not 0 < minutes < math.inf:
        raise ValueError(f"{minutes} minutes: a number above 0 is needed")
    trainer = make_trainer(TRIAL_STEPS)
    speed = measure_speed(trainer, clock=clock)
    return trainer.team.most(max(1, round(minutes * 60 * speed.steps_per_second)))
