"""A batch shared out among processes, so that their gradients add up to that of the whole batch.

Every process makes the whole batch, which follows from seed and place, and takes its rows. What a
loss averages over (tokens that count, rows) is counted in the whole batch: rows differ in length,
and a mean of the shares' means would weigh a token by whose share it is in.
"""

from typing import NamedTuple, Protocol, Self, runtime_checkable

from torch import Tensor


class Whole(NamedTuple):
    """Targets that count and rows, in the whole batch of a share and in the share itself.

    A process without a row of its own takes the first for nothing (`own_rows` is 0), so that all
    have a gradient of every parameter that one of them has it of.
    """

    n_counted: int
    n_rows: int
    own_counted: int
    own_rows: int


@runtime_checkable
class Shareable(Protocol):
    """A batch that several processes can share out."""

    def share(self, part: int, n_parts: int) -> Self:
        """The rows of one of them."""
        ...


def share_of(counts: Tensor, part: int, n_parts: int) -> tuple[slice, Whole]:
    """The rows of one of n_parts; counts (B, L) says which targets count.

    Each takes every n-th: the rows of a batch stand by length, and so each has about as much to do.
    """
    n_rows, n_counted = len(counts), int(counts.sum())
    if part >= n_rows:
        return slice(0, 1), Whole(n_counted, n_rows, 0, 0)
    own = counts[part::n_parts]
    return slice(part, None, n_parts), Whole(n_counted, n_rows, int(own.sum()), len(own))
