"""What leaves a traced run: plain numpy arrays and values. No torch here.

Axes: layer, head, query position, key position or head_dim. Indices are zero-based.
"""

from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
ARRAYS = ("query", "key", "value", "output", "scores", "weights", "value_norm")


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
    value_norm (n_layers, n_heads, L): norm of value · W_O, the most that a key can add.
    """

    question: str
    answer: str
    probability: float
    labels: tuple[str, ...]
    word_starts: tuple[bool, ...]
    name_positions: tuple[int, ...]
    steps: tuple[Step, ...]
    query: Array
    key: Array
    value: Array
    output: Array
    scores: Array
    weights: Array
    value_norm: Array
    proof: Proof

    @property
    def contribution(self) -> Array:
        """(n_layers, n_heads, L, L): norm of weight · value · W_O, what key j adds to row i."""
        return self.weights * self.value_norm[..., None, :]

    @property
    def n_layers(self) -> int:
        return self.weights.shape[0]

    @property
    def n_heads(self) -> int:
        return self.weights.shape[1]

    @property
    def n_tokens(self) -> int:
        return self.weights.shape[2]

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-able values; scores of future keys are null."""
        return {
            "question": self.question,
            "answer": self.answer,
            "probability": self.probability,
            "tokens": list(self.labels),
            "word_starts": list(self.word_starts),
            "name_positions": list(self.name_positions),
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


def _rounded(values: Array) -> Any:
    """Nested lists with six significant digits; minus infinity becomes null."""
    if values.ndim > 1:
        return [_rounded(part) for part in values]
    return [float(f"{number:.6g}") if isfinite(number) else None for number in values.tolist()]


def trace_from_dict(data: dict[str, Any]) -> AttentionTrace:
    """The inverse of `to_dict`. Raises ValueError naming what is missing or wrong."""
    try:
        return AttentionTrace(
            question=data["question"],
            answer=data["answer"],
            probability=data["probability"],
            labels=tuple(data["tokens"]),
            word_starts=tuple(data["word_starts"]),
            name_positions=tuple(data["name_positions"]),
            steps=tuple(_step(step) for step in data["steps"]),
            proof=Proof(**data["proof"]),
            **{name: _array(name, data[name]) for name in ARRAYS},
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"not a stored trace: {error}") from None


def _step(data: dict[str, Any]) -> Step:
    return Step(
        row=data["row"],
        position=data["position"],
        label=data["token"],
        probability=data["probability"],
        next_best=tuple(Candidate(label, p) for label, p in data["next_best"]),
    )


def _array(name: str, values: Any) -> Array:
    numbers = np.array(values, dtype=np.float32)
    missing = np.isnan(numbers)
    if name != "scores" and missing.any():
        raise ValueError(f"a null in {name}; only scores of future keys are null")
    return np.where(missing, np.float32(-np.inf), numbers)
