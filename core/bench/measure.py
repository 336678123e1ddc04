"""The protocol: what fits is warmed up and checked, then timed in turns with the others.

At each length: a case that would not fit is refused before it is tried; its peak memory is taken;
its output is compared with softmax in float64; after two warm-up calls the methods are called one
after the other, round and round, until each has had its repeats and its seconds, so that whatever
slows the machine for a while slows all of them. Records come out length by length: whoever takes
them can keep what there is at any moment.

Errors are those of core.bench.reference. In generation there is one row, the last; there the output
must be the last row of the method's own pass over the whole text, too.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import isfinite

import numpy as np
import torch
from torch import Tensor

from core.attention.masks import NoCausalFormError
from core.bench.estimate import input_bytes, needed_bytes, refusal
from core.bench.machine import OtherProcesses
from core.bench.memory import MemoryMeter
from core.bench.methods import build, inputs, once
from core.bench.record import (
    BUSY,
    CAUSAL_ALONE,
    MEMORY,
    MOST_KEPT,
    NO_CAUSAL_FORM,
    NO_STEP,
    REFUSED,
    WIDE,
    WRONG,
    Record,
)
from core.bench.reference import distance, last_row, reference, relative_error
from core.bench.spec import BenchSpec
from core.bench.writing import last_of_pass, written
from core.catalogue import MECHANISMS, ONLY_CAUSAL, WITHOUT_CAUSAL_FORM, family
from core.devices import (
    free_bytes,
    give_back,
    is_out_of_memory,
    peak_bytes,
    resolve_device,
    seconds_of,
)

MOST_ERROR = {"float32": 1e-4, "bfloat16": 0.05, "float16": 0.01}
MOST_SPREAD, MOST_OTHERS = 0.25, 0.1
Rows = tuple[Tensor, Tensor, Tensor]  # query, key and value
Tell = Callable[[int, int, str], None]


@dataclass(slots=True)
class Runner:
    """A method at one length that fits and works; its times so far."""

    record: Record
    run: Callable[[], object]
    seconds: list[float] = field(default_factory=list[float])

    def is_done(self, spec: BenchSpec) -> bool:
        return len(self.seconds) >= spec.repeats and sum(self.seconds) >= spec.seconds


def measure(
    spec: BenchSpec,
    *,
    done: Collection[tuple[str, int]] = (),
    is_stopped: Callable[[], bool] = lambda: False,
    tell: Tell = lambda _, __, ___: None,
) -> Iterator[Record]:
    """Every case that is not `done`, length by length; each is told with how many there are.

    Stopped between two calls, it still gives what has had its repeats. Raises ValueError for a
    device that is not there.
    """
    resolve_device(spec.device)
    torch.set_num_threads(spec.threads)
    n_done, n_cases = len(done), len(spec.cases)
    with MemoryMeter(spec) as meter:
        for length in spec.lengths:
            methods = [m for m in spec.methods if (m, length) not in done]
            begin = partial(tell, n_done, n_cases)
            for record in at_length(spec, length, methods, meter, is_stopped, begin):
                n_done += 1
                yield record
            if is_stopped():
                return


def at_length(
    spec: BenchSpec,
    length: int,
    methods: Sequence[str],
    meter: MemoryMeter,
    is_stopped: Callable[[], bool],
    tell: Callable[[str], None],
) -> Iterator[Record]:
    """All methods at one length, in their order; those that are refused as well."""
    if not methods:
        return
    if why := refusal(input_bytes(spec, length), free_bytes()):
        yield from (_blank(spec, method, length).flagged(f"{REFUSED}: {why}") for method in methods)
        return
    given = inputs(spec, length + spec.writes)
    exact = last_row(*given) if spec.writes else reference(*given, causal=spec.causal)
    records, runners = dict[str, Record](), list[Runner]()
    for method in methods:
        if is_stopped():
            break
        tell(f"{method} at {length:,} tokens")
        found = prepare(spec, _blank(spec, method, length), given, exact, meter)
        if isinstance(found, Runner):
            runners.append(found)
        else:
            records[method] = found
    tell(f"{len(runners)} methods at {length:,} tokens, in turns")
    records |= {record.method: record for record in timed(spec, runners, is_stopped)}
    yield from (records[method] for method in methods if method in records)


def prepare(
    spec: BenchSpec, record: Record, given: Rows, exact: Tensor, meter: MemoryMeter
) -> Runner | Record:
    """A case ready to be timed, or the record that says why it cannot be."""
    if why := obstacle(spec, record.method, record.seq_len):
        return record.flagged(why)
    try:
        if spec.writes:
            return prepared_step(spec, record, given, exact)
        return prepared_pass(spec, record, given, exact, meter)
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        give_back(spec.device)
        return record.flagged(MEMORY)


def prepared_pass(
    spec: BenchSpec, record: Record, given: Rows, exact: Tensor, meter: MemoryMeter
) -> Runner:
    """A pass over a whole text: its memory, its error, warm."""
    on_cpu, method = spec.device == "cpu", record.method
    peak = meter.peak_bytes(method, record.seq_len) if on_cpu else None
    run = partial(once, spec, build(spec, method, record.seq_len), *given)
    record = checked(spec, record, run(), exact)
    run()
    if not on_cpu:
        peak = peak_bytes(run, spec.device)
    return Runner(replace(record, peak_bytes=peak), run)


def prepared_step(spec: BenchSpec, record: Record, given: Rows, exact: Tensor) -> Runner:
    """The last token behind all others: what is kept of them, its error, warm. What is no exact
    softmax is compared with the last row of its own pass over the whole text.
    """
    made = written(spec, record.method, given)
    output = made.output()
    record = checked(spec, record, output, exact)
    if family(record.method) != "exact":
        off = distance(output, last_of_pass(spec, record.method, given))
        if not off <= MOST_ERROR[spec.dtype]:
            record = record.flagged(f"{WRONG}: {off:.1g} away from the last row of the whole pass")
    made.output()
    return Runner(replace(record, kept_bytes=made.kept_bytes()), made.output)


def _blank(spec: BenchSpec, method: str, seq_len: int) -> Record:
    return Record(
        method=method,
        causal=spec.causal,
        pass_name=spec.pass_name,
        seq_len=seq_len,
        head_dim=spec.head_dim,
    )


def obstacle(spec: BenchSpec, method: str, seq_len: int) -> str:
    """Why a case is not tried; empty if it is."""
    if spec.causal and method in WITHOUT_CAUSAL_FORM:
        return f"{NO_CAUSAL_FORM}: {why_not_causal(spec, method)}"
    if not spec.causal and method in ONLY_CAUSAL:
        return CAUSAL_ALONE
    if spec.writes and (why := MECHANISMS[method].no_step):
        return f"{NO_STEP}: {why}"
    why = refusal(needed_bytes(spec, method, seq_len), free_bytes(spec.device))
    return f"{REFUSED}: {why}" if why else ""


def why_not_causal(spec: BenchSpec, method: str) -> str:
    """In the mechanism's own words."""
    try:
        build(spec, method, 1)(*inputs(spec, 1))
    except NoCausalFormError as error:
        return str(error).partition(": ")[2]
    raise ValueError(f"{method} has a causal form after all")


def checked(spec: BenchSpec, record: Record, output: Tensor, exact: Tensor) -> Record:
    """With the error of its output; a method that ought to be exact is held to it."""
    error = relative_error(output, exact)
    if not isfinite(error):
        return record.flagged(f"{WRONG}: its output is not finite")
    record = replace(record, relative_error=error)
    most = MOST_ERROR[spec.dtype]
    if family(record.method) == "exact" and not error <= most:
        return record.flagged(f"{WRONG}: {error:.1g} away from softmax in float64")
    return record


def timed(
    spec: BenchSpec, runners: list[Runner], is_stopped: Callable[[], bool]
) -> Iterator[Record]:
    """The runners in turns; stopped, those that have had their repeats."""
    others, waiting = OtherProcesses(), list(runners)
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
