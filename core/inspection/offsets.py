"""Attention by offset: does a head look at a fixed place beside each patch, as a convolution does?

A convolution gives what stands d to the side the same weight everywhere. A head whose weights are
softmax of anything may come to do the same:

    m(d) = mean of the weight that a patch gives to the patch d away from it

over pictures and over all patches that have one there; weights are of what goes to patches, the
class token left out. A head that looks at d alone has m(d) = 1, a uniform one 1/49 everywhere. The
score of a head is the largest (m(d) − 1/49) / (1 − 1/49) over offsets of at most 3 to each side,
which 16 patches at least have: 1 is one fixed offset, 0 none. numpy but for the pass.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from core.models.patch_network import PatchNetwork
from core.models.picture_networks import AT_ONCE, as_input, device_of
from core.pictures.networks import GRID, N_PATCHES

FARTHEST = GRID - 1
SIDE_OF_OFFSETS = 2 * FARTHEST + 1
SCORED = 3  # an offset to each side that many patches have
FIXED = 0.5  # from this score on a head is said to look at a fixed offset
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Offsets:
    """Mean attention by offset, (layers, heads, 13, 13): [6 + rows, 6 + columns] down and right.

    score (layers, heads) as above; best (layers, heads, 2): the offset that has it. neighbours
    (layers, heads): the mean share of weight on the 3 x 3 patches around and at a patch, which is
    all that a convolution of 3 x 3 sees; a uniform head has `neighbours_uniform`.
    """

    maps: Floats
    score: Floats
    best: NDArray[np.int64]
    neighbours: Floats
    neighbours_uniform: float
    n_pictures: int

    @property
    def fixed(self) -> list[tuple[int, int]]:
        """Layer and head of those whose score is FIXED at least, the highest first."""
        found = [(int(a), int(b)) for a, b in zip(*np.nonzero(self.score >= FIXED), strict=True)]
        return sorted(found, key=lambda head: -float(self.score[head]))


@torch.inference_mode()
def mean_by_offset(network: PatchNetwork, pictures: NDArray[np.uint8]) -> Offsets:
    """Over pictures (n, 28, 28), of which there is one at least. Cost: one pass without fusing."""
    total = np.zeros((network.n_layers, network.n_heads, N_PATCHES, N_PATCHES))
    for start in range(0, len(pictures), AT_ONCE):
        given = as_input(pictures[start : start + AT_ONCE])
        shown, _ = network.weights(given.to(device_of(network)))
        among = shown[..., 1:, 1:].cpu().double()
        total += (among / among.sum(-1, keepdim=True)).sum(0).numpy()
    return offsets_of(total / len(pictures), n_pictures=len(pictures))


def offsets_of(weights: NDArray[np.floating], *, n_pictures: int = 1) -> Offsets:
    """From mean weights among patches (layers, heads, 49, 49), rows of which sum to 1."""
    pair = _offset_of_pairs()
    n_pairs = np.bincount(pair.ravel(), minlength=SIDE_OF_OFFSETS**2)
    heads = weights.reshape(-1, N_PATCHES * N_PATCHES)
    sums = [np.bincount(pair.ravel(), one, SIDE_OF_OFFSETS**2) for one in heads]
    shape = (*weights.shape[:2], SIDE_OF_OFFSETS, SIDE_OF_OFFSETS)
    maps = (np.stack(sums) / n_pairs).reshape(shape)
    score, best = _scores(maps)
    near = _are_neighbours(pair)
    return Offsets(
        maps=maps.astype(np.float32),
        score=score.astype(np.float32),
        best=best,
        neighbours=(weights * near).sum(-1).mean(-1).astype(np.float32),
        neighbours_uniform=float(near.mean()),
        n_pictures=n_pictures,
    )


def _scores(maps: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    inner = slice(FARTHEST - SCORED, FARTHEST + SCORED + 1)
    scored = maps[..., inner, inner].reshape(*maps.shape[:2], -1)
    uniform = 1 / N_PATCHES
    score = np.clip((scored.max(-1) - uniform) / (1 - uniform), 0, 1)
    best = np.stack(np.divmod(scored.argmax(-1), 2 * SCORED + 1), -1) - SCORED
    return score, best.astype(np.int64)


def _offset_of_pairs() -> NDArray[np.int64]:
    """(49, 49): which of 13 x 13 offsets leads from a row's patch to a column's."""
    rows, columns = np.divmod(np.arange(N_PATCHES), GRID)
    down = rows[None] - rows[:, None] + FARTHEST
    right = columns[None] - columns[:, None] + FARTHEST
    return down * SIDE_OF_OFFSETS + right


def _are_neighbours(pair: NDArray[np.int64]) -> NDArray[np.bool_]:
    down, right = np.divmod(pair, SIDE_OF_OFFSETS)
    return (np.abs(down - FARTHEST) <= 1) & (np.abs(right - FARTHEST) <= 1)
