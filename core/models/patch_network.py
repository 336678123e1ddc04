"""Attention over patches: a Transformer that reads a picture as 49 patches of 4 x 4 points.

A class token stands in front of them and the classes are read from it alone (Dosovitskiy et al.
2021). Learned positions, pre-LN, blocks as a GPT has them, but nothing is masked: every token looks
at every other. 155,082 parameters for ten classes, 8 % fewer than the convolutional network.

Like every model it says how its heads attend, and keeps nothing of a run (core.models.seam).
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.models.blocks import DotBlock
from core.models.config import GPTConfig
from core.models.heads import DotHeads, Heads
from core.models.seam import Attend, Stream
from core.pictures.networks import GRID, N_PATCHES, PATCH

WIDTH, N_LAYERS, N_HEADS = 64, 3, 4
FIRST_DEVIATION = 0.02  # of positions and class token, before anything is learned


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenHeads(DotHeads):
    """Softmax over query · key in which no pair is masked; the output is fused."""

    @property
    def masked(self) -> Tensor:
        return torch.zeros(
            len(self.rows), len(self.columns), dtype=torch.bool, device=self.value.device
        )

    def output(self) -> Tensor:
        return F.scaled_dot_product_attention(self.query, self.key, self.value)


class OpenBlock(DotBlock):
    """A block whose tokens all look at each other."""

    def heads(self, target: Stream, source: Stream) -> OpenHeads:
        dots = super().heads(target, source)
        return OpenHeads(**{field.name: getattr(dots, field.name) for field in fields(dots)})


class PatchNetwork(nn.Module):
    """The network. Its first parameters are those of torch's global seed."""

    def __init__(
        self,
        n_classes: int,
        *,
        width: int = WIDTH,
        n_layers: int = N_LAYERS,
        n_heads: int = N_HEADS,
    ) -> None:
        super().__init__()
        sizes = GPTConfig(
            vocabulary_size=n_classes,
            block_size=1 + N_PATCHES,
            n_layers=n_layers,
            n_heads=n_heads,
            width=width,
        )
        self.patch = nn.Linear(PATCH * PATCH, width)
        self.class_token = nn.Parameter(FIRST_DEVIATION * torch.randn(1, 1, width))
        self.positions = nn.Parameter(FIRST_DEVIATION * torch.randn(1, 1 + N_PATCHES, width))
        self.blocks = nn.ModuleList(OpenBlock(sizes) for _ in range(n_layers))
        self.norm = nn.LayerNorm(width)
        self.classes = nn.Linear(width, n_classes)
        self.n_layers, self.n_heads = n_layers, n_heads

    def forward(self, pictures: Tensor) -> Tensor:
        """(B, 1, 28, 28) in −1..1 to logits (B, classes)."""
        return self.run(pictures, lambda _layer, heads: heads.output())

    def run(self, pictures: Tensor, attend: Attend) -> Tensor:
        """The same, every output of heads by `attend`."""
        x = torch.cat([self.class_token.expand(len(pictures), -1, -1), self.embed(pictures)], 1)
        x = x + self.positions
        places = torch.arange(1 + N_PATCHES, device=x.device)
        for layer, block in enumerate(cast("Iterable[OpenBlock]", self.blocks)):
            stream = Stream(x, places)
            x = block.merge(x, attend(layer, block.heads(stream, stream)))
        return self.classes(self.norm(x[:, 0]))

    def embed(self, pictures: Tensor) -> Tensor:
        """(B, 49, width): the patches row by row, before their positions."""
        rows = pictures.reshape(-1, GRID, PATCH, GRID, PATCH)
        return self.patch(rows.transpose(2, 3).reshape(-1, N_PATCHES, PATCH * PATCH))

    def weights(self, pictures: Tensor) -> tuple[Tensor, Tensor]:
        """Weights (B, layers, heads, 50, 50), rows sum to 1, and the logits that they make.

        Explicit softmax in float32, and what goes on in the network are these weights times the
        values: that the logits are those of `forward` proves that the weights shown are those used.
        """
        shown: list[Tensor] = []

        def attend(_layer: int, heads: Heads) -> Tensor:
            shown.append(heads.weights(heads.scores()))
            return shown[-1].to(heads.value.dtype) @ heads.value

        logits = self.run(pictures, attend)
        return torch.stack(shown, 1), logits
