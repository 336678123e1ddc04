"""Figures of pairs in a state: how many it gives back, what it overwrites, what models keep."""

from core.lessons.computed.once import Once
from core.memory.capacity import Capacity, measure_capacity
from core.memory.generation import MODELS
from core.memory.mqar import Recall, load_recall
from core.memory.names import FORMS
from core.memory.overwrite import Overwriting, measure_overwriting
from core.memory.spec import PAIRS, MemorySpec
from core.memory.states import Write, drawn_state

PARTS = ("rewritten", "kept", "stale")


def recalled_share(once: Once, *, method: str, dim: int, pairs: int) -> float:
    """Raises ValueError for a number of pairs that is not measured."""
    found = _capacity(once, method, dim)
    if pairs not in found.pairs:
        raise ValueError(f"{pairs} pairs are not measured; {', '.join(map(str, PAIRS))} are")
    return found.recalled[method][found.pairs.index(pairs)].value


def pairs_at_half(once: Once, *, method: str, dim: int) -> float:
    """Raises ValueError where it is not among the numbers measured."""
    return _known(_capacity(once, method, dim).half(method), method)


def pairs_at_half_by_theory(once: Once, *, method: str, dim: int) -> float:
    """Raises ValueError where there is no theory, or none that says."""
    return _known(_capacity(once, method, dim).half_by_theory(method), method)


def overwritten_share(once: Once, *, method: str, dim: int, of: str) -> float:
    """Of the usual numbers of keys."""
    if of not in PARTS:
        raise ValueError(f"of is {of!r:.40}; {', '.join(PARTS)} are known")
    spec = MemorySpec(dim=dim)
    _check(method)
    found: Overwriting = once.get(("overwriting", dim), lambda: measure_overwriting(spec))
    return getattr(found, of)[method].value


def taken_by_write(once: Once, *, method: str, write: int) -> float:
    """Writes are counted from 1."""
    return _write(once, method, write).taken


def read_after_write(once: Once, *, method: str, write: int) -> float:
    """Writes are counted from 1."""
    return _write(once, method, write).read


def trained_share(once: Once, *, model: str, pairs: int) -> float:
    """Raises ValueError for a model or a number of pairs that was not trained."""
    record: Recall = once.get("trained to recall", load_recall)
    names = [found.model for found in record.found]
    if model not in names:
        raise ValueError(f"unknown model {model!r:.40}; trained were {', '.join(names)}")
    if pairs not in record.pairs:
        raise ValueError(
            f"{pairs} pairs were not trained; {', '.join(map(str, record.pairs))} were"
        )
    return record.of([model])[0].at(pairs).value


def kept_bytes(once: Once, *, model: str, tokens: int) -> float:
    """Of one text. Raises ValueError for a model that is not named."""
    known = once.get("shapes", lambda: {shape.name: shape for shape in MODELS})
    if model not in known:
        raise ValueError(f"unknown model {model!r:.40}; models: {', '.join(known)}")
    return float(known[model].n_bytes(tokens))


def _capacity(once: Once, method: str, dim: int) -> Capacity:
    _check(method)
    spec = MemorySpec(dim=dim)
    return once.get(("capacity", method, dim), lambda: measure_capacity(spec, methods=(method,)))


def _check(method: str) -> None:
    if method not in FORMS:
        raise ValueError(f"unknown mechanism {method!r:.40}; known: {', '.join(FORMS)}")


def _known(pairs: float | None, method: str) -> float:
    if pairs is None:
        raise ValueError(f"{method} does not lose a half between {PAIRS[0]} and {PAIRS[-1]} pairs")
    return pairs


def _write(once: Once, method: str, number: int) -> Write:
    found: list[Write] = once.get(("writes", method), lambda: drawn_state(method, MemorySpec())[1])
    if not 1 <= number <= len(found):
        raise ValueError(f"write {number}; 1 to {len(found)} are drawn")
    return found[number - 1]
