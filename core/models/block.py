"""What every layer of a GPT is, and the layer whose queries meet keys.

Each can be stopped between `heads` and `merge`. Pre-LN, GELU, biases everywhere (Radford et al.
2019; minGPT).
"""

from abc import ABC, abstractmethod

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.attention import short_convolution
from core.attention.rotary import rotate
from core.models.config import GPTConfig
from core.models.heads import DotHeads, Heads
from core.models.seam import Stream


class Block(nn.Module, ABC):
    """x + attention(LN(x)), then x + MLP(LN(x))."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.n_heads, width = config.n_heads, config.width
        self.norm_attention, self.norm_mlp = nn.LayerNorm(width), nn.LayerNorm(width)
        self.add_scoring(config)
        self.value, self.project = nn.Linear(width, width), nn.Linear(width, width)
        self.mlp_in, self.mlp_out = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.approximate = "tanh" if config.activation == "gelu-tanh" else "none"

    @abstractmethod
    def add_scoring(self, config: GPTConfig) -> None:
        """Register the parameters that the scores are made of."""

    def draw(self, generator: torch.Generator | None) -> None:
        """Draw what is random and not learned; most blocks have nothing of the kind."""

    @abstractmethod
    def heads(self, target: Stream, source: Stream) -> Heads:
        """What the heads work on when `target` looks at `source`; mostly they are the same."""

    def merge(self, x: Tensor, output: Tensor) -> Tensor:
        """Add the heads' output (B, H, L, d) and then the MLP to the residual stream."""
        x = x + self.project(output.transpose(1, 2).flatten(2))
        return x + self.mlp(x)

    def mlp(self, x: Tensor) -> Tensor:
        """What the MLP adds to a residual stream that the attention has been added to."""
        hidden = F.gelu(self.mlp_in(self.norm_mlp(x)), approximate=self.approximate)
        return self.mlp_out(hidden)

    def read(self, target: Stream, source: Stream) -> tuple[Tensor, Tensor]:
        """What the attention reads of both streams, under its norm; once if they are one."""
        looking = self._read(target)
        return looking, looking if source is target else self._read(source)

    def by_head(self, x: Tensor) -> Tensor:
        """(B, L, width) to (B, H, L, d)."""
        return torch.unflatten(x, -1, (self.n_heads, -1)).transpose(1, 2)

    def project_by_head(self, output: Tensor) -> Tensor:
        """Each head's own part of the residual stream: (B, H, L, d) to (B, H, L, width).

        The sum over heads plus the bias of `project` is the attention block's output.
        """
        matrices = torch.unflatten(self.project.weight, 1, (self.n_heads, -1))  # (width, H, d)
        return torch.einsum("bhld,whd->bhlw", output, matrices)

    def _read(self, stream: Stream) -> Tensor:
        return self.norm_attention(stream.x) if stream.under_norm else stream.x


class DotBlock(Block):
    """Queries meet keys; with two streams it is cross-attention, under one norm for both.

    Of a model with a short convolution queries, keys and values are made of tokens that have taken
    up a little of those right before them.
    """

    def add_scoring(self, config: GPTConfig) -> None:
        self.rotary = config.positions == "rotary"
        self.query, self.key = (nn.Linear(config.width, config.width) for _ in range(2))
        n = config.short_convolution
        self.nearby = nn.Parameter(torch.zeros(1, n, config.width)) if n else None

    def heads(self, target: Stream, source: Stream) -> DotHeads:
        return self.dots(*self.read(target, source), target, source)

    def read(self, target: Stream, source: Stream) -> tuple[Tensor, Tensor]:
        looking, seen = super().read(target, source)
        if self.nearby is None:
            return looking, seen
        mixed = short_convolution.mix(looking, self.nearby[0])
        return mixed, mixed  # it has no latents: both are one stream

    def dots(self, looking: Tensor, seen: Tensor, target: Stream, source: Stream) -> DotHeads:
        """Queries of what looks, keys and values of what is seen, both (B, L, width)."""
        query, key = self.by_head(self.query(looking)), self.by_head(self.key(seen))
        if self.rotary:
            query, key = rotate(query, target.positions), rotate(key, source.positions)
        return DotHeads(
            query=query,
            key=key,
            value=self.by_head(self.value(seen)),
            rows=target.positions,
            columns=source.positions,
        )
