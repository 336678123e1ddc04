"""Where the weight of a head goes over a sound, as numbers: free of torch."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.inspection.heads import Head
from core.inspection.heard import Array, Diagonal, Listened, diagonal
from core.speech.features import RATE

QUIET = 0.02  # of the loudest column: below it a column is quiet
# A head is called dull that is hardly more diagonal than one that looks at all alike.
DULL = 1.5
UNSURE = 0.5  # a character below this probability


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Where a head's weight goes.

    columns: over how many a row is spread, the mean of exp(entropy); all of them for a head that
    looks at all alike. ends: its share on the first and the last column together. quiet: its share
    on columns without sound; quiet_time: the share of such columns.
    """

    columns: float
    n_columns: int
    ends: float
    ends_uniform: float
    quiet: float
    quiet_time: float


def spread(weights: Array, quiet: NDArray[np.bool_]) -> Spread:
    """Of one head's weights (rows, columns); `quiet` (columns,) says which have no sound."""
    n_columns = weights.shape[1]
    logs = np.log(np.maximum(weights, np.finfo(np.float32).tiny))
    ends = sorted({0, n_columns - 1})
    return Spread(
        columns=float(np.exp(-(weights * logs).sum(1)).mean()),
        n_columns=n_columns,
        ends=float(weights[:, ends].sum(1).mean()),
        ends_uniform=len(ends) / n_columns,
        quiet=float(weights[:, quiet].sum(1).mean()),
        quiet_time=float(quiet.mean()),
    )


def quiet_columns(samples: NDArray[np.floating], heard: Listened) -> NDArray[np.bool_]:
    """(columns,): those whose mean square is below QUIET of the loudest one's, as amplitudes; all
    of them where there is no sound at all.
    """
    width = round(heard.seconds_a_column * RATE)
    filled = np.zeros(heard.n_columns * width)
    n_samples = min(len(samples), len(filled))
    filled[:n_samples] = samples[:n_samples]
    loud = np.sqrt(np.square(filled.reshape(-1, width)).mean(1))
    return loud <= QUIET * loud.max(initial=0.0)


def diagonals(heard: Listened) -> dict[Head, Diagonal]:
    """How diagonal each head is that looks at the sound, by its layer in the model."""
    if "cross" not in heard.weights:
        return {}
    return {
        (layer, head): diagonal(weights)
        for layer, of_layer in zip(heard.layers["cross"], heard.weights["cross"], strict=True)
        for head, weights in enumerate(of_layer)
    }


def is_dull(found: Diagonal) -> bool:
    """Whether a head has no diagonal to speak of."""
    return found.share < DULL * found.uniform


def weights_of(heard: Listened, at: Head) -> Array:
    """(rows, columns) of a head by its layer in the model. Raises ValueError for none of it."""
    for kind, layers in heard.layers.items():
        if at[0] in layers:
            found: Array = heard.weights[kind][layers.index(at[0]), at[1]]
            return found
    raise ValueError(f"layer {at[0]} has no heads that are seen")


def weighed_seconds(heard: Listened, weights: Array) -> float:
    """When a head listens on average of these rows, its weights (rows, columns) being their share
    of each column.
    """
    middles = [(column + 0.5) * heard.seconds_a_column for column in range(weights.shape[1])]
    return float(np.mean(weights @ np.asarray(middles)))


def most_diagonal(heard: Listened) -> Head | None:
    """None for a model that does not look at the sound."""
    found = diagonals(heard)
    return max(found, key=lambda at: found[at].share) if found else None


def unsure(heard: Listened) -> list[int]:
    """Which characters have less than UNSURE."""
    return [i for i, one in enumerate(heard.characters) if one.probability < UNSURE]
