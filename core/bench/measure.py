"""The protocol: what fits is warmed up and checked, then timed in turns with the others.

At each length: a case that would not fit is refused before it is tried; its peak memory is taken;
its output is compared with softmax in float64; after two warm-up calls the methods are called one
after the other, round and round, until each has had its repeats and its seconds. Records come out
length by length, so that whoever takes them can keep what there is at any moment.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import isfinite

import torch
from torch import Tensor

from core.attention.masks import NoCausalFormError
from core.bench.accuracy import reference, relative_error
from core.bench.clock import give_back, gpu_peak_bytes, is_out_of_memory
from core.bench.machine import check_device, device_free_bytes
from core.bench.memory import MemoryMeter
from core.bench.methods import build, inputs, once
from core.bench.needs import free_bytes, input_bytes, needed_bytes, refusal
from core.bench.record import MEMORY, NO_CAUSAL_FORM, REFUSED, WRONG, Record
from core.bench.spec import BenchSpec
from core.bench.timing import Runner, timed
from core.theory.costs import WITHOUT_CAUSAL_FORM, Method

EXACT = ("explicit", "sdpa")
MOST_ERROR = {"float32": 1e-4, "bfloat16": 0.05, "float16": 0.01}
Tell = Callable[[int, int, str], None]


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
    check_device(spec)
    torch.set_num_threads(spec.threads)
    n_done, n_cases = len(done), len(spec.cases)
    with MemoryMeter(spec) as meter:
        for length in spec.lengths:
            methods: list[Method] = [m for m in spec.methods if (m, length) not in done]
            begin = partial(tell, n_done, n_cases)
            for record in at_length(spec, length, methods, meter, is_stopped, begin):
                n_done += 1
                yield record
            if is_stopped():
                return


def at_length(
    spec: BenchSpec,
    length: int,
    methods: Sequence[Method],
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
    method: Method,
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
        if spec.device == "cuda":
            peak = gpu_peak_bytes(run)
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        give_back(spec.device)
        return record.flagged(MEMORY)
    return Runner(replace(record, peak_bytes=peak), run)


def _blank(spec: BenchSpec, method: Method, seq_len: int) -> Record:
    return Record(
        method=method,
        causal=spec.causal,
        pass_name=spec.pass_name,
        seq_len=seq_len,
        head_dim=spec.head_dim,
    )


def obstacle(spec: BenchSpec, method: Method, seq_len: int) -> str:
    """Why a case is not tried; empty if it is."""
    if spec.causal and method in WITHOUT_CAUSAL_FORM:
        return f"{NO_CAUSAL_FORM}: {why_not_causal(spec, method)}"
    why = refusal(needed_bytes(spec, method, seq_len), device_free_bytes(spec.device))
    return f"{REFUSED}: {why}" if why else ""


def why_not_causal(spec: BenchSpec, method: Method) -> str:
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
    if record.method in EXACT and not error <= most:
        return record.flagged(f"{WRONG}: {error:.1g} away from softmax in float64")
    return record
