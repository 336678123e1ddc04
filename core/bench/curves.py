"""Measured curves beside what the formulas predict, and the floor that the machine sets. No torch.

The formula of a time has one free factor, the rate that the mechanism reaches: it is set where the
longest text was measured, so that the dashed line shows how the formula grows. That of the memory
has none. In generation the formula of a time counts what a step reads, and the memory is what is
kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.bench.fits import Fit, fit
from core.bench.record import Bench, Record, Setting
from core.bench.spec import BOTH, DTYPES, GENERATION
from core.bench.summary import methods_of
from core.catalogue import METHODS, ONLY_CAUSAL, WITHOUT_CAUSAL_FORM, WRITERS
from core.theory.costs import Shape, Sizes, floor_seconds, predict
from core.theory.steps import kept_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One measured value with its quartiles; with `flags` it is to be read with care."""

    seq_len: int
    value: float
    low: float
    high: float
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One method: measured, by formula, and how fast it grows."""

    method: str
    points: tuple[Point, ...]
    predicted: tuple[tuple[int, float], ...]
    slope: Fit | None


def time_curves(bench: Bench, setting: Setting) -> list[Curve]:
    """Seconds by length; formulas are those of a forward pass, which all passes grow like."""
    records, curves = bench.of(setting), list[Curve]()
    for method in methods_of(records):
        points = [
            Point(
                seq_len=r.seq_len,
                value=r.median_seconds,
                low=r.p25_seconds or r.median_seconds,
                high=r.p75_seconds or r.median_seconds,
                flags=r.flags,
            )
            for r in _sorted(records, method)
            if r.median_seconds is not None
        ]
        costs = _costs(bench, setting, method)
        last = points[-1] if points else None
        rate = costs.get(last.seq_len, (0, 0))[0] / last.value if last is not None else 0.0
        predicted = [(n, operations / rate) for n, (operations, _) in costs.items() if rate]
        curves.append(_curve(method, points, predicted))
    return curves


def memory_curves(bench: Bench, setting: Setting) -> list[Curve]:
    """Bytes beside the inputs, output included; the formulas know the forward pass only.

    What is too little to be seen in the memory of a process (0) is left out.
    """
    records, curves = bench.of(setting), list[Curve]()
    for method in methods_of(records):
        points = [
            Point(seq_len=r.seq_len, value=peak, low=peak, high=peak, flags=r.flags)
            for r in _sorted(records, method)
            if (peak := r.peak_bytes)
        ]
        known = {} if setting.pass_name == BOTH else _costs(bench, setting, method)
        predicted = [
            (n, float(extra + output_bytes(bench, setting, n))) for n, (_, extra) in known.items()
        ]
        curves.append(_curve(method, points, predicted))
    return curves


def kept_curves(bench: Bench, setting: Setting) -> list[Curve]:
    """Bytes kept of the tokens before, in generation: counted from the tensors, and by formula."""
    records, curves = bench.of(setting), list[Curve]()
    for method in methods_of(records):
        points = [
            Point(seq_len=r.seq_len, value=kept, low=kept, high=kept, flags=())
            for r in _sorted(records, method)
            if (kept := r.kept_bytes)
        ]
        known = _costs(bench, setting, method)
        curves.append(_curve(method, points, [(n, float(kept)) for n, (_, kept) in known.items()]))
    return curves


def floors(bench: Bench, setting: Setting) -> dict[str, list[tuple[int, float]]]:
    """Seconds below which nothing can be: name to a line. Empty where no roof was measured."""
    roof: dict[str, float] = bench.environment.get("roof", {})
    if not roof:
        return {}
    if setting.pass_name == GENERATION:
        kept = _costs(bench, setting, "sdpa")
        rate = roof["bytes_per_second"]
        lines = [(n, size / rate) for n, (_, size) in kept.items()]
        return {"reading all keys and values": lines}
    both = {
        n: floor_seconds(
            _shape(bench, setting, n),
            causal=setting.causal,
            backward=setting.pass_name == BOTH,
            **roof,
        )
        for n in _lengths(bench.of(setting))
    }
    return {
        "moving inputs and outputs": [(n, moving) for n, (moving, _) in both.items()],
        "the products of softmax": [(n, products) for n, (_, products) in both.items()],
    }


def output_bytes(bench: Bench, setting: Setting, seq_len: int) -> int:
    """Of one output."""
    shape = _shape(bench, setting, seq_len)
    return shape.heads * seq_len * shape.head_dim * shape.bytes_a_number


def sizes_of(bench: Bench) -> Sizes:
    """The sizes that the approximations had."""
    stored: dict[str, Any] = bench.environment.get("sizes", {})
    return Sizes(**{key: value for key, value in stored.items() if key in Sizes.__slots__})


def small_curves(bench: Bench, methods: Sequence[str]) -> NDArray[np.float64]:
    """(n_methods, n_lengths): logarithms of times within 0 to 1, of the first setting that has all
    these methods at two lengths or more; else nothing (0, 0).
    """
    for setting in bench.settings:
        by_method = {curve.method: curve.points for curve in time_curves(bench, setting)}
        points = [{p.seq_len: p.value for p in by_method.get(m, ())} for m in methods]
        lengths = sorted(set(points[0]).intersection(*points[1:]))
        if len(lengths) > 1:
            logs = np.log(np.array([[found[n] for n in lengths] for found in points]))
            return (logs - logs.min()) / max(float(np.ptp(logs)), 1e-9)
    return np.zeros((0, 0))


def not_run(records: Sequence[Record]) -> list[tuple[str, int, str]]:
    """(method, length, why) of what has no time."""
    return [(r.method, r.seq_len, "; ".join(r.flags)) for r in records if r.median_seconds is None]


def _curve(method: str, points: list[Point], predicted: list[tuple[int, float]]) -> Curve:
    return Curve(
        method=method,
        points=tuple(points),
        predicted=tuple(predicted),
        slope=fit([p.seq_len for p in points], [p.value for p in points]),
    )


def _costs(bench: Bench, setting: Setting, method: str) -> dict[int, tuple[int, int]]:
    """Length to operations and extra bytes; empty for what has no formula here. In generation both
    are the bytes that are kept.
    """
    if setting.pass_name == GENERATION:
        return _step_costs(bench, setting, method)
    lacking = WITHOUT_CAUSAL_FORM if setting.causal else ONLY_CAUSAL
    if method not in METHODS or method in lacking:
        return {}
    found: dict[int, tuple[int, int]] = {}
    for n in _lengths(bench.of(setting)):
        shape, sizes = _shape(bench, setting, n), sizes_of(bench)
        cost = predict(method, shape, causal=setting.causal, sizes=sizes)
        found[n] = cost.operations, cost.extra_bytes
    return found


def _step_costs(bench: Bench, setting: Setting, method: str) -> dict[int, tuple[int, int]]:
    if method not in WRITERS:
        return {}
    lengths, sizes = _lengths(bench.of(setting)), sizes_of(bench)
    kept = {n: kept_bytes(method, _shape(bench, setting, n), sizes=sizes) for n in lengths}
    return {n: (size, size) for n, size in kept.items()}


def _shape(bench: Bench, setting: Setting, seq_len: int) -> Shape:
    environment = bench.environment
    return Shape(
        seq_len=seq_len,
        head_dim=setting.head_dim,
        n_heads=environment.get("n_heads", 8),
        batch=environment.get("batch", 1),
        bytes_a_number=DTYPES.get(environment.get("dtype", "float32"), 4),
    )


def _sorted(records: Sequence[Record], method: str) -> list[Record]:
    return sorted((r for r in records if r.method == method), key=lambda r: r.seq_len)


def _lengths(records: Sequence[Record]) -> list[int]:
    return sorted({record.seq_len for record in records})
