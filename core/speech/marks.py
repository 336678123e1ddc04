"""What was said and what was heard, letter under letter, with a mark at every edit."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

NOTHING = "·"  # stands where the other text has a letter more
Mark = Literal[" ", "x", "+", "-"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """Three lines of one length. marks: x another letter, + one too many, - one that is missing."""

    said: str
    heard: str
    marks: str

    @property
    def edits(self) -> int:
        return len(self.marks) - self.marks.count(" ")

    @property
    def n_said(self) -> int:
        return sum(letter != NOTHING for letter in self.said)

    @property
    def error(self) -> float | None:
        """Edits to a letter that was said; None where nothing was."""
        return self.edits / self.n_said if self.n_said else None


def marked(said: str, heard: str) -> Marked:
    """One alignment with the fewest edits; of equals that with the most letters under letters.

    Cost: the product of both lengths.
    """
    costs = _costs(said, heard)
    i, j = len(said), len(heard)
    found: list[tuple[str, str, Mark]] = []
    while i or j:
        if i and j and costs[i, j] == costs[i - 1, j - 1] + (said[i - 1] != heard[j - 1]):
            i, j = i - 1, j - 1
            found.append((said[i], heard[j], " " if said[i] == heard[j] else "x"))
        elif j and costs[i, j] == costs[i, j - 1] + 1:
            j -= 1
            found.append((NOTHING, heard[j], "+"))
        else:
            i -= 1
            found.append((said[i], NOTHING, "-"))
    lines = ["".join(part) for part in zip(*found[::-1], strict=True)] or ["", "", ""]
    return Marked(said=lines[0], heard=lines[1], marks=lines[2])


def _costs(said: str, heard: str) -> NDArray[np.int64]:
    """(len(said) + 1, len(heard) + 1): the edits between all beginnings."""
    costs = np.add.outer(np.arange(len(said) + 1), np.arange(len(heard) + 1))
    for i, letter in enumerate(said, 1):
        for j, other in enumerate(heard, 1):
            least = min(costs[i - 1, j], costs[i, j - 1]) + 1
            costs[i, j] = min(least, costs[i - 1, j - 1] + (letter != other))
    return costs
