"""Another model, written apart from the GPT: what the seam does not take for granted.

RMSNorm, no biases, no positions, query heads that share keys and values, heads that together are
wider than the residual stream, a gated MLP beside the attention and not behind it, a tied head. As
an encoder every token looks at all, and the model does not write.
"""

from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor

from core.models.heads import DotHeads
from core.models.seam import Ability, Attend, Readout, Shape, Stream, Tap, straight_on

N_LAYERS, N_HEADS, N_KV_HEADS, HEAD_DIM, WIDTH = 3, 4, 2, 8, 24
DOES_NOT_WRITE = "an encoder fills gaps and writes no text"


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeHeads(DotHeads):
    """Every token looks at all tokens."""

    @property
    def masked(self) -> Tensor:
        return torch.zeros(len(self.rows), len(self.columns), dtype=torch.bool)

    def output(self) -> Tensor:
        return F.scaled_dot_product_attention(self.query, self.key, self.value)


@dataclass(frozen=True, slots=True)
class Block:
    """Matrices (out, in) of one layer."""

    query: Tensor
    key: Tensor
    value: Tensor
    project: Tensor
    gate: Tensor
    up: Tensor
    down: Tensor


@dataclass(frozen=True, slots=True)
class OtherModel:
    """x + attention(norm(x)) + MLP(norm(x)), N_LAYERS times."""

    tokens: Tensor  # (vocabulary, width), read at both ends
    blocks: tuple[Block, ...]
    scale: Tensor  # of the last norm
    longest_input: int
    is_encoder: bool

    @property
    def shape(self) -> Shape:
        return Shape(
            n_layers=N_LAYERS,
            n_heads=N_HEADS,
            n_kv_heads=N_KV_HEADS,
            head_dim=HEAD_DIM,
            vocabulary_size=len(self.tokens),
            longest_input=self.longest_input,
            mechanism="softmax",
            kinds=("encoder" if self.is_encoder else "decoder",) * N_LAYERS,
        )

    @property
    def device(self) -> torch.device:
        return self.tokens.device

    @property
    def n_parameters(self) -> int:
        matrices = [getattr(block, name) for block in self.blocks for name in Block.__slots__]
        return sum(tensor.numel() for tensor in (self.tokens, self.scale, *matrices))

    def cannot(self, what: Ability) -> str:
        return DOES_NOT_WRITE if self.is_encoder and what == "answer" else ""

    def run(
        self,
        inputs: Tensor,
        attend: Attend,
        *,
        source: Tensor | None = None,
        start: int = 0,
        tap: Tap = straight_on,
    ) -> Tensor:
        stream = Stream(self.embedded(inputs), torch.arange(start, start + inputs.shape[1]))
        for layer, block in enumerate(self.blocks):
            before = stream.x
            output = attend(layer, self._heads(block, stream))
            after = before + output.transpose(1, 2).flatten(2) @ block.project.T
            stream = tap(layer, stream._replace(x=after + self.mlp(layer, before, after)))
        return stream.x

    def logits(self, x: Tensor) -> Tensor:
        return normed(x) * self.scale @ self.tokens.T

    def embedded(self, inputs: Tensor) -> Tensor:
        return self.tokens[inputs]

    def writes_to_tokens(self, layer: int) -> bool:
        return True

    def parts(self, layer: int, output: Tensor) -> Tensor:
        by_head = self.blocks[layer].project.unflatten(1, (N_HEADS, HEAD_DIM))
        return torch.einsum("bhld,whd->bhlw", output, by_head)

    def projected(self, layer: int, output: Tensor) -> Tensor:
        return output.transpose(1, 2).flatten(2) @ self.blocks[layer].project.T

    def attention_bias(self, layer: int) -> Tensor:
        return torch.zeros(WIDTH)

    def mlp(self, layer: int, before: Tensor, after: Tensor, /) -> Tensor:
        block, x = self.blocks[layer], normed(before)
        return (F.silu(x @ block.gate.T) * (x @ block.up.T)) @ block.down.T

    def readout(self, final: Tensor, tokens: Tensor, *, relative: bool) -> Readout:
        rows = self.tokens[tokens]
        direction = rows - self.tokens.mean(0) if relative else rows
        return Readout(self.scale * direction / size(final), torch.zeros(len(tokens)))

    def _heads(self, block: Block, stream: Stream) -> DotHeads:
        x, where = normed(stream.x), stream.positions
        query, key, value = (
            (x @ matrix.T).unflatten(-1, (-1, HEAD_DIM)).transpose(1, 2)
            for matrix in (block.query, block.key, block.value)
        )
        key, value = (shared.repeat_interleave(N_HEADS // N_KV_HEADS, 1) for shared in (key, value))
        kind = WholeHeads if self.is_encoder else DotHeads
        return kind(query=query, key=key, value=value, rows=where, columns=where)


def size(x: Tensor) -> Tensor:
    """(…, 1): the root of the mean square."""
    return (x.square().mean(-1, keepdim=True) + 1e-6).sqrt()


def normed(x: Tensor) -> Tensor:
    return x / size(x)


def other_model(
    vocabulary_size: int, *, seed: int = 0, longest_input: int = 48, is_encoder: bool = False
) -> OtherModel:
    """One with parameters that no training made."""
    generator = torch.Generator().manual_seed(seed)

    def drawn(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator) / shape[-1] ** 0.5

    width = {"query": N_HEADS, "key": N_KV_HEADS, "value": N_KV_HEADS}
    blocks = tuple(
        Block(
            **{name: drawn(n * HEAD_DIM, WIDTH) for name, n in width.items()},
            project=drawn(WIDTH, N_HEADS * HEAD_DIM),
            gate=drawn(2 * WIDTH, WIDTH),
            up=drawn(2 * WIDTH, WIDTH),
            down=drawn(WIDTH, 2 * WIDTH),
        )
        for _ in range(N_LAYERS)
    )
    tokens, scale = 2 * drawn(vocabulary_size, WIDTH), 1 + drawn(WIDTH)
    return OtherModel(tokens, blocks, scale, longest_input, is_encoder)


def without(model: OtherModel, layer: int, head: int) -> OtherModel:
    """The same with the columns of one head in its projection erased."""
    project = model.blocks[layer].project.clone()
    project[:, head * HEAD_DIM : (head + 1) * HEAD_DIM] = 0
    blocks = [*model.blocks]
    blocks[layer] = replace(blocks[layer], project=project)
    return replace(model, blocks=tuple(blocks))
