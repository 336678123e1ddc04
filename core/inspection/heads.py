"""Heads: their names, all of a model, and those that are switched off. No torch here."""

import re
from dataclasses import dataclass, replace
from typing import Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

Head = tuple[int, int]  # layer and head, both zero-based
Mode = Literal["zero", "mean"]


class HasHeads(Protocol):
    """A shape, a trace, or whatever else knows how many layers of how many heads there are."""

    @property
    def n_layers(self) -> int: ...

    @property
    def n_heads(self) -> int: ...


class HeadShape(HasHeads, Protocol):
    """The same with the size of a head."""

    @property
    def head_dim(self) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadMeans:
    """What each head gives on average, (n_layers, n_heads, d) each.

    Taken apart, because a head mostly does something else while a question is read (the rows
    before its ⁇) than while the answer is written (from ⁇ on).
    """

    reading: NDArray[np.float32]
    writing: NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadsOff:
    """Heads that are switched off, and what they give: zero, or in the mode `mean` their means."""

    heads: tuple[Head, ...] = ()
    mode: Mode = "zero"
    means: HeadMeans | None = None


EVERY_HEAD_ON = HeadsOff()


def head_name(layer: int, head: int) -> str:
    """L0·H3, both zero-based."""
    return f"L{layer}·H{head}"


@dataclass(frozen=True, slots=True, kw_only=True)
class OneHead:
    """What rows of tables about one head each begin with."""

    layer: int
    head: int

    @property
    def at(self) -> Head:
        return self.layer, self.head

    @property
    def name(self) -> str:
        return head_name(self.layer, self.head)


def parse_head(text: str) -> Head:
    """A head as it is shown, L1·H5, or as it is easily typed: L1H5, l1.h5. Raises ValueError."""
    shown = re.sub(r"^(L\d+)[.\-]?H", r"\1·H", text.strip().upper())
    match = re.fullmatch("L([0-9]+)·H([0-9]+)", shown)
    if not match:
        raise ValueError(f"{shown!r} is not a head such as L0·H3")
    return int(match[1]), int(match[2])


def every_head(model: HasHeads) -> list[Head]:
    """All heads, layer by layer."""
    return [(layer, head) for layer in range(model.n_layers) for head in range(model.n_heads)]


def check_head(model: HasHeads, layer: int, head: int) -> None:
    """Raise ValueError for a head that is not there."""
    if not (0 <= layer < model.n_layers and 0 <= head < model.n_heads):
        raise ValueError(
            f"{head_name(layer, head)} is not a head of this model: layers are 0 to "
            f"{model.n_layers - 1}, heads 0 to {model.n_heads - 1}"
        )


def checked_off(off: HeadsOff, shape: HeadShape) -> HeadsOff:
    """The same with each head once, in order.

    Raises ValueError for a head that is not there, a mode that is not known, and for the mode
    `mean` without means of this model's shape.
    """
    for layer, head in off.heads:
        check_head(shape, layer, head)
    if off.mode not in get_args(Mode):
        raise ValueError(f"mode {off.mode!r}; allowed: {', '.join(get_args(Mode))}")
    if off.mode == "mean":
        _check_means(off.means, (shape.n_layers, shape.n_heads, shape.head_dim))
    return replace(off, heads=tuple(sorted(set(off.heads))))


def _check_means(means: HeadMeans | None, shape: tuple[int, int, int]) -> None:
    if means is None:
        raise ValueError("mode 'mean' needs the heads' means over the dev questions (head_means)")
    for values in (means.reading, means.writing):
        if values.shape != shape:
            raise ValueError(f"means of shape {values.shape}; this model's heads need {shape}")
