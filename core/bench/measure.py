"""The protocol: what fits is warmed up and checked, then timed in turns with the others.

At each length: a case that would not fit is refused before it is tried; its peak memory is taken;
its output is compared with softmax in float64; after two warm-up calls the methods are called one
after the other, round and round, until each has had its repeats and its seconds, so that whatever
slows the machine for a while slows all of them. Records come out length by length: whoever takes
them can keep what there is at any moment.

An error is ‖output − softmax‖ / ‖softmax‖ over some rows only, evenly spread, in all heads: softmax
of all L² pairs would be slower than anything that is measured.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import isfinite

import numpy as np
import torch
from torch import Tensor

from core.attention import softmax
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
    REFUSED,
    WIDE,
    WRONG,
    Record,
)
from core.bench.spec import BenchSpec
from core.catalogue import ONLY_CAUSAL, WITHOUT_CAUSAL_FORM, family
from core.devices import (
    free_bytes,
    give_back,
    is_out_of_memory,
    peak_bytes,
    resolve_device,
    seconds_of,
)

MOST_ERROR = {"float32": 1e-4, "bfloat16": 0.05, "float16": 0.01}
MOST_ROWS = 128
MOST_SPREAD, MOST_OTHERS = 0.25, 0.1
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
    given = inputs(spec, length)
    exact = reference(*given, causal=spec.causal)
    records, runners = dict[str, Record](), list[Runner]()
    for method in methods:
        if is_stopped():
            break
        tell(f"{method} at {length:,} tokens")
        found = prepare(spec, method, given, exact, meter)
        if isinstance(found, Runner):
            runners.append(found)
        else:
            records[method] = found
    tell(f"{len(runners)} methods at {length:,} tokens, in turns")
    records |= {record.method: record for record in timed(spec, runners, is_stopped)}
    yield from (records[method] for method in methods if method in records)


def prepare(
    spec: BenchSpec,
    method: str,
    given: tuple[Tensor, Tensor, Tensor],
    exact: Tensor,
    meter: MemoryMeter,
) -> Runner | Record:
    """A case ready to be timed, or the record that says why it cannot be."""
    seq_len = given[0].shape[2]
    record = _blank(spec, method, seq_len)
    if why := obstacle(spec, method, seq_len):
        return record.flagged(why)
    try:
        peak = meter.peak_bytes(method, seq_len) if spec.device == "cpu" else None
        run = partial(once, spec, build(spec, method, seq_len), *given)
        record = checked(spec, record, run(), exact)
        run()
        if spec.device != "cpu":
            peak = peak_bytes(run, spec.device)
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        give_back(spec.device)
        return record.flagged(MEMORY)
    return Runner(replace(record, peak_bytes=peak), run)


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


def chosen_rows(seq_len: int) -> Tensor:
    """At most MOST_ROWS positions, the first and the last among them."""
    return torch.linspace(0, seq_len - 1, min(seq_len, MOST_ROWS)).round().long()


@torch.no_grad()
def reference(query: Tensor, key: Tensor, value: Tensor, *, causal: bool) -> Tensor:
    """Softmax output (B, H, rows, d) of the chosen rows, in float64 on the processor."""
    rows = chosen_rows(query.shape[2])
    query, key, value = (x.cpu().double() for x in (query, key, value))
    hidden = softmax.future(rows, torch.arange(key.shape[2])) if causal else None
    return softmax.attend(query[:, :, rows], key, value, hidden=hidden)[0]


def relative_error(output: Tensor, exact: Tensor) -> float:
    """Of an output (B, H, L, d), on the rows of the reference."""
    rows = chosen_rows(output.shape[2])
    found = output[:, :, rows.to(output.device)].cpu().double()
    return float((found - exact).square().sum().sqrt() / exact.square().sum().sqrt())
