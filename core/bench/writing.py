"""One token written behind a past: what each mechanism keeps, and its step.

Nothing is implemented here. Softmax is that of core.models.heads over a cache of keys and values;
in its explicit form the weights are formed. All others have the steps of core.attention. What is
kept is made outside the timer, and a step leaves it as it was.

The cache has room for its next token, which is written into it: the fair case. Where it grows by
copying (`after` of core.models.heads) a step moves three times as much.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from typing import Any, cast

import torch
from torch import Tensor

from core.attention import based, delta, gate, gated_delta, linear, window
from core.bench.methods import build, feature_map, generator_of, rates
from core.bench.spec import BenchSpec
from core.catalogue import FEATURE_MAPS, WRITERS, family
from core.models.heads import DotHeads, Heads

Rows = tuple[Tensor, Tensor, Tensor]  # query, key and value


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """`kept` of a past is a cache or a state; `step` gives the next token's output (B, H, 1, d) and
    what is kept then.
    """

    kept: Any
    step: Callable[[], tuple[Tensor, Any]]

    def output(self) -> Tensor:
        """Of one step: what is timed."""
        with torch.no_grad():
            return self.step()[0]

    def kept_bytes(self) -> int:
        """Of all tensors that are kept; room for tokens to come is not counted."""
        return sum(x.numel() * x.element_size() for x in tensors(self.kept))


@torch.no_grad()
def written(spec: BenchSpec, method: str, given: Rows) -> Written:
    """The last of the given tokens (B, H, L + 1, d) behind all others. Raises ValueError for a
    method that has no step.
    """
    if method not in WRITERS:
        raise ValueError(f"{method} has no step; methods that write: {', '.join(WRITERS)}")
    if family(method) == "exact":
        return _with_cache(method, given)
    n_past = given[0].shape[2] - 1
    past, last = _rows(given, slice(0, n_past)), _rows(given, slice(n_past, None))
    if method in FEATURE_MAPS:
        chosen = feature_map(spec, method, generator_of(spec))
        state = linear.resume(*past, chosen, linear.start(*past[1:], chosen))[1]
        return Written(kept=state, step=partial(linear.step, *last, chosen, state))
    if method in IN_ORDER:
        return _with_matrix(spec, method, past, last)
    return _with_window(spec, method, past, last)


@torch.no_grad()
def last_of_pass(spec: BenchSpec, method: str, given: Rows) -> Tensor:
    """The last row (B, H, 1, d) of a pass over the whole text."""
    return build(spec, method, given[0].shape[2])(*given)[:, :, -1:]


def tensors(kept: Any) -> list[Tensor]:
    """All that is kept: of a cache keys and values, of a state whatever it has."""
    if isinstance(kept, Tensor):
        return [kept]
    if is_dataclass(kept):
        return [x for entry in fields(kept) for x in tensors(getattr(kept, entry.name))]
    parts = cast("tuple[Any, ...]", kept) if isinstance(kept, tuple) else ()
    return [x for part in parts for x in tensors(part)]


def _with_cache(method: str, given: Rows) -> Written:
    """Keys and values of all tokens, with room for one more."""
    _, keys, values = _rows(given, slice(None))
    query, key, value = _rows(given, slice(keys.shape[2] - 1, None))
    places = torch.arange(keys.shape[2], device=keys.device)
    now = DotHeads(query=query, key=keys, value=values, rows=places[-1:], columns=places)

    def step() -> tuple[Tensor, DotHeads]:
        keys[:, :, -1:], values[:, :, -1:] = key, value
        return (Heads.output(now) if method == "explicit" else now.output()), now

    return Written(kept=(keys[:, :, :-1], values[:, :, :-1]), step=step)


def _rows(given: Rows, rows: slice) -> Rows:
    """These positions, in memory of their own."""
    query, key, value = (x[:, :, rows].clone(memory_format=torch.contiguous_format) for x in given)
    return query, key, value


def _with_matrix(spec: BenchSpec, method: str, past: Rows, last: Rows) -> Written:
    """A matrix that is written and fades, with the rates that the whole pass has."""
    mechanism, n_past = IN_ORDER[method], past[0].shape[2]
    every = rates(spec, method, n_past + 1, generator_of(spec)).values()
    first = mechanism.start(past[1], past[2])
    state = mechanism.resume(*past, *(rate[:, :, :n_past] for rate in every), first)[1]
    now = [rate[:, :, n_past:].contiguous() for rate in every]
    return Written(kept=state, step=partial(mechanism.step, *last, *now, state))


def _with_window(spec: BenchSpec, method: str, past: Rows, last: Rows) -> Written:
    """The last tokens as they are, beside the first few or the sums of all others."""
    if method == "window":
        sizes = {"window": spec.sizes.window, "n_sinks": spec.sizes.n_sinks}
        state = window.resume(*past, None, **sizes)[1]
        return Written(kept=state, step=partial(window.step, *last, state))
    chosen = based.feature_map(spec.head_dim)
    state = based.resume(*past, chosen, None, window=spec.sizes.window)[1]
    return Written(kept=state, step=partial(based.step, *last, chosen, state))


IN_ORDER: dict[str, Any] = {"delta": delta, "gated-delta": gated_delta, "gate": gate}
