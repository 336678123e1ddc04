"""Random pairs of a key and a value, and which of them a reading is nearest to."""

import numpy as np
from numpy.typing import NDArray

from core.memory.spec import MemorySpec

Array = NDArray[np.floating]


def draw_pairs(spec: MemorySpec, n_keys: int, n_values: int) -> tuple[Array, Array]:
    """Keys (draws, n_keys, d) and values (draws, n_values, d), each of length 1.

    Seed and number of keys and values give them; no other number of pairs changes them.
    """
    generator = np.random.default_rng([spec.seed, n_keys, n_values])
    shape = (spec.n_draws, n_keys + n_values, spec.dim)
    drawn = generator.standard_normal(shape, dtype=np.float32)
    drawn /= np.linalg.norm(drawn, axis=-1, keepdims=True)
    return drawn[:, :n_keys], drawn[:, n_keys:]


def nearest(read: Array, values: Array) -> NDArray[np.intp]:
    """(draws, n) which value of (draws, m, d) each reading (draws, n, d) points to the most.

    Of values of length 1 that is the nearest. A reading of zero points nowhere: −1.
    """
    found = (read @ values.swapaxes(-1, -2)).argmax(-1)
    return np.where(np.any(read, axis=-1), found, -1)
