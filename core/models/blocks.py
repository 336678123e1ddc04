"""The layers of a GPT, one class a mechanism: each can be stopped between `heads` and `merge`.

Pre-LN, GELU, biases everywhere (Radford et al. 2019; minGPT). A block with linear attention is a
softmax block in all but what becomes of query and key:

    elu       φ(x) = elu(x) + 1
    favor     FAVOR+, positive orthogonal random features, the same for the heads of a layer
    taylor    the Taylor polynomial of exp(q · k / √d), n_terms of it, each product once

FAVOR+'s features are a buffer: drawn when the model is made, by its generator, and then stored in
every checkpoint like a parameter, so that a loaded model is the model that was trained. Nothing
draws them again. Rotary positions turn query and key before the map.
"""

from abc import ABC, abstractmethod

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.attention import favor, taylor
from core.attention.feature_maps import FeatureMap, elu
from core.attention.rotary import rotate
from core.models.config import GPTConfig
from core.models.heads import DotHeads, Heads, LinearHeads, SynthesizerHeads
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
    """Queries meet keys; with two streams it is cross-attention, under one norm for both."""

    def add_scoring(self, config: GPTConfig) -> None:
        self.rotary = config.positions == "rotary"
        self.query, self.key = (nn.Linear(config.width, config.width) for _ in range(2))

    def heads(self, target: Stream, source: Stream) -> DotHeads:
        looking, seen = self.read(target, source)
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


class SynthesizerBlock(Block):
    """Each token writes its row of scores alone: A is `first`, B `second`, b₂ `offset`."""

    def add_scoring(self, config: GPTConfig) -> None:
        own = (config.n_heads,) if config.attention == "dense-synthesizer" else ()
        one = (config.n_heads, 1) if own else ()
        self.first = nn.Linear(config.width, config.width)
        self.second = nn.Parameter(torch.zeros(*own, config.head_dim, config.longest_input))
        self.offset = nn.Parameter(torch.zeros(*one, config.longest_input))

    def heads(self, target: Stream, source: Stream) -> SynthesizerHeads:
        looking, seen = self.read(target, source)
        return SynthesizerHeads(
            hidden=self.by_head(self.first(looking)).relu(),
            second=self.second,
            offset=self.offset,
            value=self.by_head(self.value(seen)),
            rows=target.positions,
            columns=source.positions,
        )


class LinearBlock(DotBlock):
    """Queries and keys meet through a feature map."""

    @property
    @abstractmethod
    def feature_map(self) -> FeatureMap:
        """The map of this layer."""

    def heads(self, target: Stream, source: Stream) -> LinearHeads:
        dots = super().heads(target, source)
        return LinearHeads(
            query=dots.query,
            key=dots.key,
            value=dots.value,
            rows=dots.rows,
            columns=dots.columns,
            feature_map=self.feature_map,
        )


class EluBlock(LinearBlock):
    """The map has nothing of its own."""

    @property
    def feature_map(self) -> FeatureMap:
        return elu


class FavorBlock(LinearBlock):
    """The map's random rows W (n_features, head_dim) are a buffer."""

    projection: Tensor

    def add_scoring(self, config: GPTConfig) -> None:
        super().add_scoring(config)
        self.register_buffer("projection", torch.zeros(config.n_features, config.head_dim))

    def draw(self, generator: torch.Generator | None) -> None:
        """Raises ValueError from core.attention.favor; without a generator torch's own is used."""
        if self.projection.is_meta:  # its shape alone is asked for
            return
        n_features, head_dim = self.projection.shape
        drawn = favor.draw_projection(
            n_features, head_dim, generator=generator or torch.default_generator
        )
        self.projection.copy_(drawn)

    @property
    def feature_map(self) -> FeatureMap:
        return favor.feature_map(self.projection)


class TaylorBlock(LinearBlock):
    """The map's tables follow from the sizes."""

    def add_scoring(self, config: GPTConfig) -> None:
        super().add_scoring(config)
        with torch.device("cpu"):  # tables are no parameters: they are needed on meta, too
            self._map = taylor.feature_map(config.head_dim, config.n_terms)

    @property
    def feature_map(self) -> FeatureMap:
        return self._map


# The block of a mechanism that a model can have.
BLOCKS: dict[str, type[Block]] = {
    "softmax": DotBlock,
    "synthesizer": SynthesizerBlock,
    "dense-synthesizer": SynthesizerBlock,
    "elu": EluBlock,
    "favor": FavorBlock,
    "taylor": TaylorBlock,
}
