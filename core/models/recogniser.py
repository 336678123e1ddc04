"""A recogniser of speech that is written to be looked at: whoever runs it says how heads attend.

    frames (B, T, bands) → two convolutions of stride 2 → encoder → memory (B, T / 4, width)
    what is written so far (B, L) → decoder, which looks at the memory → logits (B, L, vocabulary)

Pre-LN blocks as in core.models.blocks, sinusoidal positions (Vaswani et al. 2017). An LSTM may
stand in the place of the decoder's self-attention, and a second head may read characters from the
memory alone, for the CTC loss (Graves et al. 2006; both losses together: Watanabe et al. 2017).

Layers are counted as core.models.seam says: the encoder's, then of each block of the decoder its
self-attention, if it has one, and its cross-attention. A sound has a column for every fourth frame.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.models.heads import Heads
from core.models.recogniser_config import RecogniserConfig
from core.models.recogniser_parts import (
    DecoderBlock,
    EncoderBlock,
    Looking,
    Mlp,
    initialise,
    positions,
)
from core.models.seam import Ability, Attend, Readout, Shape, Stream, Tap, straight_on
from core.models.trained import Trained, readout

STRIDE = 4  # frames a column of the memory
_KERNEL = 3

Drop = Callable[[Tensor], Tensor]


class Memory(NamedTuple):
    """What an encoder made of sounds: x (B, T, width), and which columns are padding (B, T)."""

    x: Tensor
    padding: Tensor | None = None

    @property
    def hidden(self) -> Tensor | None:
        """The same for scores (B, H, rows, columns)."""
        return None if self.padding is None else self.padding[:, None, None]


class Recogniser(Trained[RecogniserConfig]):
    """Frames and what is written so far to logits of the next character."""

    def __init__(
        self, config: RecogniserConfig, *, generator: torch.Generator | None = None
    ) -> None:
        super().__init__()
        self.config, width = config, config.width
        self.first = nn.Conv1d(config.n_bands, width, _KERNEL, stride=2, padding=1)
        self.second = nn.Conv1d(width, width, _KERNEL, stride=2, padding=1)
        self.encoder = nn.ModuleList(EncoderBlock(config) for _ in range(config.n_encoder_layers))
        self.encoder_norm = nn.LayerNorm(width)
        self.ctc = nn.Linear(width, config.vocabulary_size) if config.ctc else None
        self.tokens = nn.Embedding(config.vocabulary_size, width)
        self.mean = None if config.looks else nn.Linear(width, width)
        self.decoder = nn.ModuleList(DecoderBlock(config) for _ in range(config.n_decoder_layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, config.vocabulary_size, bias=False)
        initialise(self, generator)

    @property
    def shape(self) -> Shape:
        config = self.config
        return Shape(
            n_layers=len(config.kinds),
            n_heads=config.n_heads,
            n_kv_heads=config.n_heads,
            head_dim=config.head_dim,
            vocabulary_size=config.vocabulary_size,
            longest_input=config.most_characters,
            mechanism="softmax",
            kinds=config.kinds,
            keeps_past=False,
        )

    @property
    def matrices(self) -> list[nn.Parameter]:
        """Without those of an LSTM, of which each is four matrices in one."""
        named = [*self.encoder.named_parameters(), *self.decoder.named_parameters()]
        return [p for name, p in named if p.ndim == 2 and ".lstm." not in name]

    @property
    def head_matrix(self) -> Tensor:
        return self.head.weight

    def cannot(self, what: Ability) -> str:
        if what in ("attribution", "lens", "patching"):
            return (
                "a recogniser reads a sound beside what it writes: its heads can be seen and "
                "switched off, and nothing else of it is taken apart here"
            )
        return ""

    def encode(
        self,
        frames: Tensor,
        attend: Attend,
        *,
        n_frames: Tensor | None = None,
        drop: Drop = lambda x: x,
        tap: Tap = straight_on,
    ) -> Memory:
        """What is heard: frames (B, T, bands), of which each row has `n_frames` (B,) real ones.

        Raises ValueError for a sound that is too long.
        """
        if frames.shape[1] > self.config.most_frames:
            raise ValueError(
                f"{frames.shape[1]} frames are more than the {self.config.most_frames} that this "
                "model hears"
            )
        heard = F.gelu(self.first(frames.transpose(1, 2)))
        if n_frames is not None:  # what follows a sound is nothing, whatever its batch is
            heard = heard.masked_fill(_behind(heard.shape[2], (n_frames + 1) // 2)[:, None], 0.0)
        heard = F.gelu(self.second(heard)).transpose(1, 2)
        padding = None if n_frames is None else _behind(heard.shape[1], columns_of(n_frames))
        x = drop(heard + positions(heard.shape[1], self.config.width, heard))
        memory = Memory(x, padding)
        for layer, block in enumerate(self.encoder_blocks):
            heads = block.attention.heads(x, None, memory.hidden)
            x = x + drop(block.attention.projected(attend(layer, heads)))
            x = x + drop(block.mlp(x))
            x = tap(layer, _standing(x)).x
        return memory._replace(x=self.encoder_norm(x))

    def decode(
        self,
        ids: Tensor,
        memory: Memory,
        attend: Attend,
        *,
        drop: Drop = lambda x: x,
        tap: Tap = straight_on,
    ) -> Tensor:
        """The stream after the last block (B, L, width) of what is written so far (B, L)."""
        x, layer = drop(self._written(ids, memory)), self.config.n_encoder_layers
        for block in self.decoder_blocks:
            if block.attention is not None:
                output = attend(layer, block.attention.causal_heads(x))
                x = x + drop(block.attention.projected(output))
                x, layer = tap(layer, _standing(x)).x, layer + 1
            if block.memory is not None:
                x = x + drop(block.memory(x))
            if block.cross is None:
                x = x + drop(block.mlp(x))
                continue
            output = attend(layer, block.cross.heads(x, memory.x, memory.hidden))
            x = x + drop(block.cross.projected(output))
            x = x + drop(block.mlp(x))
            x, layer = tap(layer, _standing(x)).x, layer + 1
        return x

    def run(
        self,
        inputs: Tensor,
        attend: Attend,
        *,
        source: Tensor | None = None,
        start: int = 0,
        tap: Tap = straight_on,
    ) -> Tensor:
        """The stream after the last block. `source`: the frames of a sound.

        Raises ValueError without one, and for a `start`: every step reads all of it again.
        """
        if source is None or start:
            raise ValueError(
                "a recogniser needs a sound as its source, and all that it has written"
            )
        return self.decode(inputs, self.encode(source, attend, tap=tap), attend, tap=tap)

    def logits(self, x: Tensor) -> Tensor:
        return self.head(self.norm(x))

    def embedded(self, inputs: Tensor) -> Tensor:
        """Characters and their positions; what a mean of the sound adds to them is left out."""
        x = self.tokens(inputs)
        return x + positions(x.shape[1], self.config.width, x)

    def writes_to_tokens(self, layer: int) -> bool:
        """The encoder's layers do not."""
        return layer >= self.config.n_encoder_layers

    def parts(self, layer: int, output: Tensor) -> Tensor:
        return self.looking[layer].by_head(output)

    def projected(self, layer: int, output: Tensor) -> Tensor:
        return self.looking[layer].projected(output)

    def attention_bias(self, layer: int) -> Tensor:
        return self.looking[layer].project.bias

    def mlp(self, layer: int, _before: Tensor, after: Tensor, /) -> Tensor:
        """Nothing after self-attention, behind which the cross-attention of its block comes."""
        found = self._mlps[layer]
        return torch.zeros_like(after) if found is None else found(after)

    def readout(self, final: Tensor, tokens: Tensor, *, relative: bool) -> Readout:
        return readout(self.norm, self.head_matrix, final, tokens, relative=relative)

    def forward(
        self, frames: Tensor, ids: Tensor, n_frames: Tensor, drop: Drop = lambda x: x
    ) -> tuple[Tensor, Memory]:
        """(logits (B, L, vocabulary), memory) of a batch in which sounds are padded."""
        memory = self.encode(frames, _fused, n_frames=n_frames, drop=drop)
        return self.logits(self.decode(ids, memory, _fused, drop=drop)), memory

    @property
    def encoder_blocks(self) -> Iterator[EncoderBlock]:
        return cast(Iterator[EncoderBlock], iter(self.encoder))

    @property
    def decoder_blocks(self) -> Iterator[DecoderBlock]:
        return cast(Iterator[DecoderBlock], iter(self.decoder))

    @property
    def looking(self) -> list[Looking]:
        """Where heads attend, by layer."""
        found = [block.attention for block in self.encoder_blocks]
        for block in self.decoder_blocks:
            found += [part for part in (block.attention, block.cross) if part is not None]
        return found

    @property
    def _mlps(self) -> list[Mlp | None]:
        found: list[Mlp | None] = [block.mlp for block in self.encoder_blocks]
        for block in self.decoder_blocks:
            found += [None] if block.attention is not None and block.cross is not None else []
            found.append(block.mlp)
        return found

    def _written(self, ids: Tensor, memory: Memory) -> Tensor:
        """Raises ValueError for a text that is too long."""
        if ids.shape[1] > self.config.most_characters:
            raise ValueError(
                f"{ids.shape[1]} characters are more than the {self.config.most_characters} that "
                "this model writes"
            )
        x = self.embedded(ids)
        if self.mean is None:
            return x
        real = torch.ones_like(memory.x[..., :1])
        if memory.padding is not None:
            real = (~memory.padding)[..., None].to(memory.x.dtype)
        return x + self.mean((memory.x * real).sum(1, keepdim=True) / real.sum(1, keepdim=True))


def columns_of(n_frames: Tensor) -> Tensor:
    """How many columns of the memory sounds of so many frames have."""
    return (n_frames + STRIDE - 1) // STRIDE


def _behind(n_columns: int, lengths: Tensor) -> Tensor:
    """(B, n_columns): which columns come after so many."""
    return torch.arange(n_columns, device=lengths.device) >= lengths[:, None]


def _fused(_layer: int, heads: Heads) -> Tensor:
    return heads.output()


def _standing(x: Tensor) -> Stream:
    return Stream(x, torch.arange(x.shape[1], device=x.device))
