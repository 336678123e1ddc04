"""A state of d x d numbers while pairs arrive: what a write adds, and what it takes away.

    S ← γ S + k vᵀ − k (γ Sᵀ k)ᵀ

The last term is the delta rules' alone, and γ < 1 the gates'. Read with a key, S gives Sᵀ k.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.memory.pairs import Array, draw_pairs
from core.memory.spec import MATRICES, MemorySpec

# Of a state that is drawn: its d, so that cells are seen, its keys, and how many come again.
DRAWN_DIM, DRAWN_KEYS, DRAWN_AGAIN = 16, 10, 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One pair arrives. `before` and `after` are (d, d), rows along the key, columns the value.

    `faded` is what the gate takes of all, `removed` what the delta rule takes at this key, `added`
    the pair itself: after = before − faded − removed + added. `reads` says what each key so far
    gives: the cosine between what is read and the value that it was last given.
    """

    key: int
    value: int
    before: Array
    faded: Array
    removed: Array
    added: Array
    after: Array
    reads: tuple[float, ...]

    @property
    def taken(self) -> float:
        """The length of what was read at this key and taken away, for keys are of length 1."""
        return float(np.linalg.norm(self.removed))

    @property
    def read(self) -> float:
        """What this key gives now: the cosine with the value that was just written."""
        return self.reads[self.key]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrivals:
    """Pairs in the order they come: `keys` (n, d), `values` (m, d), and for each write which."""

    keys: Array
    values: Array
    order: tuple[tuple[int, int], ...]


def arrivals(spec: MemorySpec, *, n_keys: int, n_rewritten: int) -> Arrivals:
    """Every key with a value, then the first ones again with another. Raises ValueError."""
    if not 0 <= n_rewritten <= n_keys or n_keys < 1:
        raise ValueError(f"{n_rewritten} of {n_keys} keys rewritten: 0 to {n_keys} can be")
    keys, values = draw_pairs(spec, n_keys, n_keys + n_rewritten)
    first = [(i, i) for i in range(n_keys)]
    again = [(i, n_keys + i) for i in range(n_rewritten)]
    return Arrivals(keys=keys[0], values=values[0], order=(*first, *again))


def writes(method: str, pairs: Arrivals, spec: MemorySpec) -> list[Write]:
    """All writes of one draw, in order. Raises ValueError for whose state is no matrix.

    Cost: 5·d² numbers a write are kept.
    """
    if method not in MATRICES:
        raise ValueError(f"{method!r:.40} keeps no matrix; {', '.join(MATRICES)} do")
    decay = {"gate": spec.decay, "gated-delta": spec.delta_decay}.get(method, 1.0)
    takes_away = method in ("delta", "gated-delta")
    state = np.zeros((spec.dim, spec.dim), dtype=np.float32)
    found: list[Write] = []
    given: dict[int, int] = {}
    for key, value in pairs.order:
        k, v = pairs.keys[key], pairs.values[value]
        faded = np.float32(1 - decay) * state
        left = state - faded
        removed = np.outer(k, left.T @ k) if takes_away else np.zeros_like(state)
        added = np.outer(k, v)
        after = left - removed + added
        given[key] = value
        found.append(
            Write(
                key=key,
                value=value,
                before=state,
                faded=faded,
                removed=removed,
                added=added,
                after=after,
                reads=_reads(after, pairs, given),
            )
        )
        state = after
    return found


def _reads(state: Array, pairs: Arrivals, given: dict[int, int]) -> tuple[float, ...]:
    read = pairs.keys[list(given)] @ state
    lengths = np.maximum(np.linalg.norm(read, axis=1), np.finfo(np.float32).tiny)
    wanted = pairs.values[list(given.values())]
    return tuple(((read * wanted).sum(1) / lengths).tolist())


def strongest(found: Sequence[Write]) -> float:
    """The largest number in any of the states, for one scale of colours."""
    return max(float(np.abs(write.after).max()) for write in found)


def drawn_state(method: str, spec: MemorySpec) -> tuple[Arrivals, list[Write]]:
    """A state that is small enough to be drawn; gates and seed are those of `spec`. Raises
    ValueError for whose state is no matrix.
    """
    small = MemorySpec(
        dim=DRAWN_DIM,
        decay=spec.decay,
        delta_decay=spec.delta_decay,
        seed=spec.seed,
        n_draws=2,
    )
    pairs = arrivals(small, n_keys=DRAWN_KEYS, n_rewritten=DRAWN_AGAIN)
    return pairs, writes(method, pairs, small)
