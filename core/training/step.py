"""One optimizer step: what goes in, what comes out, and where in the data it stands."""

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

FETCH_EVERY = 10  # steps between two looks at the losses of a device


class CountedBatch(Protocol):
    """What a step is made of; `n_tokens` are its real ones, whatever a token is."""

    @property
    def n_tokens(self) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord:
    """One optimizer step. `step` counts finished steps; `n_tokens` are real ones."""

    step: int
    phase: str
    loss: float
    rate_factor: float
    n_tokens: int


@dataclass(slots=True)
class Cursor:
    """Where in the data a run stands: finished steps, phase, pool and place in the pool."""

    step: int = 0
    phase: int = 0
    pool: int = 0
    place: int = 0


class Ordered(NamedTuple):
    """A step that a device was told to take, and what will be read of it."""

    record: StepRecord
    loss: Tensor
    norm: Tensor


def check_finite(name: str, value: float, step: int) -> None:
    """Raise TrainingDivergedError for what is no number."""
    if not math.isfinite(value):
        raise TrainingDivergedError(f"the {name} is {value} at step {step}")


class TrainingDivergedError(RuntimeError):
    """The loss or its gradient is not a number.

    On the processor all is as it was before the step. A device has gone on meanwhile, for at most
    a few steps: what was saved before is good, what the trainer holds is not.
    """


def fetch_every(device: torch.device) -> int:
    """After how many steps their losses are read: at once where nobody is waited for."""
    return 1 if device.type == "cpu" else FETCH_EVERY
