"""The seam between a model and all that looks at it.

Whoever runs a model says how its heads attend (`Attend`), what goes on in the place of what they
give (`Change`), and sees the residual stream after every layer (`Tap`). A model keeps nothing of
it, so two threads can look at one model at the same time.

A layer is one place where heads attend. A decoder has one a block; a model with an encoder counts
the encoder's first, then of each block of the decoder its self-attention and its cross-attention.
What may look at what is said by each layer's `Heads`: positions of rows and columns, and what is
masked. Where query heads share keys and values, `Heads` has them once for every query head, and
`Shape.n_kv_heads` says how many there really are.

Axes: batch B, heads H, positions L, width of the residual stream.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

import torch
from torch import Tensor

from core.models.heads import Heads

Ability = Literal["logits", "answer", "parts", "attribution", "lens", "patching"]


class Stream(NamedTuple):
    """A residual stream x (B, L, width) and the positions (L,) at which it stands.

    Attention reads it under the layer's norm, or as it is if not `under_norm`.
    """

    x: Tensor
    positions: Tensor
    under_norm: bool = True


# Layer number and heads to their output (B, H, L, d).
Attend = Callable[[int, Heads], Tensor]
# Layer number, heads and their output to what goes on in its place: the input of the projection.
Change = Callable[[int, Heads, Tensor], Tensor]
# Layer number and the residual stream after that layer to what goes on in its place.
Tap = Callable[[int, Stream], Stream]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Sizes of a model. `mechanism` is a row of core.catalogue. `kinds` says of each layer what its
    heads look at: "decoder" (all layers unless told), "encoder" or "cross". With `keeps_past` a run
    can go on from an earlier one: all that it needs of it are keys and values. `unclear` says in a
    sentence what weights cannot tell of this model; mostly nothing.

    With `n_latents` (a Perceiver's) rows and columns of layers between the first and the last stand
    at every `latent_stride`-th position.
    """

    n_layers: int
    n_heads: int
    n_kv_heads: int
    head_dim: int
    vocabulary_size: int
    longest_input: int
    mechanism: str
    n_latents: int = 0
    latent_stride: int = 1
    kinds: tuple[str, ...] = ()
    keeps_past: bool = True
    unclear: str = ""

    @property
    def has_source(self) -> bool:
        """Whether a decoder looks at what an encoder read."""
        return "cross" in self.kinds


class Readout(NamedTuple):
    """How the head of a model reads one token's logit: part · vector summed over all parts of the
    residual stream, plus `constant`. vector (B, width), constant (B,).
    """

    vector: Tensor
    constant: Tensor


class Model(Protocol):
    """A model that can be looked at.

    Inputs are what its vocabulary makes of a text, ids (B, L), or numbers of another kind,
    (B, L, n); where one stream looks at another, `source` is the input of the other.
    """

    @property
    def shape(self) -> Shape: ...

    @property
    def n_parameters(self) -> int: ...

    @property
    def device(self) -> torch.device:
        """Where its parameters are: there go the inputs, and there come the outputs from."""
        ...

    def cannot(self, what: Ability, /) -> str:
        """Why it cannot be asked for this, in one sentence; empty if it can."""
        ...

    def run(
        self,
        inputs: Tensor,
        attend: Attend,
        *,
        source: Tensor | None = None,
        start: int = 0,
        tap: Tap = ...,
    ) -> Tensor:
        """The residual stream after the last layer (B, L, width), every output by `attend`.

        With `start` the inputs go on from an earlier run, and `attend` must remember what it saw.
        """
        ...

    def logits(self, x: Tensor) -> Tensor:
        """Residual stream after the last layer (…, width) to logits (…, vocabulary)."""
        ...

    def embedded(self, inputs: Tensor) -> Tensor:
        """What the residual stream begins with, before any layer adds to it: (B, L, width)."""
        ...

    def writes_to_tokens(self, layer: int, /) -> bool:
        """Whether a layer adds to the stream that `logits` reads."""
        ...

    def parts(self, layer: int, output: Tensor) -> Tensor:
        """Each head's own part of the residual stream: (B, H, L, d) to (B, H, L, width).

        The sum over heads plus `attention_bias` is what the attention of the layer adds.
        """
        ...

    def projected(self, layer: int, output: Tensor) -> Tensor:
        """What the output projection makes of all heads, its bias with it: (B, L, width)."""
        ...

    def attention_bias(self, layer: int, /) -> Tensor:
        """(width,): what the attention adds beside its heads; zero where there is no bias."""
        ...

    def mlp(self, layer: int, before: Tensor, after: Tensor, /) -> Tensor:
        """What the MLP of a layer adds, from the stream before the layer and that to which the
        attention has been added.
        """
        ...

    def readout(self, final: Tensor, tokens: Tensor, *, relative: bool) -> Readout:
        """Of the logit of `tokens` (B,) in the stream `final` (B, width), the last norm's scale
        held at what it is there; with `relative` above the mean logit of the vocabulary.
        """
        ...


def refuse_lacking(model: Model, what: Ability) -> None:
    """Raise ValueError with the model's own sentence if it cannot be asked for this."""
    if why := model.cannot(what):
        raise ValueError(why)


def straight_on(_layer: int, stream: Stream) -> Stream:
    """The tap that changes nothing."""
    return stream
