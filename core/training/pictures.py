"""Training of the networks that look at pictures, as a generator of records that writes no file.

A run is repeated bit for bit on the same machine with as many threads: its first parameters and the
order of its pictures follow from its seed, and they are the same for both convolutional networks.

Whoever asks a device for a loss waits until all is done that was ordered before it, so losses are
read there every FETCH_EVERY steps, and one that is no number is seen as much later.
"""

import math
import time
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple, cast

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from core.models.picture_networks import (
    Network,
    as_input,
    device_of,
    logits_of,
    make_network,
    n_parameters,
)
from core.pictures.pictures import Pictures, Split
from core.pictures.shifts import DIRECTIONS, SHIFTS, shifted
from core.pictures.sweep import Epoch, Run
from core.pictures.sweep_spec import Case, SweepSpec
from core.training.picture_optimizers import make_optimizer, set_rate
from core.training.step import TrainingDivergedError, fetch_every

Asked = Callable[[], bool]
Tell = Callable[[Case, int], None]  # a case begins an epoch (from 1), or its tests (0)


class Outcome(NamedTuple):
    """A network at the end of its training, in eval mode, and what was found of it."""

    network: Network
    run: Run


def runs(
    spec: SweepSpec,
    pictures: Pictures,
    *,
    done: Collection[Case] = (),
    is_stopped: Asked,
    tell: Tell,
    device: str = "cpu",
) -> Iterator[Run]:
    """A record for each case that is not done; it ends early when stopped, without a half one."""
    for case in spec.cases:
        if case not in done:
            trained = train(case, spec, pictures, is_stopped=is_stopped, tell=tell, device=device)
            if trained is None:
                return
            yield trained.run


def train(
    case: Case,
    spec: SweepSpec,
    pictures: Pictures,
    *,
    is_stopped: Asked,
    tell: Tell,
    device: str = "cpu",
) -> Outcome | None:
    """One training to its end, and its tests; None if stopped. Cost: SweepSpec.seconds."""
    began = time.monotonic()
    network = make_network(
        case.network, len(pictures.classes), padding=spec.padding, seed=case.seed
    ).to(device)  # drawn on the processor: the same first parameters everywhere
    found: list[Epoch] = []
    diverged = False
    tell(case, 1)
    try:
        for epoch in epochs(network, case, spec, pictures, is_stopped=is_stopped):
            found.append(epoch)
            tell(case, (len(found) + 1) % (spec.epochs + 1))
    except TrainingDivergedError:
        diverged = True
    if not diverged and len(found) < spec.epochs:
        return None
    network.eval()
    correct = [0] * len(SHIFTS) if diverged else shifted_correct(network, pictures.test)
    run = Run(
        network=case.network,
        rate=case.rate,
        seed=case.seed,
        parameters=n_parameters(network),
        diverged=diverged,
        epochs=tuple(found),
        correct=correct[0],
        n_test=len(pictures.test),
        shifted_correct=tuple(correct[1:]),
        seconds=round(time.monotonic() - began, 2),
    )
    return Outcome(network, run)


def epochs(
    network: Network, case: Case, spec: SweepSpec, pictures: Pictures, *, is_stopped: Asked
) -> Iterator[Epoch]:
    """Teaches the network, a record after each pass; it ends early when stopped.

    Raises TrainingDivergedError for a loss that is no number.
    """
    optimizer = make_optimizer(network, case)
    device = device_of(network)
    inputs = as_input(pictures.train.pictures).to(device)
    labels = torch.from_numpy(pictures.train.labels).to(device)
    n_batches = -(-len(labels) // spec.batch)
    for epoch in range(spec.epochs):
        network.train()
        order = np.random.default_rng((case.seed, epoch)).permutation(len(labels))
        losses = _Losses(fetch_every(device), f"epoch {epoch + 1}")
        for number, rows in enumerate(_cut(torch.from_numpy(order).to(device), spec.batch)):
            if is_stopped():
                return
            set_rate(optimizer, case, epoch * n_batches + number, spec.epochs * n_batches)
            loss = F.cross_entropy(network(inputs[rows]), labels[rows])
            losses.add(loss.detach(), len(rows))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        network.eval()
        yield _measured(network, pictures.validation, losses.total() / len(labels))


class _Losses:
    """Of the batches of a pass, read when `every` of them are there, and at its end."""

    def __init__(self, every: int, where: str) -> None:
        self._every, self._where = every, where
        self._unread: list[tuple[Tensor, int]] = []
        self._total = 0.0

    def add(self, loss: Tensor, n_pictures: int) -> None:
        """Raises TrainingDivergedError if one of those that are read now is no number."""
        self._unread.append((loss, n_pictures))
        if len(self._unread) == self._every:
            self._read()

    def total(self) -> float:
        """Summed over all pictures. Raises as `add` does."""
        if self._unread:
            self._read()
        return self._total

    def _read(self) -> None:
        values = _fetched([loss for loss, _ in self._unread])
        for value, (_, n_pictures) in zip(values, self._unread, strict=True):
            if not math.isfinite(value):
                raise TrainingDivergedError(f"the loss is {value} in {self._where}")
            self._total += value * n_pictures
        self._unread.clear()


def _fetched(losses: list[Tensor]) -> list[float]:
    """Their values by one look at the device."""
    return cast("list[float]", torch.stack(losses).tolist())


def shifted_correct(network: Network, split: Split) -> list[int]:
    """Right answers on pictures as they are, and moved by each shift of SHIFTS after 0 in all four
    directions together.
    """
    found = [_correct(network, split)]
    for shift in SHIFTS[1:]:
        moved = (
            shifted(split.pictures, shift * rows, shift * columns)
            for rows, columns in DIRECTIONS.values()
        )
        found.append(
            sum(_correct(network, Split(pictures=one, labels=split.labels)) for one in moved)
        )
    return found


def _cut(order: Tensor, size: int) -> list[Tensor]:
    """The same in parts of at most `size`."""
    return [order[start : start + size] for start in range(0, len(order), size)]


def _correct(network: Network, split: Split) -> int:
    answers = logits_of(network, split.pictures).argmax(1).cpu().numpy()
    return int((answers == split.labels).sum())


def _measured(network: Network, validation: Split, loss: float) -> Epoch:
    logits = logits_of(network, validation.pictures).cpu()
    labels = torch.from_numpy(validation.labels)
    validation_loss = float(F.cross_entropy(logits, labels))
    if not math.isfinite(validation_loss):
        raise TrainingDivergedError("the loss on validation pictures is no number")
    return Epoch(
        loss=loss,
        validation_loss=validation_loss,
        validation_accuracy=float((logits.argmax(1) == labels).float().mean()),
    )
