"""What leaves a traced run: plain numpy arrays and values. No torch here.

Axes: layer, head, query position, key position or head_dim. Indices are zero-based.
"""

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.catalogue import EFFECTIVE, LINEAR, MECHANISMS, SYNTHESIZERS

Array = NDArray[np.float32]
ARRAYS = ("query", "key", "value", "output", "scores", "weights", "value_norm", "sink")
MAY_LACK = ("query", "key", "sink")


def no_scores() -> Array:
    """What stands in a trace for scores that were too many to keep."""
    return np.zeros((0, 0, 0, 0), dtype=np.float32)


def contribution(weights: NDArray[Any], value_norm: NDArray[Any]) -> NDArray[Any]:
    """‖weight · value · W_O‖, what a key adds to a row: a negative weight brings as much as a
    positive one. What a row takes from several keys is the sum of theirs.
    """
    return np.abs(weights) * value_norm


@dataclass(frozen=True, slots=True)
class Candidate:
    """A token the model might have written, with its probability."""

    label: str
    probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One token that was written, or was given in its place: `row` is the position that writes it.

    `position` is where the token stands itself; the closing ⁇ is written but never read, so its
    position lies one past the last row.
    """

    row: int
    position: int
    label: str
    probability: float
    next_best: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """Evidence that the weights shown are those the model used.

    row_sum_max_error: of each row, with the share of a learned sink where there is one, from 1.
    future_exactly_zero: whether all that is masked has no weight. same_argmax: whether the replay
    would write the same token in every row. head_sum_max_error: the heads' parts and the bias,
    summed, from what the output projection gave; None where something stands between them.
    """

    replay_max_difference: float
    row_sum_max_error: float
    future_exactly_zero: bool
    dtype: str
    same_argmax: bool = True
    head_sum_max_error: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionTrace:
    """Every head of one answered question.

    query, key, value, output (n_layers, n_heads, L, d); scores, weights (n_layers, n_heads, L, L);
    value_norm (n_layers, n_heads, L): norm of value · W_O, the most that a key can add. A
    Synthesizer has no query and no key: its weights do not depend on pairs of tokens.

    A Perceiver's latents stand at token positions, `latent_positions` (empty for other models).
    They are the rows of every layer but the last and the columns of every layer but the first; at
    the positions where none stands, scores are minus infinity and all else is zero.

    `mechanism` is the model's attention. Linear attention has no softmax: its weights are effective
    ones, which may be negative, and its scores are φ(q)·φ(k). A state's are effective, too, and
    its rows need not sum to 1.

    `kinds` says of each layer what its heads look at: "decoder" (unless told), "encoder" or
    "cross". With an encoder beside a decoder the first `n_source` positions are the source's: rows
    and columns of its layers, and the columns of cross-attention. `special` tokens are marks such
    as BOS. `sink` (n_layers, n_heads, L) is the share of each row that a learned sink takes from
    the keys. `n_kv_heads` (0: as many as heads) heads of keys and values are shared by runs of
    query heads. `scores` are empty where they would be too large to keep; then `seen`
    (n_layers, L, L) says what a row may look at. `stream` (n_layers, L, width) is the residual
    stream after each layer, where one stream of tokens goes through all of them; it stays with the
    process that recorded it. `lacking` says in sentences what this model cannot give.

    With `teacher_forced` nothing was written: `answer` is the target that was given, `steps` are
    its tokens, and `probability` is how likely the model is to write exactly that.

    `recorded` are the heads that there are numbers of (empty: all). A trace from a file may hold
    some alone: the others have no weight anywhere and cannot be looked at.

    Heads in `ablated` were switched off: their weights are still those that they would have had,
    `output` holds what took their place (zero, or in `mode` mean their mean), `value_norm` is zero.
    """

    question: str
    answer: str
    probability: float
    labels: tuple[str, ...]
    word_starts: tuple[bool, ...]
    name_positions: tuple[int, ...]
    latent_positions: tuple[int, ...] = ()
    mechanism: str = "softmax"
    kinds: tuple[str, ...] = ()
    n_source: int = 0
    n_kv_heads: int = 0
    special: tuple[bool, ...] = ()
    lacking: tuple[str, ...] = ()
    teacher_forced: bool = False
    recorded: tuple[tuple[int, int], ...] = ()
    ablated: tuple[tuple[int, int], ...] = ()
    mode: str = "zero"
    steps: tuple[Step, ...]
    query: Array | None = None
    key: Array | None = None
    value: Array
    output: Array
    scores: Array = field(default_factory=no_scores)
    seen: NDArray[np.bool_] | None = None
    weights: Array
    value_norm: Array
    sink: Array | None = None
    stream: Array | None = None
    proof: Proof

    @property
    def contribution(self) -> Array:
        """(n_layers, n_heads, L, L): norm of weight · value · W_O, what key j adds to row i."""
        return contribution(self.weights, self.value_norm[..., None, :])

    @property
    def is_linear(self) -> bool:
        """Whether there is a feature map in the place of softmax."""
        return self.mechanism in LINEAR

    @property
    def has_effective_weights(self) -> bool:
        """Whether there is no softmax: weights are what values are multiplied by, of any sign."""
        return self.mechanism in EFFECTIVE

    @property
    def is_normalised(self) -> bool:
        """Whether rows sum to 1."""
        return MECHANISMS[self.mechanism].is_normalised

    @property
    def is_pairless(self) -> bool:
        """Whether weights follow from no pairs of tokens, so that there is no query and no key."""
        return self.mechanism in SYNTHESIZERS

    @property
    def n_layers(self) -> int:
        return self.weights.shape[0]

    @property
    def n_heads(self) -> int:
        return self.weights.shape[1]

    @property
    def heads(self) -> tuple[tuple[int, int], ...]:
        """The heads that can be looked at, layer by layer."""
        return self.recorded or tuple(np.ndindex(self.n_layers, self.n_heads))

    @property
    def not_recorded(self) -> NDArray[np.bool_]:
        """(n_layers, n_heads): where there are no numbers."""
        lacking = np.full((self.n_layers, self.n_heads), fill_value=bool(self.recorded))
        for head in self.recorded:
            lacking[head] = False
        return lacking

    @property
    def n_tokens(self) -> int:
        return self.weights.shape[2]

    @property
    def visible(self) -> NDArray[np.bool_]:
        """(n_layers, L, L): whether a row may look at a column. Masked is not zero."""
        if self.scores.size:
            return np.isfinite(self.scores[:, 0])
        if self.seen is None:
            raise ValueError("a trace without scores has to say what a row may look at (seen)")
        return self.seen

    def kind(self, layer: int) -> str:
        """What the heads of a layer look from and at: decoder, encoder or cross."""
        return self.kinds[layer] if self.kinds else "decoder"

    def layers_of(self, kind: str) -> list[int]:
        """The layers of one kind."""
        return [layer for layer in range(self.n_layers) if self.kind(layer) == kind]

    def latents_look(self, layer: int) -> bool:
        """Whether the rows of a layer are latents; else they are tokens."""
        return bool(self.latent_positions) and layer < self.n_layers - 1

    def latents_seen(self, layer: int) -> bool:
        """Whether the columns of a layer are latents; else they are tokens."""
        return bool(self.latent_positions) and layer > 0

    def rows(self, layer: int) -> tuple[int, ...]:
        """The positions that look, in one layer: those of latents or of its text's tokens."""
        if self.latents_look(layer):
            return self.latent_positions
        of_source = self.kind(layer) == "encoder" and self.n_source > 0
        return tuple(range(self.n_source) if of_source else range(self.n_source, self.n_tokens))

    def columns(self, layer: int) -> tuple[int, ...]:
        """The positions that are looked at, in one layer."""
        if self.latents_seen(layer):
            return self.latent_positions
        of_source = self.kind(layer) != "decoder" and self.n_source > 0
        return tuple(range(self.n_source) if of_source else range(self.n_source, self.n_tokens))

    def last_row(self, layer: int, position: int) -> int:
        """The last row of a layer at or before a position: its own, or that of a latent."""
        return max(row for row in self.rows(layer) if row <= position)


def unwritable(trace: AttentionTrace) -> AttentionTrace:
    """The same, with arrays that cannot be written to: many may look at it."""
    for each in fields(trace):
        value = getattr(trace, each.name)
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
    return trace
