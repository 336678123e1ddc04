"""A GPT that is written to be looked at: whoever runs it says how the heads attend.

Untied head without bias (minGPT). The variants differ in their blocks and in what looks at what.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from core.attention.perceiver import latent_positions
from core.models.blocks import BLOCKS, Block, Stream
from core.models.config import GPTConfig
from core.models.heads import Heads

# Layer number and heads to their output (B, H, L, d).
Attend = Callable[[int, Heads], Tensor]
# Layer number, heads and their output to what goes on in its place: the input of the projection.
Change = Callable[[int, Heads, Tensor], Tensor]
# Layer number and the residual stream after that layer to what goes on in its place.
Tap = Callable[[int, Stream], Stream]


class GPT(nn.Module):
    """Token ids (B, L) to logits (B, L, vocabulary). Inputs have at most longest_input tokens."""

    def __init__(self, config: GPTConfig, *, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.config, width = config, config.width
        self.tokens = nn.Embedding(config.vocabulary_size, width)
        learned, n_latents = config.positions == "learned", config.n_latents
        self.positions = nn.Parameter(torch.zeros(1, config.block_size, width)) if learned else None
        self.latents = nn.Parameter(torch.zeros(1, n_latents, width)) if n_latents else None
        kind = BLOCKS[config.attention]
        self.blocks = nn.ModuleList(kind(config) for _ in range(config.n_layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, config.vocabulary_size, bias=False)
        initialise(self, generator)

    @property
    def layers(self) -> list[Block]:
        return [block for block in self.blocks if isinstance(block, Block)]

    @property
    def n_parameters(self) -> int:
        return sum(parameter.numel() for parameter in self.parameters())

    def embed(self, ids: Tensor, *, start: int = 0) -> Stream:
        """The tokens before the first block; the first of them stands at position `start`.

        Raises ValueError for a sequence that is too long.
        """
        end, longest = start + ids.shape[1], self.config.longest_input
        if end > self.config.block_size:
            raise ValueError(f"{end} tokens are longer than the block of {self.config.block_size}")
        if end > longest:
            raise ValueError(f"{end} tokens are more than the {longest} columns of the Synthesizer")
        x = self.tokens(ids)
        if self.positions is not None:
            x = x + self.positions[:, start:end]
        return Stream(
            x,
            torch.arange(start, end, device=ids.device),
            under_norm=self.config.latent_norm == "both",
        )

    def run(
        self, ids: Tensor, attend: Attend, *, start: int = 0, tap: Tap = lambda _, stream: stream
    ) -> Tensor:
        """The residual stream after the last block (B, L, width), every output by `attend`.

        With `start` the ids go on from an earlier run, and `attend` must remember what it saw.
        `tap` sees the stream after every layer and says what goes on.
        """
        tokens = self.embed(ids, start=start)
        last = self.config.n_layers - 1
        if self.latents is None:
            for index in range(last + 1):
                tokens = tap(index, self._step(index, tokens, tokens, attend))
            return tokens.x
        stride = self.config.latent_stride
        standing = latent_positions(self.config.n_latents, stride, tokens.positions)
        basis = self.latents[:, standing // stride].expand(len(ids), -1, -1)
        latents = tap(0, self._step(0, Stream(basis, standing), tokens, attend))
        for index in range(1, last):
            latents = tap(index, self._step(index, latents, latents, attend))
        return tap(last, self._step(last, tokens, latents, attend)).x

    def logits(self, x: Tensor) -> Tensor:
        """Residual stream after the last block to logits."""
        return self.head(self.norm(x))

    def forward(self, ids: Tensor) -> Tensor:
        return self.logits(self.run(ids, lambda _, heads: heads.output()))

    def _step(self, index: int, target: Stream, source: Stream, attend: Attend) -> Stream:
        """One layer: `target` looks at `source`."""
        block = self.layers[index]
        output = attend(index, block.heads(target, source))
        kept = target is source or self.config.latent_residual
        x = target.x if kept else torch.zeros_like(target.x)
        return target._replace(x=block.merge(x, output))


def parameter_shapes(config: GPTConfig) -> dict[str, tuple[int, ...]]:
    """Names and shapes of all that a checkpoint stores, without memory for the numbers."""
    with torch.device("meta"):
        state = GPT(config).state_dict()
    return {name: tuple(tensor.shape) for name, tensor in state.items()}


def initialise(model: GPT, generator: torch.Generator | None) -> None:
    """Normal(0, 0.02) for matrices and embeddings, zero for biases, one for norms (GPT-2).

    A Synthesizer's B is uniform within ±0.001, a Perceiver's basis Xavier-uniform (the course).
    Random features are drawn last, once for each layer; from then on they are stored.
    """
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name == "latents":
                nn.init.xavier_uniform_(parameter, generator=generator)
            elif name.endswith(".second"):
                parameter.uniform_(-0.001, 0.001, generator=generator)
            elif parameter.ndim == 2:
                parameter.normal_(0.0, 0.02, generator=generator)
            elif name.endswith("bias"):
                parameter.zero_()
        for block in model.layers:
            block.draw(generator)
