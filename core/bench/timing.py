"""Methods timed in turns, so that whatever slows the machine for a while slows all of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from core.bench.clock import seconds_of
from core.bench.machine import Others
from core.bench.record import BUSY, MOST_KEPT, WIDE, Record
from core.bench.spec import BenchSpec

MOST_SPREAD, MOST_OTHERS = 0.25, 0.1


@dataclass(slots=True)
class Runner:
    """A method at one length that fits and works; its times so far."""

    record: Record
    run: Callable[[], object]
    seconds: list[float] = field(default_factory=list[float])

    def is_done(self, spec: BenchSpec) -> bool:
        return len(self.seconds) >= spec.repeats and sum(self.seconds) >= spec.seconds


def timed(
    spec: BenchSpec, runners: list[Runner], is_stopped: Callable[[], bool]
) -> Iterator[Record]:
    """The runners in turns; stopped, those that have had their repeats."""
    others, waiting = Others(), list(runners)
    while waiting and not is_stopped():
        for runner in waiting:
            runner.seconds.append(seconds_of(runner.run, spec.device))
            if is_stopped():
                break
        waiting = [runner for runner in waiting if not runner.is_done(spec)]
    busy = others.share
    flags = (f"{BUSY}: others used {busy:.0%} of the processor",) if busy > MOST_OTHERS else ()
    for runner in runners:
        if len(runner.seconds) >= spec.repeats:
            yield finished(runner).flagged(*flags)


def finished(runner: Runner) -> Record:
    """The record with its median and quartiles."""
    seconds = np.array(runner.seconds)
    low, middle, high = (float(q) for q in np.quantile(seconds, [0.25, 0.5, 0.75]))
    n = min(len(seconds), MOST_KEPT)
    kept = np.quantile(seconds, (np.arange(n) + 0.5) / n)
    record = replace(
        runner.record,
        median_seconds=middle,
        p25_seconds=low,
        p75_seconds=high,
        repeats=len(seconds),
        quantiles=tuple(float(time) for time in kept),
    )
    spread = (high - low) / middle
    if spread > MOST_SPREAD:
        return record.flagged(f"{WIDE}: half of the times spread over {spread:.0%} of the median")
    return record
