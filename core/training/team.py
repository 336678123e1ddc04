"""Processes that train one model together. Each has all of it, and its rows of every batch.

What is agreed upon between two steps goes over the processor (gloo) and never waits for a device;
gradients go over the devices' own network (NCCL on CUDA). All have the same sum, bit for bit, so
that their models stay the same.
"""

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn

from core.devices import take_card
from core.training.where import Where

BACKENDS = {"cpu": "gloo", "cuda": "cpu:gloo,cuda:nccl"}
Said = TypeVar("Said")


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """One process of `size`; the one of rank 0 writes for all."""

    rank: int = 0
    size: int = 1

    @property
    def is_first(self) -> bool:
        return self.rank == 0

    def add_up(self, parameters: Sequence[nn.Parameter], loss: Tensor) -> Tensor:
        """Put the sum over all processes into every gradient; the sum of their losses.

        Cost: one message as long as the gradients, for all of them together.
        """
        if self.size == 1:
            return loss
        gradients = [p.grad for p in parameters if p.grad is not None]
        message = torch.cat([*(g.reshape(-1) for g in gradients), loss.detach().reshape(1)])
        dist.all_reduce(message)
        sizes = [g.numel() for g in gradients]
        for gradient, total in zip(gradients, torch.split(message[:-1], sizes), strict=True):
            gradient.copy_(total.view_as(gradient))
        return message[-1]

    def most(self, number: int) -> int:
        """The largest of what the processes say; each waits for all."""
        if self.size == 1:
            return number
        said = torch.tensor([number])
        dist.all_reduce(said, dist.ReduceOp.MAX)
        return int(said)

    def wait(self) -> None:
        """Until all are here."""
        self.most(0)

    def of_first(self, said: Said) -> Said:
        """What the first says, plain values, told to all."""
        if self.size == 1:
            return said
        told = [said]
        dist.broadcast_object_list(told, src=0, device=torch.device("cpu"))
        return told[0]


ALONE = Team()


def team_of(where: Where) -> Team:
    """The team of this process. Raises ValueError if it was not started as one of so many."""
    if where.processes == 1:
        return ALONE
    size = dist.get_world_size() if dist.is_initialized() else 1
    if size != where.processes:
        raise ValueError(
            f"{where.processes} processes were asked for, this is one of {size}: start them with "
            "train --processes"
        )
    return Team(rank=dist.get_rank(), size=size)


@contextmanager
def joined(where: Where) -> Generator[Team, None, None]:
    """Be one of the processes that torchrun has started, as it says in the environment.

    Raises ValueError if there is no card for each.
    """
    if where.processes == 1:
        yield ALONE
        return
    if where.kind == "cuda":
        take_card(local_rank(), of=where.processes)
    torch.set_num_threads(max(1, torch.get_num_threads() // where.processes))
    dist.init_process_group(BACKENDS[where.kind])
    yield team_of(where)
    dist.destroy_process_group()  # not behind a failure: it could wait for one that is gone


def local_rank() -> int:
    """Which of the processes of this machine this is, and so which of its cards it has."""
    return int(os.environ.get("LOCAL_RANK", "0"))


def device_of(where: Where) -> str:
    """The device of this process."""
    return f"cuda:{local_rank()}" if where.processes > 1 and where.kind == "cuda" else where.device
