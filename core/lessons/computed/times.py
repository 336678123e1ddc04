"""Figures of stored measurements under assets/benchmarks, and of what feature maps lose."""

from core import paths
from core.bench.approximation import errors_by_logit, sharpness
from core.bench.curves import memory_curves
from core.bench.fits import Fit
from core.bench.record import Bench, Record, Setting, read_bench
from core.bench.summary import crossovers_of, fits_of
from core.lessons.computed.once import Once
from core.theory.costs import crossover_length


def seconds(
    once: Once,
    *,
    machine: str,
    method: str,
    causal: bool,
    pass_name: str,
    head_dim: int,
    tokens: int,
) -> float:
    """The median over repeats."""
    setting = Setting(causal, pass_name, head_dim)
    found = _at(once, machine, setting, method, tokens).median_seconds
    return _there(found, f"a time of {method} at {tokens} tokens")


def peak_bytes(
    once: Once,
    *,
    machine: str,
    method: str,
    causal: bool,
    pass_name: str,
    head_dim: int,
    tokens: int,
) -> float:
    """Its output included."""
    setting = Setting(causal, pass_name, head_dim)
    found = _at(once, machine, setting, method, tokens).peak_bytes
    return _there(found, f"the memory of {method} at {tokens} tokens")


def times_as_fast(
    once: Once,
    *,
    machine: str,
    method: str,
    baseline: str,
    causal: bool,
    pass_name: str,
    head_dim: int,
    tokens: int,
) -> float:
    """More than 1 where the method is faster."""
    setting = Setting(causal, pass_name, head_dim)
    ours, theirs = (
        _there(_at(once, machine, setting, name, tokens).median_seconds, f"a time of {name}")
        for name in (method, baseline)
    )
    return theirs / ours


def crossing_length(
    once: Once,
    *,
    machine: str,
    method: str,
    baseline: str,
    causal: bool,
    pass_name: str,
    head_dim: int,
) -> float:
    """Between two measured lengths. Raises ValueError where there is none, or several."""
    setting = Setting(causal, pass_name, head_dim)
    records = _records(once, machine, setting)
    crossings = once.get(("crossings", machine, setting), lambda: crossovers_of(records))
    found = crossings.get((method, baseline))
    return _there(None if found is None else found.seq_len, f"one crossing of {method}")


def growth(
    once: Once, *, machine: str, method: str, causal: bool, pass_name: str, head_dim: int
) -> float:
    """The slope of the last three octaves, both axes logarithmic. Raises ValueError for one that
    the lengths do not tell.
    """
    found = fits_of(_records(once, machine, Setting(causal, pass_name, head_dim))).get(method)
    return _slope(found, f"the time of {method}")


def memory_growth(
    once: Once, *, machine: str, method: str, causal: bool, pass_name: str, head_dim: int
) -> float:
    """The same of the memory."""
    setting = Setting(causal, pass_name, head_dim)
    _records(once, machine, setting)
    curves = memory_curves(_bench(once, machine), setting)
    found = {curve.method: curve.slope for curve in curves}.get(method)
    return _slope(found, f"the memory of {method}")


def _slope(found: Fit | None, what: str) -> float:
    if found is None or found.doubt is not None:
        why = "nothing measured" if found is None else found.doubt
        raise ValueError(f"no power of the length is known for {what}: {why}")
    return found.slope


def crossing_by_operations(_: Once, *, method: str, head_dim: int) -> float:
    """What counting alone would say, before anything is measured."""
    return crossover_length(method, head_dim)


def map_error(once: Once, *, name: str, logit: float) -> float:
    """‖output − softmax‖ / ‖softmax‖, named as the page names it. Raises ValueError for others."""
    points = once.get(("errors", logit), lambda: errors_by_logit([logit]))
    return _named({point.name: point.error for point in points}, name)


def map_sharpness(once: Once, *, name: str, logit: float) -> float:
    """One key lies along the query, all others are random."""
    found = once.get(("sharpness", logit), lambda: sharpness([logit]))
    return _named({sharp.name: sharp.weight for sharp in found}, name)


def _named(values: dict[str, float], name: str) -> float:
    if name not in values:
        raise ValueError(f"unknown map {name!r}; maps: {', '.join(values)}")
    return values[name]


def _at(once: Once, machine: str, setting: Setting, method: str, tokens: int) -> Record:
    for record in _records(once, machine, setting):
        if (record.method, record.seq_len) == (method, tokens):
            return record
    raise ValueError(f"{method} was not measured at {tokens} tokens on {machine}")


def _records(once: Once, machine: str, setting: Setting) -> list[Record]:
    bench = _bench(once, machine)
    if setting not in bench.settings:
        raise ValueError(f"{machine} was not measured with {setting}")
    return bench.of(setting)


def _bench(once: Once, machine: str) -> Bench:
    path = paths.BENCHMARKS / f"{machine}.json"
    return once.get(("bench", machine), lambda: read_bench(path))


def _there(found: float | None, what: str) -> float:
    if found is None:
        raise ValueError(f"there is no number for {what}")
    return float(found)
