"""What the page says about generation: the headline, the sentence of meaning, the table."""

from collections.abc import Mapping, Sequence

from core.bench.curves import Curve
from core.bench.fits import Crossover, Fit
from core.bench.record import Record
from core.bench.summary import BASELINES
from core.catalogue import MECHANISMS, label, size_of
from core.memory.generation import bytes_text
from core.theory.costs import Sizes
from pages.runtime.words import FIRST, longest, seconds_text, verdict

CACHE, NAMED = "sdpa", 3
HOW = (
    "Point at a line to single it out. Red keeps all keys and values, in a cache with room for the "
    "next; green keeps a window, indigo the sums of a feature map, pink a state. Upright lines: "
    "where a step becomes faster than SDPA's over its cache."
)
MORE = (
    "Full lines are medians, bands quartiles, dashes formulas: what is read grows as what is "
    "kept. Grey dots: reading the cache once, as fast as this machine copies. Hollow: read with "
    "care, its tooltip says why. Where a cache grows by copying, as in generation with a model "
    "here, a step over it takes longer. Caches have the inputs' precision, sums 32 bits."
)


def headline(found: Mapping[tuple[str, str], Crossover]) -> str:
    """Which steps beat that over the cache of the fused form, the earliest first."""
    against = {method: c for (method, baseline), c in found.items() if baseline == CACHE}
    if not against:
        return "Measure SDPA and another method to see where they cross."
    ranked = sorted((_rank(c), i, m) for i, (m, c) in enumerate(against.items()))
    said = [f"{label(m)} {_shortly(against[m])}" for (at, _), _, m in ranked if at < LATE]
    never = len(against) - len(said)
    if not said:
        return "No step is faster than that over SDPA's cache of so few tokens"
    more = f"; {never} of {len(against)} not yet" if never else ""
    return f"A step is faster than over SDPA's cache: {', '.join(said)}{more}"


LATE = 2  # from this rank on a method is not faster anywhere, or cannot be said to be


def _rank(found: Crossover) -> tuple[int, float]:
    """Always, then from a length on, then the others."""
    ranks = {"always": 0, "from": 1}
    return ranks.get(found.verdict, LATE), found.seq_len or 0.0


def _shortly(found: Crossover) -> str:
    return found.verdict if found.seq_len is None else f"from {found.seq_len:,.0f}"


def meaning(records: Sequence[Record]) -> str:
    """One sentence: the longest past that was measured over the cache, beside the quickest step
    that keeps no cache.
    """
    cached = [r for r in records if r.method == CACHE and r.median_seconds and r.kept_bytes]
    if not cached:
        return "Without SDPA there is no cache to compare with."
    cache = max(cached, key=lambda record: record.seq_len)
    others = [
        record
        for record in records
        if record.method not in BASELINES and record.seq_len == cache.seq_len
        if record.median_seconds and record.kept_bytes
    ]
    if not others:
        return f"{_says(cache)} behind {cache.seq_len:,} tokens."
    best = min(others, key=lambda record: record.median_seconds or 0.0)
    times = (cache.median_seconds or 0.0) / (best.median_seconds or 1.0)
    less = (cache.kept_bytes or 0) / (best.kept_bytes or 1)
    return (
        f"Behind {cache.seq_len:,} tokens {_says(cache)}; {_says(best)}: "
        f"{_as_much(times)} the time, {_as_much(less)} the memory."
    )


def _says(record: Record) -> str:
    return (
        f"{label(record.method)} takes {seconds_text(record.median_seconds or 0.0)} a token and "
        f"keeps {bytes_text(record.kept_bytes or 0)}"
    )


def _as_much(ratio: float) -> str:
    """A share of the cache's, in words."""
    return f"1/{ratio:,.0f}" if ratio >= 10 else f"{1 / ratio:.2g} of"


def growth(curve: Curve) -> str:
    """How fast it grows, or why the lengths do not tell it."""
    is_known = curve.slope is not None and curve.slope.doubt_of_step is None
    return f"as L^{power(curve.slope)}" if is_known else power(curve.slope)


def power(slope: Fit | None) -> str:
    """The power of L with its 95 % interval; not to grow is an answer."""
    if slope is None:
        return "–"
    if slope.doubt_of_step is not None or slope.half_width is None:
        return f"{slope.doubt_of_step} to tell"
    return f"{slope.slope + 0.0:.2f} ± {slope.half_width:.2f}"


def table(
    times: Sequence[Curve],
    kept: Sequence[Curve],
    found: Mapping[tuple[str, str], Crossover],
    there: Sequence[Curve],
    sizes: Sizes,
) -> list[dict[str, str]]:
    """A row a method that was measured."""
    by_method = {curve.method: curve for curve in kept}
    return [
        {
            FIRST: _named(curve.method, sizes),
            "time, power of L": power(curve.slope),
            **longest(curve, times, there),
            "kept there": _last(by_method.get(curve.method)),
            "kept, power of L": power(by_method[curve.method].slope)
            if curve.method in by_method
            else "–",
            "faster than SDPA's cache": verdict(found.get((curve.method, CACHE))),
            "faster than explicit": verdict(found.get((curve.method, "explicit"))),
            "what it is": MECHANISMS[curve.method].meaning if curve.method in MECHANISMS else "",
        }
        for curve in times
        if curve.points
    ]


def _named(method: str, sizes: Sizes) -> str:
    size = size_of(method, sizes)
    return f"{label(method)}{f' ({size})' if size else ''}"


def _last(curve: Curve | None) -> str:
    return "–" if curve is None or not curve.points else bytes_text(curve.points[-1].value)
