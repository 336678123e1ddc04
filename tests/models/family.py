"""What is to be known of a family of transformers, and expected, when a tiny model of it is opened.

Nothing here asks the code that is tested.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor

N_LAYERS, N_HEADS, WIDTH, VOCABULARY, LONGEST = 2, 4, 32, 100, 64
Kind = Literal["decoder", "encoder", "both"]

POST_NORM = "its layers norm or scale what attention and MLP add"
NOT_LINEAR = "its head is no norm and one matrix"
TWO_STREAMS = "an encoder and a decoder have two residual streams"
GATED = "something stands between the heads and their output projection"
NOT_ALL_ATTEND = "some of its blocks have no attention"
FILLS = "an encoder fills [MASK] and writes no text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A family and one tiny model of it.

    blocks: paths of blocks with their output projections, in the order in which they run; n_layers
    of each attend. windows: how far each layer looks, None for all. sinks: where each layer's sinks
    stand. cannot: how the sentences begin that are to be read.
    """

    name: str
    kind: Kind
    sizes: Mapping[str, Any]
    blocks: tuple[tuple[str, tuple[str, ...]], ...]
    model_type: str = ""
    n_layers: int = N_LAYERS
    keeps_past: bool = True
    n_kv_heads: int = N_HEADS
    head_dim: int = WIDTH // N_HEADS
    windows: tuple[int | None, ...] = (None, None)
    sinks: str = ""
    cannot: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def projections(self) -> tuple[str, ...]:
        """The path of W_O of each layer."""
        return tuple(
            f"{block}.{inside}".format(layer)
            for block, insides in self.blocks
            for layer in range(self.n_layers)
            for inside in insides
        )

    @property
    def kinds(self) -> tuple[str, ...]:
        if self.kind == "both":
            return ("encoder",) * self.n_layers + ("decoder", "cross") * self.n_layers
        return (self.kind,) * self.n_layers

    def hidden(self, layer: int, n_rows: int, n_columns: int) -> Tensor:
        """(rows, columns): what a row may not look at."""
        kind = self.kinds[layer]
        window = self.windows[layer] if layer < len(self.windows) else None
        ahead = torch.arange(n_columns)[None] - torch.arange(n_rows)[:, None]
        if kind == "cross" or (kind == "encoder" and window is None):
            return torch.zeros(n_rows, n_columns, dtype=torch.bool)
        if kind == "encoder":
            return ahead.abs() > (window or 0)
        return (ahead > 0) | (ahead <= -(window or n_columns))
