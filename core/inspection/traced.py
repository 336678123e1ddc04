"""What leaves a traced run: plain numpy arrays and values. No torch here.

Axes: layer, head, query position, key position or head_dim. Indices are zero-based.
"""

from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.catalogue import LINEAR

Array = NDArray[np.float32]
ARRAYS = ("query", "key", "value", "output", "scores", "weights", "value_norm")
MAY_LACK = ("query", "key")


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
    """One generated token: `row` is the query position that wrote it.

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
    """Evidence that the weights shown are those the model used."""

    replay_max_difference: float
    row_sum_max_error: float
    future_exactly_zero: bool
    dtype: str


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
    ones, which may be negative, and its scores are φ(q)·φ(k).

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
    ablated: tuple[tuple[int, int], ...] = ()
    mode: str = "zero"
    steps: tuple[Step, ...]
    query: Array | None = None
    key: Array | None = None
    value: Array
    output: Array
    scores: Array
    weights: Array
    value_norm: Array
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
    def n_layers(self) -> int:
        return self.weights.shape[0]

    @property
    def n_heads(self) -> int:
        return self.weights.shape[1]

    @property
    def n_tokens(self) -> int:
        return self.weights.shape[2]

    @property
    def visible(self) -> NDArray[np.bool_]:
        """(n_layers, L, L): whether a row may look at a column. Masked is not zero."""
        return np.isfinite(self.scores[:, 0])

    def latents_look(self, layer: int) -> bool:
        """Whether the rows of a layer are latents; else they are tokens."""
        return bool(self.latent_positions) and layer < self.n_layers - 1

    def latents_seen(self, layer: int) -> bool:
        """Whether the columns of a layer are latents; else they are tokens."""
        return bool(self.latent_positions) and layer > 0

    def rows(self, layer: int) -> tuple[int, ...]:
        """The positions that look, in one layer: those of latents or of all tokens."""
        return self.latent_positions if self.latents_look(layer) else tuple(range(self.n_tokens))

    def columns(self, layer: int) -> tuple[int, ...]:
        """The positions that are looked at, in one layer."""
        return self.latent_positions if self.latents_seen(layer) else tuple(range(self.n_tokens))

    def last_row(self, layer: int, position: int) -> int:
        """The last row of a layer at or before a position: its own, or that of a latent."""
        return max(row for row in self.rows(layer) if row <= position)

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-able values; hidden scores are null."""
        return {
            "question": self.question,
            "answer": self.answer,
            "probability": self.probability,
            "tokens": list(self.labels),
            "word_starts": list(self.word_starts),
            "name_positions": list(self.name_positions),
            "latent_positions": list(self.latent_positions),
            "mechanism": self.mechanism,
            "ablated": [list(head) for head in self.ablated],
            "mode": self.mode,
            "steps": [_step_dict(step) for step in self.steps],
            "proof": {name: getattr(self.proof, name) for name in Proof.__slots__},
            "axes": "layer, head, query position, key position (or head_dim); zero-based",
            **{name: _rounded(getattr(self, name)) for name in ARRAYS},
        }


def _step_dict(step: Step) -> dict[str, Any]:
    return {
        "row": step.row,
        "position": step.position,
        "token": step.label,
        "probability": step.probability,
        "next_best": [[c.label, c.probability] for c in step.next_best],
    }


def _rounded(values: Array | None) -> Any:
    """Nested lists with six significant digits; minus infinity and what is lacking become null."""
    if values is None:
        return None
    if values.ndim > 1:
        return [_rounded(part) for part in values]
    return [float(f"{number:.6g}") if isfinite(number) else None for number in values.tolist()]


def trace_from_dict(data: dict[str, Any]) -> AttentionTrace:
    """The inverse of `to_dict`. Raises ValueError naming what is missing or wrong."""
    try:
        trace = AttentionTrace(
            question=data["question"],
            answer=data["answer"],
            probability=data["probability"],
            labels=tuple(data["tokens"]),
            word_starts=tuple(data["word_starts"]),
            name_positions=tuple(data["name_positions"]),
            latent_positions=tuple(data.get("latent_positions", ())),
            mechanism=data.get("mechanism", "softmax"),
            ablated=tuple((layer, head) for layer, head in data.get("ablated", ())),
            mode=data.get("mode", "zero"),
            steps=tuple(_step(step) for step in data["steps"]),
            proof=Proof(**data["proof"]),
            **{name: _array(name, data[name]) for name in ARRAYS if not _lacks(data, name)},
        )
        _refuse_other_shapes(trace)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"not a stored trace: {error}") from None
    return trace


def _refuse_other_shapes(trace: AttentionTrace) -> None:
    """Everything must be of one model and one text: what the labels and the value say."""
    n_layers, n_heads, length, head_dim = _four(trace.value.shape)
    if len(trace.labels) != length or len(trace.word_starts) != length:
        raise ValueError(f"{len(trace.labels)} tokens; value has rows for {length}")
    pairs, rows = (n_layers, n_heads, length, length), (n_layers, n_heads, length, head_dim)
    needed = {"scores": pairs, "weights": pairs, "value_norm": rows[:3]}
    for name in ARRAYS:
        found, shape = getattr(trace, name), needed.get(name, rows)
        if found is not None and found.shape != shape:
            raise ValueError(f"{name} has shape {found.shape}; {shape} is needed")


def _four(shape: tuple[int, ...]) -> tuple[int, int, int, int]:
    if len(shape) != 4:
        raise ValueError(f"value has shape {shape}; four axes are needed")
    n_layers, n_heads, length, head_dim = shape
    return n_layers, n_heads, length, head_dim


def _step(data: dict[str, Any]) -> Step:
    return Step(
        row=data["row"],
        position=data["position"],
        label=data["token"],
        probability=data["probability"],
        next_best=tuple(Candidate(label, p) for label, p in data["next_best"]),
    )


def _lacks(data: dict[str, Any], name: str) -> bool:
    return name in MAY_LACK and data[name] is None


def _array(name: str, values: Any) -> Array:
    numbers = np.array(values, dtype=np.float32)
    missing = np.isnan(numbers)
    if name != "scores" and missing.any():
        raise ValueError(f"a null in {name}; only hidden scores are null")
    return np.where(missing, np.float32(-np.inf), numbers)
