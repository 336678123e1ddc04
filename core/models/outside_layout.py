"""What is where in a model of transformers: places where heads attend, blocks that hold them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn


@dataclass(frozen=True, kw_only=True)
class Place:
    """A place where heads attend. `project` is W_O, None where something stands before it."""

    block: int
    kind: str
    n_heads: int
    n_kv_heads: int
    head_dim: int
    width: int
    project: nn.Module | None

    @cached_property
    def weight(self) -> Tensor:
        """(H · d, width): W_O as it is multiplied from the right, whichever way it is stored."""
        if self.project is None:
            raise ValueError("this place has no output projection of its own")
        stored: Any = self.project.weight
        return stored.T if isinstance(self.project, nn.Linear) else stored

    @cached_property
    def bias(self) -> Tensor:
        bias: Any = getattr(self.project, "bias", None)
        if bias is not None:
            return bias
        weight: Any = getattr(self.project, "weight", None)
        return torch.zeros(self.width, device=None if weight is None else weight.device)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A block by its place in the order of calls. n_outputs: 0 where it gives its stream alone.
    has_place: whether its heads attend; last_place is that of an earlier block otherwise.
    """

    n_outputs: int
    has_place: bool
    last_place: int
    of_source: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """What a pass goes through. `modules` are the blocks as they stand in the model, each once.

    is_whole: whether every block has a place where heads attend. is_sum: whether every block adds
    to its stream what its attention gives and what one other of its modules gives, and no more.
    """

    places: tuple[Place, ...]
    blocks: tuple[Block, ...]
    modules: tuple[nn.Module, ...]
    width: int
    has_source: bool
    is_whole: bool
    is_sum: bool
