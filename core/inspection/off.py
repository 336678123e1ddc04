"""Words for heads that are switched off: which, and what takes their place. No torch here."""

from dataclasses import dataclass
from typing import Literal

from core.inspection.record import Array

Head = tuple[int, int]
Mode = Literal["zero", "mean"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadMeans:
    """What each head gives on average, (n_layers, n_heads, d) each.

    Taken apart, because a head mostly does something else while a question is read (the rows
    before its ⁇) than while the answer is written (from ⁇ on).
    """

    reading: Array
    writing: Array
