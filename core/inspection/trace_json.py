"""A trace as JSON-able values, and back. No torch here."""

from math import isfinite
from typing import Any

import numpy as np

from core.inspection.traced import (
    ARRAYS,
    MAY_LACK,
    Array,
    AttentionTrace,
    Candidate,
    Proof,
    Step,
)


def trace_to_dict(trace: AttentionTrace) -> dict[str, Any]:
    """Everything as JSON-able values; hidden scores are null."""
    return {
        **said_of(trace),
        "axes": "layer, head, query position, key position (or head_dim); zero-based",
        "seen": None if trace.seen is None else trace.seen.tolist(),
        **{name: _rounded(getattr(trace, name)) for name in ARRAYS},
    }


def said_of(trace: AttentionTrace) -> dict[str, Any]:
    """What a trace says beside its arrays."""
    return {
        "question": trace.question,
        "answer": trace.answer,
        "probability": trace.probability,
        "tokens": list(trace.labels),
        "word_starts": list(trace.word_starts),
        "name_positions": list(trace.name_positions),
        "latent_positions": list(trace.latent_positions),
        "mechanism": trace.mechanism,
        "kinds": list(trace.kinds),
        "n_source": trace.n_source,
        "n_kv_heads": trace.n_kv_heads,
        "special": list(trace.special),
        "lacking": list(trace.lacking),
        "teacher_forced": trace.teacher_forced,
        "recorded": [list(head) for head in trace.recorded],
        "ablated": [list(head) for head in trace.ablated],
        "mode": trace.mode,
        "steps": [_step_dict(step) for step in trace.steps],
        "proof": {name: getattr(trace.proof, name) for name in Proof.__slots__},
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
    """The inverse of `trace_to_dict`. Raises ValueError naming what is missing or wrong."""
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
            kinds=tuple(data.get("kinds", ())),
            n_source=data.get("n_source", 0),
            n_kv_heads=data.get("n_kv_heads", 0),
            special=tuple(data.get("special", ())),
            lacking=tuple(data.get("lacking", ())),
            teacher_forced=data.get("teacher_forced", False),
            recorded=tuple((layer, head) for layer, head in data.get("recorded", ())),
            seen=None if data.get("seen") is None else np.array(data["seen"], dtype=np.bool_),
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
    if not trace.scores.size and (
        trace.seen is None or trace.seen.shape != (n_layers, length, length)
    ):
        raise ValueError("without scores, seen has to say what each row of each layer may look at")
    needed = {"scores": pairs, "weights": pairs, "value_norm": rows[:3], "sink": rows[:3]}
    for name in ARRAYS:
        found, shape = getattr(trace, name), needed.get(name, rows)
        if found is None or (name == "scores" and not found.size):
            continue
        if found.shape != shape:
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
    return name in MAY_LACK and data.get(name) is None


def _array(name: str, values: Any) -> Array:
    numbers = np.asarray(values, dtype=np.float32)
    missing = np.isnan(numbers)
    if name != "scores" and missing.any():
        raise ValueError(f"a null in {name}; only hidden scores are null")
    return np.where(missing, np.float32(-np.inf), numbers)
