"""Traces that no model made: any number of layers and heads, random weights, any kind of layer."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.inspection.traced import AttentionTrace, Candidate, Proof, Step, no_scores

WORDS = ("The", " cat", " sat", "ting", " on", " 1859", ".", " <b>", "&", " a", "\u00e9", " mat")
PROOF = Proof(
    replay_max_difference=1e-6,
    row_sum_max_error=1e-7,
    future_exactly_zero=True,
    dtype="float32",
)


def seen_by(kind: str, n: int, n_source: int) -> NDArray[np.bool_]:
    """(n, n): what rows of a layer may look at; the source stands before the target."""
    source = np.arange(n) < n_source
    target = ~source
    if kind == "encoder":
        texts = source if n_source else target
        return texts[:, None] & texts
    if kind == "cross":
        return target[:, None] & source
    return np.tri(n, dtype=np.bool_) & target[:, None] & target


def fake_trace(
    n_layers: int,
    n_heads: int,
    n_tokens: int,
    *,
    kinds: tuple[str, ...] = (),
    n_source: int = 0,
    n_kv_heads: int = 0,
    scored: bool = False,
    n_steps: int = 2,
    head_dim: int = 4,
    **more: Any,
) -> AttentionTrace:
    """Softmax over random scores; the last `n_steps` rows write."""
    random = np.random.default_rng(n_layers * n_heads * n_tokens)
    shape = (n_layers, n_heads, n_tokens)
    all_kinds = kinds or ("decoder",) * n_layers
    seen = np.stack([seen_by(kind, n_tokens, n_source) for kind in all_kinds])
    scores = random.standard_normal((*shape, n_tokens), dtype=np.float32) * 2
    scores[:] = np.where(seen[:, None], scores, -np.inf)
    weights = np.exp(scores)
    weights /= np.maximum(weights.sum(-1, keepdims=True), 1e-30)
    vectors = random.standard_normal((4, *shape, head_dim), dtype=np.float32)
    labels = tuple(WORDS[i % len(WORDS)].replace(" ", "·") for i in range(n_tokens))
    rows = range(n_tokens - n_steps, n_tokens)
    steps = tuple(
        Step(
            row=row,
            position=row + 1,
            label=f"w{row}",
            probability=0.5,
            next_best=(Candidate("x", 0.25), Candidate("y", 0.125)),
        )
        for row in rows
    )
    given: dict[str, Any] = {
        "question": "The cat sat",
        "answer": "on the mat",
        "probability": 0.25,
        "labels": labels,
        "word_starts": tuple(i == 0 or label.startswith("·") for i, label in enumerate(labels)),
        "name_positions": (),
        "kinds": kinds,
        "n_source": n_source,
        "n_kv_heads": n_kv_heads,
        "special": tuple(i == 0 for i in range(n_tokens)),
        "steps": steps,
        "query": vectors[0],
        "key": vectors[1],
        "value": vectors[2],
        "output": vectors[3],
        "scores": scores if scored else no_scores(),
        "seen": seen,
        "weights": weights,
        "value_norm": np.linalg.norm(vectors[2], axis=-1),
        "proof": PROOF,
    }
    return AttentionTrace(**{**given, **more})
