"""What a report says beside its records: slopes, and crossovers with two baselines. No torch.

The fair baseline is the fused form of softmax, the teaching baseline its explicit form.
"""

from collections.abc import Sequence
from typing import Any

from core.bench.fits import Crossover, Fit, Times, crossover, fit
from core.bench.record import Bench, Record

BASELINES = ("sdpa", "explicit")


def times_of(records: Sequence[Record], method: str) -> Times:
    """What one method took, by length; records of one setting."""
    ran = sorted(
        (r for r in records if r.method == method and r.median_seconds is not None),
        key=lambda record: record.seq_len,
    )
    return Times(
        lengths=tuple(r.seq_len for r in ran),
        medians=tuple(r.median_seconds or 0.0 for r in ran),
        quantiles=tuple(r.quantiles for r in ran),
        repeats=tuple(r.repeats for r in ran),
    )


def methods_of(records: Sequence[Record]) -> list[str]:
    """In the order in which they were measured."""
    return list(dict.fromkeys(record.method for record in records))


def fits_of(records: Sequence[Record]) -> dict[str, Fit]:
    """The slope of each method that has one."""
    found = {method: times_of(records, method) for method in methods_of(records)}
    fits = {method: fit(times.lengths, times.medians) for method, times in found.items()}
    return {method: slope for method, slope in fits.items() if slope is not None}


def crossovers_of(records: Sequence[Record]) -> dict[tuple[str, str], Crossover]:
    """(method, baseline) to where the method begins to be faster."""
    found: dict[tuple[str, str], Crossover] = {}
    measured = methods_of(records)
    for baseline in (name for name in BASELINES if name in measured):
        theirs = times_of(records, baseline)
        for method in (name for name in measured if name not in BASELINES):
            crossing = crossover(times_of(records, method), theirs)
            if crossing is not None:
                found[method, baseline] = crossing
    return found


def summary_of(records: Sequence[Record]) -> dict[str, list[dict[str, Any]]]:
    """Fits and crossovers of one setting, as a report has them."""
    fits = [
        {"method": method, "slope": found.slope, "standard_error": found.standard_error}
        for method, found in fits_of(records).items()
    ]
    crossings = [
        {
            "method": method,
            "baseline": baseline,
            "seq_len": found.seq_len,
            "low": found.low,
            "high": found.high,
            "verdict": found.verdict,
        }
        for (method, baseline), found in crossovers_of(records).items()
    ]
    return {"fits": fits, "crossovers": crossings}


def report_of(bench: Bench) -> dict[str, Any]:
    """The report of a measurement of one setting."""
    return {
        "machine": bench.machine,
        "environment": bench.environment,
        "records": [record.to_dict(whole=False) for record in bench.records],
        **summary_of(bench.records),
    }


def summaries_of(bench: Bench) -> dict[str, list[dict[str, Any]]]:
    """Fits and crossovers of every setting in a stored file, each named with its setting."""
    found: dict[str, list[dict[str, Any]]] = {"fits": [], "crossovers": []}
    for setting in bench.settings:
        named = {"causal": setting.causal, "pass": setting.pass_name, "head_dim": setting.head_dim}
        for name, rows in summary_of(bench.of(setting)).items():
            found[name] += [{**named, **row} for row in rows]
    return found
