"""What a recogniser would say of a sound, made up: a text, and a head that goes along with it."""

import numpy as np
from numpy.typing import NDArray

from core.inspection.heard import END, Array, Kind, Listened, Proof, Written

N_COLUMNS = 40


def along(n_rows: int, n_columns: int = N_COLUMNS) -> Array:
    """Weights (rows, columns) whose rows go along with the sound."""
    rows, columns = np.arange(n_rows)[:, None], np.arange(n_columns)
    far = np.abs((rows + 0.5) / n_rows - (columns + 0.5) / n_columns)
    weights = np.exp(-40 * far)
    return (weights / weights.sum(1, keepdims=True)).astype(np.float32)


def uniform(n_rows: int, n_columns: int = N_COLUMNS) -> Array:
    return np.full((n_rows, n_columns), 1 / n_columns, np.float32)


def fake_heard(
    text: str, *, frames: NDArray[np.floating] | None = None, looks: bool = True
) -> Listened:
    """Two layers of two heads of each kind; of those that look, L4·H1 alone goes along."""
    n_rows, n_columns = len(text) + 1, N_COLUMNS if frames is None else -(-len(frames) // 4)
    weights: dict[Kind, Array] = {
        "encoder": np.stack([[uniform(n_columns, n_columns)] * 2] * 2),
    }
    if looks:
        flat, good = uniform(n_rows, n_columns), along(n_rows, n_columns)
        weights["cross"] = np.stack([[flat, flat], [flat, good]])
    layers: dict[Kind, tuple[int, ...]] = {"encoder": (0, 1), "cross": (3, 4)}
    labels = [*text.replace(" ", "·"), END]
    return Listened(
        text=text,
        characters=tuple(
            Written(label=label, probability=0.4 if i == 2 else 0.9, next_best=(("x", 0.05),))
            for i, label in enumerate(labels)
        ),
        frames=np.zeros((4 * n_columns, 40), np.float32) if frames is None else frames,
        weights=weights,
        layers={kind: found for kind, found in layers.items() if kind in weights},
        ctc_text="wer was",
        proof=Proof(replay_max_difference=2e-6, row_sum_max_error=3e-7),
        seconds_a_column=0.05,
    )
