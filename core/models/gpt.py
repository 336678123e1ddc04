"""A GPT that is written to be looked at: each block can be stopped between its halves.

Pre-LN, GELU, untied head, biases everywhere but in the head (Radford et al. 2019; minGPT).
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.attention import sdpa
from core.attention.rotary import rotate
from core.models.config import GPTConfig


class Heads(NamedTuple):
    """query, key, value of one layer, each (B, H, L, d); positions already in query and key."""

    query: Tensor
    key: Tensor
    value: Tensor


class Block(nn.Module):
    """x + attention(LN(x)), then x + MLP(LN(x))."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.n_heads, self.rotary = config.n_heads, config.positions == "rotary"
        width = config.width
        self.norm_attention, self.norm_mlp = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.project = nn.Linear(width, width)
        self.mlp_in, self.mlp_out = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def heads(self, x: Tensor, positions: Tensor) -> Heads:
        """What the attention of this layer works on; x is (B, L, width)."""
        normed = self.norm_attention(x)
        query, key, value = (
            layer(normed).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        if self.rotary:
            query, key = rotate(query, positions), rotate(key, positions)
        return Heads(query, key, value)

    def merge(self, x: Tensor, output: Tensor) -> Tensor:
        """Add the heads' output (B, H, L, d) and then the MLP to the residual stream."""
        x = x + self.project(output.transpose(1, 2).flatten(2))
        return x + self.mlp_out(F.gelu(self.mlp_in(self.norm_mlp(x))))

    def project_by_head(self, output: Tensor) -> Tensor:
        """Each head's own part of the residual stream: (B, H, L, d) to (B, H, L, width).

        The sum over heads plus the bias of `project` is the attention block's output.
        """
        matrices = torch.unflatten(self.project.weight, 1, (self.n_heads, -1))  # (width, H, d)
        return torch.einsum("bhld,whd->bhlw", output, matrices)


class GPT(nn.Module):
    """Token ids (B, L) to logits (B, L, vocabulary). Inputs are at most block_size long."""

    def __init__(self, config: GPTConfig, *, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.config = config
        self.tokens = nn.Embedding(config.vocabulary_size, config.width)
        learned = config.positions == "learned"
        self.positions = (
            nn.Parameter(torch.zeros(1, config.block_size, config.width)) if learned else None
        )
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.n_layers))
        self.norm = nn.LayerNorm(config.width)
        self.head = nn.Linear(config.width, config.vocabulary_size, bias=False)
        initialise(self, generator)

    @property
    def layers(self) -> list[Block]:
        return [block for block in self.blocks if isinstance(block, Block)]

    @property
    def n_parameters(self) -> int:
        return sum(parameter.numel() for parameter in self.parameters())

    def embed(self, ids: Tensor, *, start: int = 0) -> tuple[Tensor, Tensor]:
        """The residual stream before the first block (B, L, width), and the positions (L,).

        Raises ValueError for a sequence beyond the block.
        """
        end = start + ids.shape[1]
        if end > self.config.block_size:
            raise ValueError(f"{end} tokens are longer than the block of {self.config.block_size}")
        x = self.tokens(ids)
        if self.positions is not None:
            x = x + self.positions[:, start:end]
        return x, torch.arange(start, end, device=ids.device)

    def logits(self, x: Tensor) -> Tensor:
        """Residual stream after the last block to logits."""
        return self.head(self.norm(x))

    def forward(self, ids: Tensor) -> Tensor:
        x, positions = self.embed(ids)
        for block in self.layers:
            x = block.merge(x, sdpa.attend(*block.heads(x, positions)))
        return self.logits(x)


def initialise(model: GPT, generator: torch.Generator | None) -> None:
    """Normal(0, 0.02) for matrices and embeddings, zero for biases, one for norms (GPT-2)."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.ndim == 2:
                parameter.normal_(0.0, 0.02, generator=generator)
            elif name.endswith("bias"):
                parameter.zero_()
