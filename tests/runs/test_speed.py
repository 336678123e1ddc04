"""Minutes turned into steps, by a few of them."""

import itertools
from collections.abc import Callable

import pytest

from core.runs import speed
from core.runs.speed import measure_speed, steps_for_minutes
from core.training.loop import Trainer

MakeTrainer = Callable[..., Trainer]


def test_a_speed_is_that_of_the_steps_behind_the_first_ones(make_trainer: MakeTrainer):
    trainer, same = make_trainer(n_steps=1000), make_trainer(n_steps=1000)
    times = iter([10.0, 14.0])
    found = measure_speed(trainer, clock=lambda: next(times), n_warmup=1, n_measured=2)
    _, *measured = itertools.islice(same.steps(), 3)
    assert found.steps_per_second == 0.5  # 2 measured steps took 4 seconds
    assert found.tokens_per_second == sum(record.n_tokens for record in measured) / 4
    assert trainer.cursor.step == 3


def test_minutes_become_steps_by_the_measured_speed(make_trainer: MakeTrainer):
    made: list[Trainer] = []

    def make(n_steps: int) -> Trainer:
        made.append(make_trainer(n_steps=n_steps))
        return made[-1]

    times = iter([10.0, 40.0])  # 15 measured steps took 30 seconds
    assert steps_for_minutes(make, 0.5, clock=lambda: next(times)) == 15
    assert [(t.n_steps, t.cursor.step) for t in made] == [(speed.TRIAL_STEPS, 20)]


def test_a_slow_machine_still_makes_one_step(make_trainer: MakeTrainer):
    times = iter([0.0, 36000.0])
    make = lambda n_steps: make_trainer(n_steps=n_steps)  # noqa: E731
    assert steps_for_minutes(make, 0.1, clock=lambda: next(times)) == 1


@pytest.mark.parametrize("minutes", [0.0, -1.0, float("nan"), float("inf")])
def test_no_minutes_make_no_run(make_trainer: MakeTrainer, minutes: float):
    with pytest.raises(ValueError, match=f"{minutes} minutes: a number above 0 is needed"):
        steps_for_minutes(make_trainer, minutes, clock=lambda: 0.0)
