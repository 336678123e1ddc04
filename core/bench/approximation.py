"""How well feature maps stand for exp: errors by number of features, size of logits and terms.

Queries and keys are random directions of equal length, so that B = ‖q‖‖k‖/√d is the largest logit
that can be; values are N(0, 1). The error is that of the output, ‖output − softmax‖ / ‖softmax‖,
over some rows; the median of several seeds with the smallest and the largest. Uniform attention,
which looks at nothing, is the reference. All in float64.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor

from core.attention import favor, linear, softmax, taylor
from core.attention.feature_maps import FeatureMap, elu

N_KEYS, N_ROWS, N_SEEDS = 512, 64, 7
HEAD_DIM, N_FEATURES, N_TERMS = 32, 128, 3
UNIFORM = "uniform attention"
# Name -> kind of features, and whether the rows are orthogonal. Equal numbers of features: cosine
# and sine of half as many rows.
RANDOM: dict[str, tuple[favor.Kind, bool]] = {
    "positive, orthogonal": ("positive", True),
    "positive, iid": ("positive", False),
    "trigonometric, orthogonal": ("trigonometric", True),
    "trigonometric, iid": ("trigonometric", False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorPoint:
    """One median error; `at` is the number of features, the largest logit or the terms.

    `negative_share` is the share of negative weights, or of rows whose normaliser is not above 0.
    """

    name: str
    at: float
    error: float
    low: float
    high: float
    negative_share: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharp:
    """The weight on one aligned key, by mechanism, at a logit of B."""

    name: str
    logit: float
    weight: float


def errors_by_features(counts: Sequence[int], *, largest_logit: float) -> list[ErrorPoint]:
    """Each kind of random features at each number of features, and uniform attention."""
    found = [
        median(name, m, [_random(seed, name, m, largest_logit) for seed in seeds()])
        for name in RANDOM
        for m in counts
    ]
    return found + [_uniform(m, largest_logit) for m in counts]


def errors_by_logit(logits: Sequence[float]) -> list[ErrorPoint]:
    """The maps against the size of the logits, and uniform attention."""
    fixed: dict[str, FeatureMap] = {
        "elu+1": elu,
        f"Taylor, K = {N_TERMS}": taylor.feature_map(HEAD_DIM, N_TERMS),
    }
    found: list[ErrorPoint] = []
    for b in logits:
        for kind in ("positive", "trigonometric"):
            name = f"{kind}, orthogonal"
            runs = [_random(seed, name, N_FEATURES, b) for seed in seeds()]
            found.append(median(f"FAVOR+, {kind}", b, runs))
        for name, feature_map in fixed.items():
            runs = [_error(seed, feature_map, b) for seed in seeds()]
            found.append(median(name, b, runs))
        found.append(_uniform(b, b))
    return found


def errors_by_terms(terms: Sequence[int], logits: Sequence[float]) -> list[ErrorPoint]:
    """Taylor with K terms at sizes of logits, with the share of weights that are negative.

    By the polynomial itself, which is what the features multiply to: no r = Σ d^k is formed.
    """
    found: list[ErrorPoint] = []
    for b in logits:
        for k in terms:
            run = partial(taylor.polynomial, n_terms=k)
            runs = [_polynomial(seed, run, b) for seed in seeds()]
            found.append(median(f"B = {b:g}", k, runs))
    return found


def sharpness(logits: Sequence[float]) -> list[Sharp]:
    """One key lies along the query at logit B, all others are random of equal length.

    The weight on it that softmax gives, and what each map gives; medians over seeds.
    """
    rows: list[Sharp] = []
    for b in logits:
        weights: dict[str, list[float]] = {}
        for seed in seeds():
            query, key, _ = draw(seed, b)
            query = key[:, :, :1]  # a query is a direction: the first key's own
            maps: dict[str, FeatureMap] = {
                f"Taylor, K = {N_TERMS}": taylor.feature_map(HEAD_DIM, N_TERMS),
                "FAVOR+": favor.feature_map(_rows(seed, N_FEATURES)),
                "elu+1": elu,
            }
            exact = softmax.weights(softmax.scores(query, key))
            weights.setdefault("softmax", []).append(float(exact[0, 0, 0, 0]))
            for name, feature_map in maps.items():
                shown = linear.weights(query, key, feature_map)
                weights.setdefault(name, []).append(float(shown[0, 0, 0, 0]))
        rows += [
            Sharp(name=name, logit=b, weight=float(np.median(found)))
            for name, found in weights.items()
        ]
    return rows


def draw(seed: int, largest_logit: float) -> tuple[Tensor, Tensor, Tensor]:
    """Query (1, 1, N_ROWS, d), key and value (1, 1, N_KEYS, d)."""
    generator = torch.Generator().manual_seed(seed)

    def normal(n: int) -> Tensor:
        return torch.randn(1, 1, n, HEAD_DIM, generator=generator, dtype=torch.float64)

    length = (largest_logit * HEAD_DIM**0.5) ** 0.5
    directions = [normal(n) for n in (N_ROWS, N_KEYS)]
    query, key = (length * x / x.square().sum(-1, keepdim=True).sqrt() for x in directions)
    return query, key, normal(N_KEYS)


Run = tuple[float, float]  # error, negative share


def _random(seed: int, name: str, n_features: int, largest_logit: float) -> Run:
    kind, orthogonal = RANDOM[name]
    n_rows = n_features if kind == "positive" else n_features // 2
    rows = _rows(seed, n_rows, orthogonal=orthogonal)
    return _error(seed, favor.feature_map(rows, kind), largest_logit)


def _error(seed: int, feature_map: FeatureMap, largest_logit: float) -> Run:
    query, key, value = draw(seed, largest_logit)
    shown = linear.weights(query, key, feature_map)
    totals = linear.scores(query, key, feature_map).sum(-1)
    share = float((totals <= 0).double().mean())
    return _distance(shown @ value, query, key, value), share


def _polynomial(seed: int, run: Callable[[Tensor], Tensor], largest_logit: float) -> Run:
    query, key, value = draw(seed, largest_logit)
    values = run(softmax.scores(query, key))
    shown = values / values.sum(-1, keepdim=True)
    return _distance(shown @ value, query, key, value), float((values < 0).double().mean())


def _uniform(at: float, largest_logit: float) -> ErrorPoint:
    runs: list[Run] = []
    for seed in seeds():
        query, key, value = draw(seed, largest_logit)
        mean = value.mean(dim=2, keepdim=True).expand(-1, -1, N_ROWS, -1)
        runs.append((_distance(mean, query, key, value), 0.0))
    return median(UNIFORM, at, runs)


def _distance(output: Tensor, query: Tensor, key: Tensor, value: Tensor) -> float:
    exact, _ = softmax.attend(query, key, value)
    return float((output - exact).square().sum().sqrt() / exact.square().sum().sqrt())


def median(name: str, at: float, runs: Sequence[Run]) -> ErrorPoint:
    """Of runs, each an error and a share."""
    errors = [error for error, _ in runs]
    return ErrorPoint(
        name=name,
        at=float(at),
        error=float(np.median(errors)),
        low=min(errors),
        high=max(errors),
        negative_share=float(np.mean([share for _, share in runs])),
    )


def _rows(seed: int, n_rows: int, *, orthogonal: bool = True) -> Tensor:
    generator = torch.Generator().manual_seed(1000 + seed)
    return favor.draw_projection(n_rows, HEAD_DIM, generator=generator, orthogonal=orthogonal)


def seeds() -> range:
    """Those that every error is the median of."""
    return range(N_SEEDS)
