"""A GPT that is written to be looked at: whoever runs it says how the heads attend.

The head has no bias. Its numbers are its own (minGPT), or the token embedding's (nanoGPT) if the
configuration says so. The variants differ in their blocks and in what looks at what.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.attention.perceiver import latent_positions
from core.models.blocks import BLOCKS, Block
from core.models.config import GPTConfig
from core.models.seam import Ability, Attend, Readout, Shape, Stream, Tap, straight_on
from core.models.state_blocks import open_gates
from core.models.trained import Trained, readout

MIXED = (
    "no map tells a token from the {} before it: a short convolution mixes them into its query, "
    "key and value"
)


class TiedHead(nn.Module):
    """A head with the numbers of the token embedding; it has none of its own to be stored."""

    def __init__(self, tokens: nn.Embedding) -> None:
        super().__init__()
        self._tokens = (tokens,)  # no submodule: the numbers would be listed twice

    @property
    def weight(self) -> Tensor:
        return self._tokens[0].weight

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight)


class GPT(Trained[GPTConfig]):
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
        untied = nn.Linear(width, config.vocabulary_size, bias=False)
        self.head = TiedHead(self.tokens) if config.tied else untied
        initialise(self, generator)

    @property
    def layers(self) -> list[Block]:
        return [block for block in self.blocks if isinstance(block, Block)]

    @property
    def shape(self) -> Shape:
        config = self.config
        return Shape(
            n_layers=config.n_layers,
            n_heads=config.n_heads,
            n_kv_heads=config.n_heads,
            head_dim=config.head_dim,
            vocabulary_size=config.vocabulary_size,
            longest_input=config.longest_input,
            mechanism=config.attention,
            n_latents=config.n_latents,
            latent_stride=config.latent_stride,
            keeps_past=not config.short_convolution,
            unclear=MIXED.format(config.short_convolution - 1) if config.short_convolution else "",
        )

    @property
    def matrices(self) -> list[nn.Parameter]:
        return [p for p in self.blocks.parameters() if p.ndim == 2]

    @property
    def head_matrix(self) -> Tensor:
        return self.head.weight

    def cannot(self, what: Ability) -> str:
        if what == "lens" and self.config.n_latents:
            return (
                "a Perceiver has no logit lens: its layers but the last write to latents, and the "
                "head of the model was never taught to read those"
            )
        return ""

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
        self,
        inputs: Tensor,
        attend: Attend,
        *,
        source: Tensor | None = None,
        start: int = 0,
        tap: Tap = straight_on,
    ) -> Tensor:
        """The residual stream after the last block (B, L, width), every output by `attend`.

        With `start` the ids go on from an earlier run, and `attend` must remember what it saw.
        `tap` sees the stream after every layer and says what goes on. Raises ValueError for a
        `source`: there is no second stream to look at.
        """
        if source is not None:
            raise ValueError("this model reads one text: it has no source to look at")
        tokens = self.embed(inputs, start=start)
        last = self.config.n_layers - 1
        if self.latents is None:
            for index in range(last + 1):
                tokens = tap(index, self._step(index, tokens, tokens, attend))
            return tokens.x
        stride = self.config.latent_stride
        standing = latent_positions(self.config.n_latents, stride, tokens.positions)
        basis = self.latents[:, standing // stride].expand(len(inputs), -1, -1)
        latents = tap(0, self._step(0, Stream(basis, standing), tokens, attend))
        for index in range(1, last):
            latents = tap(index, self._step(index, latents, latents, attend))
        return tap(last, self._step(last, tokens, latents, attend)).x

    def logits(self, x: Tensor) -> Tensor:
        """Residual stream after the last block to logits."""
        return self.head(self.norm(x))

    def embedded(self, inputs: Tensor) -> Tensor:
        """Tokens and positions; zero where a Perceiver's last layer has no path around it."""
        x = self.embed(inputs).x
        kept = self.config.latent_residual or not self.config.n_latents
        return x if kept else torch.zeros_like(x)

    def writes_to_tokens(self, layer: int) -> bool:
        """Of a Perceiver only the last layer does."""
        return not self.config.n_latents or layer == self.config.n_layers - 1

    def parts(self, layer: int, output: Tensor) -> Tensor:
        return self.layers[layer].project_by_head(output)

    def projected(self, layer: int, output: Tensor) -> Tensor:
        return self.layers[layer].project(output.transpose(1, 2).flatten(2))

    def attention_bias(self, layer: int) -> Tensor:
        return self.layers[layer].project.bias

    def mlp(self, layer: int, _before: Tensor, after: Tensor, /) -> Tensor:
        return self.layers[layer].mlp(after)

    def readout(self, final: Tensor, tokens: Tensor, *, relative: bool) -> Readout:
        return readout(self.norm, self.head_matrix, final, tokens, relative=relative)

    def forward(self, ids: Tensor) -> Tensor:
        return self.logits(self.run(ids, lambda _, heads: heads.output()))

    def _step(self, index: int, target: Stream, source: Stream, attend: Attend) -> Stream:
        """One layer: `target` looks at `source`."""
        block = self.layers[index]
        output = attend(index, block.heads(target, source))
        kept = target is source or self.config.latent_residual
        x = target.x if kept else torch.zeros_like(target.x)
        return target._replace(x=block.merge(x, output))


def initialise(model: GPT, generator: torch.Generator | None) -> None:
    """Normal(0, 0.02) for matrices and embeddings, zero for biases, one for norms (GPT-2).

    A Synthesizer's B is uniform within ±0.001, a Perceiver's basis Xavier-uniform (the course);
    gates begin open (core.models.state_blocks); the short convolution of n tokens is uniform within
    ±1/√n, as torch's. Random features are drawn last, once for each layer; from then on they are
    stored.
    """
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name == "latents":
                nn.init.xavier_uniform_(parameter, generator=generator)
            elif name.endswith(".second"):
                parameter.uniform_(-0.001, 0.001, generator=generator)
            elif name.endswith(".nearby"):
                reach = parameter.shape[1] ** -0.5
                parameter.uniform_(-reach, reach, generator=generator)
            elif name.endswith(".gate.bias"):
                parameter.copy_(open_gates(len(parameter)))
            elif parameter.ndim == 2:
                parameter.normal_(0.0, 0.02, generator=generator)
            elif name.endswith("bias"):
                parameter.zero_()
        for block in model.layers:
            block.draw(generator)
