"""A grey picture of any size laid out as MNIST's digits are: white on black, in a box of 20 x 20,
its centre of mass in the middle of 28 x 28.
"""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from core.pictures.pictures import SIDE

BOX = 20
FEWEST_GREYS = 16  # between the border and what stands out from it most
_FAINT, _FULL = 0.15, 0.85  # shares of that: what lies below is paper, what lies above is ink
Grey = NDArray[np.float64]


def fitted(grey: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """(SIDE, SIDE) of (height, width): white is what differs most from the border, to either side.

    Raises ValueError if nothing stands out from the border.
    """
    ink = _ink(grey.astype(np.float64))
    box = _shrunk(_cropped(ink))
    height, width = box.shape
    top, left = _corner(box)
    picture = np.zeros((SIDE, SIDE))
    picture[top : top + height, left : left + width] = box
    return np.rint(255 * picture).astype(np.uint8)


def _ink(grey: Grey) -> Grey:
    """Between 0 for the border's own grey and 1 for what stands out from it most."""
    border = np.concatenate([grey[0], grey[-1], grey[:, 0], grey[:, -1]])
    paper = float(np.median(border))
    darker, lighter = paper - float(grey.min()), float(grey.max()) - paper
    ink, most = (paper - grey, darker) if darker > lighter else (grey - paper, lighter)
    if most < FEWEST_GREYS:
        raise ValueError(
            "nothing stands out in the picture: draw light on dark or dark on light, with room "
            "around it"
        )
    return np.clip((ink / most - _FAINT) / (_FULL - _FAINT), 0, 1)


def _cropped(ink: Grey) -> Grey:
    rows, columns = np.flatnonzero(ink.max(axis=1) > 0.5), np.flatnonzero(ink.max(axis=0) > 0.5)
    return ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


def _shrunk(ink: Grey) -> Grey:
    """The longer side BOX points long, averaged over what falls into one."""
    height, width = ink.shape
    scale = BOX / max(height, width)
    size = (max(1, round(scale * width)), max(1, round(scale * height)))
    image = Image.fromarray(ink.astype(np.float32))
    small = np.asarray(image.resize(size, Image.Resampling.BICUBIC), np.float64)
    return np.clip(small / max(small.max(), 1e-6), 0, 1)


def _corner(box: Grey) -> tuple[int, int]:
    """Of the box in the picture, so that the centre of mass lies in the middle, if it has room."""
    height, width = box.shape
    top = round((SIDE - 1) / 2 - _middle(box.sum(axis=1)))
    left = round((SIDE - 1) / 2 - _middle(box.sum(axis=0)))
    return min(max(top, 0), SIDE - height), min(max(left, 0), SIDE - width)


def _middle(masses: Grey) -> float:
    """Where a row of masses is in balance."""
    return float(np.dot(np.arange(len(masses)), masses) / masses.sum())
