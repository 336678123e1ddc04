"""Sweeps whose figures are made up."""

from collections.abc import Callable
from typing import Any

from core.pictures.sweep import Epoch, PictureSet, Run, Sweep
from core.pictures.sweep_spec import Case, SweepSpec

N_TEST = 200


def made_up(
    correct: Callable[[Case], int | None], *, n_runs: int | None = None, **changes: Any
) -> Sweep:
    """As many right answers as told of each case; None for one that diverged. What is validated is
    what is tested.
    """
    usual: dict[str, Any] = {"seeds": 3, "rates": (0.1, 0.01), "epochs": 2}
    spec = SweepSpec(**usual | changes)
    pictures = PictureSet(
        name="drawn",
        source="made up",
        classes=tuple("0123456789"),
        n_train=100,
        n_validation=50,
        n_test=N_TEST,
        digest="0" * 64,
    )
    runs = tuple(_run(case, correct(case)) for case in spec.cases[:n_runs])
    return Sweep(
        machine={"processor": "none"}, environment={}, pictures=pictures, spec=spec, runs=runs
    )


def _run(case: Case, correct: int | None) -> Run:
    share = (correct or 0) / N_TEST
    one = Epoch(loss=1.0, validation_loss=1.5, validation_accuracy=share / 2)
    two = Epoch(loss=0.5, validation_loss=1.0, validation_accuracy=share)
    return Run(
        network=case.network,
        rate=case.rate,
        seed=case.seed,
        parameters=1000,
        diverged=correct is None,
        epochs=(one,) if correct is None else (one, two),
        correct=correct or 0,
        n_test=N_TEST,
        shifted_correct=(0, 0, 0, 0) if correct is None else (4 * correct, 2 * correct, correct, 0),
        seconds=1.5,
    )
