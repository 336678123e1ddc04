"""The layers of a GPT, one class a mechanism (those with a state: core.models.state_blocks).

A block with linear attention is a softmax block in all but what becomes of query and key:

    elu       φ(x) = elu(x) + 1
    favor     FAVOR+, positive orthogonal random features, the same for the heads of a layer
    taylor    the Taylor polynomial of exp(q · k / √d), n_terms of it, each product once

FAVOR+'s features are a buffer: drawn when the model is made, by its generator, and then stored in
every checkpoint like a parameter, so that a loaded model is the model that was trained. Nothing
draws them again. Rotary positions turn query and key before the map.
"""

from abc import abstractmethod

import torch
from torch import Tensor, nn

from core.attention import favor, taylor
from core.attention.feature_maps import FeatureMap, elu
from core.models.block import Block, DotBlock
from core.models.config import GPTConfig
from core.models.heads import LinearHeads, SynthesizerHeads
from core.models.seam import Stream
from core.models.state_blocks import (
    BasedBlock,
    DeltaBlock,
    GateBlock,
    GatedDeltaBlock,
    WindowBlock,
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
    "delta": DeltaBlock,
    "gated-delta": GatedDeltaBlock,
    "gate": GateBlock,
    "window": WindowBlock,
    "based": BasedBlock,
}
