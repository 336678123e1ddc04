"""Some keys get a second value: who gives back the new one, and who still knows the others?"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core.intervals import Rate, grouped_rate
from core.memory.coefficients import coefficients
from core.memory.pairs import draw_pairs, nearest
from core.memory.spec import METHODS, MemorySpec, check_pairs

N_KEYS, N_REWRITTEN = 32, 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Overwriting:
    """Shares by mechanism: of rewritten keys that give their new value, of the others their own,
    and of rewritten keys that give their old one. Right is nearest among all values, old and new.
    """

    spec: MemorySpec
    n_keys: int
    n_rewritten: int
    rewritten: dict[str, Rate]
    kept: dict[str, Rate]
    stale: dict[str, Rate]
    seconds: float = field(compare=False)  # two that take different times are the same

    def to_dict(self) -> dict[str, Any]:
        """Shares, and beside them the intervals."""
        parts = {"rewritten": self.rewritten, "kept": self.kept, "stale": self.stale}
        shares = {name: {m: r.value for m, r in rates.items()} for name, rates in parts.items()}
        intervals = {
            name: {m: [r.low, r.high] for m, r in rates.items()} for name, rates in parts.items()
        }
        return {
            "keys": self.n_keys,
            "keys_rewritten": self.n_rewritten,
            **shares,
            "intervals": intervals,
            "seconds": self.seconds,
        }


def measure_overwriting(
    spec: MemorySpec,
    *,
    n_keys: int = N_KEYS,
    n_rewritten: int = N_REWRITTEN,
    methods: Sequence[str] = METHODS,
) -> Overwriting:
    """Write every key, then the first `n_rewritten` again with new values, in the same order.

    Raises ValueError for numbers that are not possible.
    """
    started = time.perf_counter()
    if not 1 <= n_rewritten < n_keys:
        raise ValueError(f"{n_rewritten} of {n_keys} keys rewritten: 1 to {n_keys - 1} can be")
    check_pairs((n_keys + n_rewritten,), spec)
    keys, values = draw_pairs(spec, n_keys, n_keys + n_rewritten)
    written = np.concatenate([keys, keys[:, :n_rewritten]], 1)
    own = np.arange(n_keys)
    new = np.where(own < n_rewritten, own + n_keys, own)
    found: dict[str, dict[str, Rate]] = {"rewritten": {}, "kept": {}, "stale": {}}
    for method in methods:
        given = nearest(coefficients(method, keys, written, spec) @ values, values)
        again, left = slice(0, n_rewritten), slice(n_rewritten, None)
        hits = {
            "rewritten": (given == new)[:, again],
            "kept": (given == own)[:, left],
            "stale": (given == own)[:, again],
        }
        for name, hit in hits.items():
            parts, wholes = hit.sum(1).tolist(), [hit.shape[1]] * len(hit)
            found[name][method] = grouped_rate(parts, wholes, range(len(hit)), seed=spec.seed)
    return Overwriting(
        spec=spec,
        n_keys=n_keys,
        n_rewritten=n_rewritten,
        seconds=time.perf_counter() - started,
        **found,
    )
