"""What both questions draw alike: curves as lines, crossings as stripes, another machine dotted."""

from collections.abc import Callable, Mapping, Sequence

from core.bench.curves import Curve
from core.bench.fits import Crossover
from core.catalogue import METHODS, family, label
from core.figures import runtime as figures
from core.mechanisms import FAMILIES
from pages.runtime import words
from pages.runtime.controls import Looked


def lines(
    curves: Sequence[Curve],
    looked: Looked,
    others: Sequence[Curve],
    *,
    grows: Callable[[Curve], str] = words.growth,
) -> list[figures.Line]:
    """Of every method that was measured and is not left out."""
    beside = {curve.method: curve for curve in others}
    return [
        figures.Line(
            method=label(curve.method),
            grows=grows(curve),
            family=FAMILIES.index(family(curve.method)),
            shape=_shape(curve.method),
            points=[
                (point.seq_len, point.value, point.low, point.high, "; ".join(point.flags))
                for point in curve.points
            ],
            predicted=curve.predicted if looked.formulas else (),
            other=[(p.seq_len, p.value) for p in beside[curve.method].points]
            if curve.method in beside
            else (),
        )
        for curve in curves
        if curve.points and curve.method not in looked.hidden
    ]


def stripes(
    crossings: Mapping[tuple[str, str], Crossover], methods: Sequence[str]
) -> list[figures.Crossing]:
    """Where these methods overtake the fused form of softmax."""
    return [
        figures.Crossing(
            text=f"{label(method)} {words.verdict(found)}",
            family=FAMILIES.index(family(method)),
            at=found.seq_len,
            low=found.low,
            high=found.high,
        )
        for (method, baseline), found in crossings.items()
        if method in methods and baseline == "sdpa"
        if found.seq_len is not None and found.low is not None and found.high is not None
    ]


def _shape(method: str) -> int:
    """The same wherever a method stands; one of a later version shares the last."""
    last = len(figures.SHAPES) - 1
    return METHODS.index(method) % (last + 1) if method in METHODS else last
