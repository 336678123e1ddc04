"""How far causal mechanisms are from causal softmax, by the size of the logits.

A state of fixed size, and a window: the same draws and the same error as in
core.bench.approximation, over the last rows of a text, which see most of it. Writing rates and
gates are drawn as they are where times are measured. A delta rule and a gate do not try to be
softmax, and are not normalised: their error says only that a model has to be trained with them.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from core.attention import based, delta, gate, gated_delta, softmax, window
from core.attention.feature_maps import FeatureMap
from core.bench.approximation import HEAD_DIM, N_KEYS, N_ROWS, UNIFORM, ErrorPoint, median, seeds
from core.bench.methods import OPEN
from core.catalogue import ONLY_CAUSAL, label
from core.theory.costs import Sizes

Rows = tuple[Tensor, Tensor, Tensor]  # query, key and value


def errors_in_order(logits: Sequence[float]) -> list[ErrorPoint]:
    """Each mechanism that is causal only at each largest logit, and uniform attention to the past;
    named as in pictures.
    """
    features, found = based.feature_map(HEAD_DIM), list[ErrorPoint]()
    for b in logits:
        errors: dict[str, list[float]] = {}
        for seed in seeds():
            given = _draw(seed, b)
            exact = softmax.attend(*given, hidden=_future())[0]
            for name, output in _outputs(seed, given, features).items():
                errors.setdefault(name, []).append(_distance(output, exact))
        found += [median(name, b, [(e, 0.0) for e in some]) for name, some in errors.items()]
    return found


def _outputs(seed: int, given: Rows, features: FeatureMap) -> dict[str, Tensor]:
    """Outputs (1, 1, N_KEYS, d) by what they are called; uniform attention comes last."""
    sizes, value = Sizes(), given[2]
    generator = torch.Generator().manual_seed(2000 + seed)
    beta, gates = (torch.randn(1, 1, N_KEYS, generator=generator).double() for _ in range(2))
    beta, log_gate = beta.sigmoid(), logsigmoid(gates + OPEN)
    calls: dict[str, Callable[[], Tensor]] = {
        "delta": lambda: delta.attend(*given, beta),
        "gated-delta": lambda: gated_delta.attend(*given, beta, log_gate),
        "gate": lambda: gate.attend(*given, log_gate),
        "window": lambda: window.attend(*given, window=sizes.window, n_sinks=sizes.n_sinks),
        "based": lambda: based.attend(*given, features, window=sizes.window),
    }
    n_seen = torch.arange(1, N_KEYS + 1)[:, None]
    found = {label(name): calls[name]() for name in ONLY_CAUSAL}
    return {**found, UNIFORM: value.cumsum(2) / n_seen}


def _draw(seed: int, largest_logit: float) -> Rows:
    """Query, key and value (1, 1, N_KEYS, d); queries and keys are directions of one length."""
    generator = torch.Generator().manual_seed(seed)
    shape = (1, 1, N_KEYS, HEAD_DIM)
    query, key, value = (
        torch.randn(shape, generator=generator, dtype=torch.float64) for _ in range(3)
    )
    length = (largest_logit * HEAD_DIM**0.5) ** 0.5
    query, key = (length * x / x.square().sum(-1, keepdim=True).sqrt() for x in (query, key))
    return query, key, value


def _future() -> Tensor:
    positions = torch.arange(N_KEYS)
    return softmax.future(positions, positions)


def _distance(output: Tensor, exact: Tensor) -> float:
    """On the last rows."""
    off, exact = (output - exact)[:, :, -N_ROWS:], exact[:, :, -N_ROWS:]
    return float(off.square().sum().sqrt() / exact.square().sum().sqrt())
