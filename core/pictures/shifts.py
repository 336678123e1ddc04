"""Pictures moved by a few points: what a network says of them is how much it minds. numpy only."""

import numpy as np
from numpy.typing import NDArray

SHIFTS = (0, 1, 2, 3, 4)  # points
DIRECTIONS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}  # rows, columns


def shifted(pictures: NDArray[np.uint8], rows: int, columns: int) -> NDArray[np.uint8]:
    """(..., h, w) moved down and to the right, up and left if negative; black comes in behind."""
    moved = np.zeros_like(pictures)
    to_rows, from_rows = _slices(rows, pictures.shape[-2])
    to_columns, from_columns = _slices(columns, pictures.shape[-1])
    moved[..., to_rows, to_columns] = pictures[..., from_rows, from_columns]
    return moved


def _slices(by: int, side: int) -> tuple[slice, slice]:
    """Where a row ends up, and which rows end up somewhere."""
    by = max(-side, min(side, by))
    return slice(max(by, 0), side + min(by, 0)), slice(max(-by, 0), side - max(by, 0))
