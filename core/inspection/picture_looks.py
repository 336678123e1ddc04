"""What the networks make of one picture: what they say, what lights up, what they need, where
attention looks.

Tensors stop here. Every function takes a picture (28, 28) of 0 to 255; none changes a network.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from core.models.patch_network import PatchNetwork
from core.models.picture_networks import ConvNetwork, Network, as_input, device_of, probabilities
from core.pictures.networks import GRID
from core.pictures.pictures import SIDE, Split
from core.pictures.shifts import DIRECTIONS, SHIFTS, shifted

Picture = NDArray[np.uint8]
Floats = NDArray[np.float32]
COVER, STRIDE = 4, 2  # points a side of what is covered, and points from one place to the next
AFTER = (SIDE - COVER) // STRIDE + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Activations:
    """What a convolutional network makes of a picture, after each ReLU, and what it has learned.

    first (8, h, w) and second (16, h, w) before halving, `kept` after it: where a stride halves,
    both are the same. filters (8, 3, 3) and second_filters (16, 8, 3, 3) are parameters.
    """

    first: Floats
    first_kept: Floats
    second: Floats
    second_kept: Floats
    wide: Floats
    narrow: Floats
    filters: Floats
    second_filters: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Occlusion:
    """How likely one class still is with 4 x 4 points in black, at every second place (13, 13).

    drop: `probability` of the whole picture less that of the covered one, at each place. by_point
    (28, 28): the mean of the drops of the covers that hide a point.
    """

    label: int
    probability: float
    drop: Floats
    by_point: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionMaps:
    """Where the class token looks: raw weights by layer and head, no rollout of layers.

    weights (layers, heads, 50, 50) of all tokens, the class token first; rows sum to 1. patches
    (layers, heads, 7, 7) and itself (layers, heads) are its row. The proof: how far the logits that
    these weights make are from those of the fused pass, and how far rows are from 1, at most.
    """

    weights: Floats
    patches: Floats
    itself: Floats
    replay_max_difference: float
    row_sum_max_error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What a network says of many pictures: the likeliest class of each, and how likely it is."""

    predicted: NDArray[np.int64]
    probability: Floats
    labels: NDArray[np.int64]

    @property
    def wrong(self) -> NDArray[np.int64]:
        """Numbers of the pictures that it gets wrong, those it is surest of first."""
        found = np.flatnonzero(self.predicted != self.labels)
        return found[np.argsort(-self.probability[found], kind="stable")]


def said_of(networks: Mapping[str, Network], picture: Picture) -> dict[str, Floats]:
    """By network: how likely each class is; they sum to 1."""
    return {name: probabilities(network, picture[None])[0] for name, network in networks.items()}


def said_when_shifted(network: Network, picture: Picture) -> Floats:
    """(shifts, directions, classes) in the order of SHIFTS and DIRECTIONS: how likely each is."""
    moved = [
        shifted(picture, shift * rows, shift * columns)
        for shift in SHIFTS
        for rows, columns in DIRECTIONS.values()
    ]
    return probabilities(network, np.stack(moved)).reshape(len(SHIFTS), len(DIRECTIONS), -1)


@torch.inference_mode()
def activations(network: ConvNetwork, picture: Picture) -> Activations:
    """One pass."""
    maps = network.maps(as_input(picture[None]).to(device_of(network)))
    return Activations(
        **{name: _array(getattr(maps, name)[0]) for name in maps._fields if name != "logits"},
        filters=_array(network.first.weight[:, 0]),
        second_filters=_array(network.second.weight),
    )


def occlusion(network: Network, picture: Picture, *, label: int | None = None) -> Occlusion:
    """170 pictures in one pass. `label` is the class that is asked about, or the likeliest one.

    Raises ValueError for a class that there is none of.
    """
    covered = np.repeat(picture[None], AFTER * AFTER + 1, 0)
    places = [(STRIDE * row, STRIDE * column) for row in range(AFTER) for column in range(AFTER)]
    for number, (row, column) in enumerate(places, 1):
        covered[number, row : row + COVER, column : column + COVER] = 0
    likely = probabilities(network, covered)
    if label is not None and not 0 <= label < likely.shape[1]:
        raise ValueError(f"class {label} is none; 0 to {likely.shape[1] - 1} are known")
    asked = int(likely[0].argmax()) if label is None else label
    drop = likely[0, asked] - likely[1:, asked]
    total, count = np.zeros((SIDE, SIDE)), np.zeros((SIDE, SIDE))
    for (row, column), lost in zip(places, drop, strict=True):
        total[row : row + COVER, column : column + COVER] += lost
        count[row : row + COVER, column : column + COVER] += 1
    return Occlusion(
        label=asked,
        probability=float(likely[0, asked]),
        drop=drop.reshape(AFTER, AFTER),
        by_point=(total / count).astype(np.float32),
    )


@torch.inference_mode()
def attention_maps(network: PatchNetwork, picture: Picture) -> AttentionMaps:
    """Two passes: the fused one, and the one whose weights are shown."""
    given = as_input(picture[None]).to(device_of(network))
    shown, logits = network.weights(given)
    weights = _array(shown[0])
    return AttentionMaps(
        weights=weights,
        patches=weights[:, :, 0, 1:].reshape(*weights.shape[:2], GRID, GRID),
        itself=weights[:, :, 0, 0],
        replay_max_difference=float((network(given) - logits).abs().max()),
        row_sum_max_error=float(np.abs(weights.sum(-1) - 1).max()),
    )


def answers(network: Network, split: Split) -> Answers:
    """Cost: one pass over all pictures of the split."""
    likely = probabilities(network, split.pictures)
    return Answers(predicted=likely.argmax(1), probability=likely.max(1), labels=split.labels)


def _array(tensor: torch.Tensor) -> Floats:
    return np.ascontiguousarray(tensor.detach().float().cpu().numpy())
