"""Networks that say what a picture of 28 x 28 grey points shows: the convolutional one, and how
all of them are made and asked.

    conv 3x3 1→8, ReLU, halve, conv 3x3 8→16, ReLU, halve, 16·s² → 320 → 120 → classes

What halves is max-pooling over blocks of 2 x 2, or a stride of 2 in the convolution before it,
which keeps the first number of each block in the place of the largest. With `padding` 1 the first
convolution keeps 28 points a side and s is 6 (576 numbers to 320), with 0 it leaves 26 and s is 5
(400). Neither pooling nor a stride has parameters: for four classes both nets have 224,892 with the
padding and 168,572 without.

Why reports disagree: a bare stride of 2 keeps the row that has no partner in a block, too. Without
padding it makes s 6, so that 168,572 "with pooling" beside 224,892 "without" are two nets without
padding and of different size; 224,892 for both is padding 1. Here the row without a partner is left
out, as pooling leaves it out: the two nets differ in nothing but what they keep of a block.
"""

from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from core.models.patch_network import PatchNetwork
from core.pictures.networks import PATCHES, POOLING, check_network
from core.pictures.pictures import SIDE

FIRST, SECOND, WIDE, NARROW = 8, 16, 320, 120
AT_ONCE = 500  # pictures in one pass where nothing is learned


class Maps(NamedTuple):
    """What a convolutional network makes of B pictures, after each ReLU.

    `first` (B, 8, h, w) and `second` (B, 16, h, w) are what the convolutions give, `first_kept` and
    `second_kept` what is left of them after pooling: the same tensors where a stride has done it.
    """

    first: Tensor
    first_kept: Tensor
    second: Tensor
    second_kept: Tensor
    wide: Tensor  # (B, 320)
    narrow: Tensor  # (B, 120)
    logits: Tensor  # (B, classes)


class ConvNetwork(nn.Module):
    """The network of the formula above. Its first parameters are those of torch's global seed."""

    def __init__(self, n_classes: int, *, padding: int = 0, pooling: bool = True) -> None:
        super().__init__()
        self.padding, self.pooling = padding, pooling
        self.first = nn.Conv2d(1, FIRST, 3)
        self.second = nn.Conv2d(FIRST, SECOND, 3)
        self.wide = nn.Linear(SECOND * left_side(padding) ** 2, WIDE)
        self.narrow = nn.Linear(WIDE, NARROW)
        self.classes = nn.Linear(NARROW, n_classes)

    def forward(self, pictures: Tensor) -> Tensor:
        """(B, 1, 28, 28) in −1..1 to logits (B, classes)."""
        return self.maps(pictures).logits

    def maps(self, pictures: Tensor) -> Maps:
        """The same pass with all that it makes on its way."""
        first, first_kept = self._halve(self.first, pictures, self.padding)
        second, second_kept = self._halve(self.second, first_kept, 0)
        wide = F.relu(self.wide(second_kept.flatten(1)))
        narrow = F.relu(self.narrow(wide))
        logits = self.classes(narrow)
        return Maps(first, first_kept, second, second_kept, wide, narrow, logits)

    def _halve(self, convolve: nn.Conv2d, x: Tensor, padding: int) -> tuple[Tensor, Tensor]:
        if self.pooling:
            found = F.relu(F.conv2d(x, convolve.weight, convolve.bias, padding=padding))
            return found, F.max_pool2d(found, 2)
        found = F.relu(F.conv2d(x, convolve.weight, convolve.bias, stride=2, padding=padding))
        half = (x.shape[-1] + 2 * padding - 2) // 2  # whole blocks alone
        found = found[..., :half, :half]
        return found, found


Network = ConvNetwork | PatchNetwork


def left_side(padding: int) -> int:
    """Points a side of what the second halving leaves."""
    return ((SIDE + 2 * padding - 2) // 2 - 2) // 2


def make_network(kind: str, n_classes: int, *, padding: int = 0, seed: int = 0) -> Network:
    """A network with its first parameters by a seed; torch's global one is left as it was.

    kind: a name of core.pictures.networks. Raises ValueError for another, and for other padding.
    """
    check_network(kind, padding)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        if kind == PATCHES:
            return PatchNetwork(n_classes)
        return ConvNetwork(n_classes, padding=padding, pooling=kind == POOLING)


def n_parameters(network: nn.Module) -> int:
    """Numbers that are learned."""
    return sum(parameter.numel() for parameter in network.parameters())


def device_of(network: nn.Module) -> torch.device:
    """Where its parameters are, and where pictures go."""
    return next(network.parameters()).device


def as_input(pictures: NDArray[np.uint8]) -> Tensor:
    """(n, 28, 28) of 0 to 255 to (n, 1, 28, 28) in −1..1, around which training begins faster."""
    return torch.from_numpy(pictures.astype(np.float32)).div(127.5).sub(1).unsqueeze(1)


@torch.inference_mode()
def logits_of(network: nn.Module, pictures: NDArray[np.uint8]) -> Tensor:
    """(n, classes), in passes of AT_ONCE pictures."""
    device = device_of(network)
    parts = [network(as_input(part).to(device)) for part in _parts(pictures)]
    return torch.cat(parts)


def probabilities(network: nn.Module, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
    """(n, classes): how likely each class is to the network; rows sum to 1."""
    return torch.softmax(logits_of(network, pictures).float(), -1).cpu().numpy()


def _parts(pictures: NDArray[np.uint8]) -> list[NDArray[np.uint8]]:
    return [pictures[start : start + AT_ONCE] for start in range(0, len(pictures), AT_ONCE)]
