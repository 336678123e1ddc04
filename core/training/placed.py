"""Batches on their way to a device, and how products are rounded there."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields, replace
from typing import Any, TypeVar, cast

import torch
from torch import Tensor

from core.devices import round_products
from core.training.where import Where

B = TypeVar("B")


def on_device(batch: B, device: torch.device) -> B:
    """A batch (a dataclass) with its tensors there; nobody waits for the copy.

    Only a pinned page can be copied to CUDA while the processor goes on.
    """
    if device.type == "cpu":
        return batch
    found = {field.name: getattr(batch, field.name) for field in fields(cast(Any, batch))}
    moved = {
        name: _moved(value, device) for name, value in found.items() if isinstance(value, Tensor)
    }
    return cast(B, replace(cast(Any, batch), **moved))


def set_precision(where: Where) -> None:
    """How a CUDA device rounds what goes into products in float32, in this whole process."""
    round_products(where.device, rounded=where.precision == "tf32")


def in_precision(where: Where) -> AbstractContextManager[Any]:
    """Around a forward pass: autocast to bfloat16 where that is chosen, else nothing."""
    if where.precision != "bfloat16":
        return nullcontext()
    return torch.autocast(where.kind, dtype=torch.bfloat16)


def _moved(tensor: Tensor, device: torch.device) -> Tensor:
    source = tensor.pin_memory() if device.type == "cuda" else tensor
    return source.to(device, non_blocking=True)
