"""How many of N pairs each mechanism gives back: a sample beside its theory."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core.intervals import Rate, grouped_rate
from core.memory.coefficients import coefficients
from core.memory.pairs import draw_pairs, nearest
from core.memory.spec import LINEAR, METHODS, PAIRS, MemorySpec, check_pairs
from core.theory.recall import (
    Moments,
    delta_moments,
    half_lost,
    linear_moments,
    recall_share,
)

KEPT_BY_SOFTMAX = 4.0  # from this β on a window of softmax recalls what is in it


_MOMENTS: dict[str, Callable[[int, MemorySpec], Moments]] = {
    LINEAR: lambda n, spec: linear_moments(n, spec.dim),
    "gate": lambda n, spec: linear_moments(n, spec.dim, decay=spec.decay),
    "delta": lambda n, spec: delta_moments(n, spec.dim),
    "gated-delta": lambda n, spec: delta_moments(n, spec.dim, decay=spec.delta_decay),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """Share of the values recalled, by mechanism, one for each number of pairs.

    A recall is right when no stored value is nearer to what is read than the key's own. Intervals
    (95 %) are over draws. `theory` is None where none is known.
    """

    spec: MemorySpec
    pairs: tuple[int, ...]
    recalled: dict[str, tuple[Rate, ...]]
    theory: dict[str, tuple[float, ...] | None]
    # Not of the measurement: two that take different times are the same.
    seconds: float = field(compare=False)

    def half(self, method: str) -> float | None:
        """The number of pairs at which a half is lost, where it is among those measured."""
        return half_lost(list(self.pairs), [rate.value for rate in self.recalled[method]])

    def half_by_theory(self, method: str) -> float | None:
        shares = self.theory[method]
        return None if shares is None else half_lost(list(self.pairs), list(shares))

    def forgets_first(self, methods: Sequence[str]) -> str:
        """Which has lost a half with the fewest pairs; of those that have not, which recalls least
        of the most pairs.
        """

        def lasts(method: str) -> tuple[float, float]:
            shares = [rate.value for rate in self.recalled[method]]
            never = float("inf") if shares[0] >= 0.5 else 0.0
            half = self.half(method)
            return (never if half is None else half), shares[-1]

        return min(methods, key=lasts)

    def to_dict(self) -> dict[str, Any]:
        """`recalled` and `theory` as plain lists, by mechanism."""
        return {
            "pairs": list(self.pairs),
            "recalled": {m: [r.value for r in rates] for m, rates in self.recalled.items()},
            "low": {m: [r.low for r in rates] for m, rates in self.recalled.items()},
            "high": {m: [r.high for r in rates] for m, rates in self.recalled.items()},
            "theory": {m: None if t is None else list(t) for m, t in self.theory.items()},
            "seconds": self.seconds,
        }


def measure_capacity(
    spec: MemorySpec,
    *,
    pairs: Sequence[int] = PAIRS,
    methods: Sequence[str] = METHODS,
    progress: Callable[[str], None] = lambda _text: None,
) -> Capacity:
    """Draw, write, ask. Raises ValueError for numbers of pairs that are not possible.

    Cost: for each number of pairs and mechanism about draws · N² · 3d operations.
    """
    started = time.perf_counter()
    numbers = tuple(sorted(set(pairs)))
    check_pairs(numbers, spec)
    found: dict[str, list[Rate]] = {method: [] for method in methods}
    for n in numbers:
        keys, values = draw_pairs(spec, n, n)
        for method in methods:
            progress(f"{method}, {n} pairs")
            read = coefficients(method, keys, keys, spec) @ values
            right = (nearest(read, values) == np.arange(n)).sum(1)
            found[method].append(_rate(right.tolist(), n, spec.seed))
    return Capacity(
        spec=spec,
        pairs=numbers,
        recalled={method: tuple(rates) for method, rates in found.items()},
        theory={method: theory_of(method, numbers, spec) for method in methods},
        seconds=time.perf_counter() - started,
    )


def theory_of(method: str, pairs: Sequence[int], spec: MemorySpec) -> tuple[float, ...] | None:
    """Of core.theory.recall; a window of softmax recalls what is in it. None for the others."""
    if method in _MOMENTS:
        return tuple(recall_share(_MOMENTS[method](n, spec), spec.dim) for n in pairs)
    if method == "window" and spec.beta >= KEPT_BY_SOFTMAX:
        return tuple(min(1.0, spec.window / n) for n in pairs)
    return None


def _rate(right: list[int], n_pairs: int, seed: int) -> Rate:
    return grouped_rate(right, [n_pairs] * len(right), range(len(right)), seed=seed)
