"""How long a measurement will take and how much memory it needs, by formula. No torch.

Matrix products run at a share of the machine's rate that is typical of each mechanism: sizes at
which it works, and what it does beside them. Good to a factor of two or so.

Memory is asked for before a case is tried: by formula (core.theory.costs) for a forward pass; a
backward pass keeps the weights or features and forms their gradients, which is held to three times
as much. A case may take 60 % of what is free.

In generation a pass over the past makes what is kept, and another the row that the token's output
is compared with; the step itself moves what is kept.
"""

from collections.abc import Collection
from dataclasses import dataclass

from core.bench.spec import BenchSpec
from core.catalogue import MECHANISMS, ONLY_CAUSAL, WITHOUT_CAUSAL_FORM, family
from core.devices import RATES, free_bytes, kind_of
from core.theory.costs import predict
from core.theory.steps import kept_bytes

BACKWARD = 3  # times the products of a forward pass, and times its memory
LEAST_SECONDS = 1e-4  # of a call, however short
STARTING_SECONDS, CASE_SECONDS = 6.0, 0.05
UNTIMED_CALLS = 4  # two to warm up, one for its memory, and what that loads
SHARE_OF_FREE = 0.6
FLOAT64 = 8
BYTES_A_SECOND = 1e10  # that a step moves on one thread, about


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchEstimate:
    """Of all cases that can be run: seconds, and the most memory that one of them needs.

    `left_out` has the cases that will not be run, with the reason.
    """

    seconds: float
    peak_bytes: int
    left_out: dict[tuple[str, int], str]


def estimate(
    spec: BenchSpec,
    *,
    operations_per_second: float | None = None,
    free: int | None = None,
    done: Collection[tuple[str, int]] = (),
) -> BenchEstimate:
    """Before anything is measured; `done` is left out. The free memory is that of the processor."""
    rate = operations_per_second or RATES[kind_of(spec.device)]
    rate *= spec.threads if spec.device == "cpu" else 1
    seconds, peak, left_out = STARTING_SECONDS, 0, dict[tuple[str, int], str]()
    available = free_bytes() if free is None else free
    for method, length in spec.cases:
        if (method, length) in done:
            continue
        if why := lacking(spec, method):
            left_out[method, length] = why
            continue
        needed = needed_bytes(spec, method, length)
        if spec.device == "cpu" and (why := refusal(needed, available)):
            left_out[method, length] = why
            continue
        call = call_seconds(spec, method, length, rate)
        timed = max(spec.repeats * call, spec.seconds + call)
        before = made_seconds(spec, method, length, rate)
        seconds += CASE_SECONDS + before + UNTIMED_CALLS * call + timed
        peak = max(peak, needed)
    return BenchEstimate(seconds=seconds, peak_bytes=peak, left_out=left_out)


def lacking(spec: BenchSpec, method: str) -> str:
    """Why a method is measured at no length; empty if it is."""
    if spec.causal and method in WITHOUT_CAUSAL_FORM:
        return "no causal form"
    if not spec.causal and method in ONLY_CAUSAL:
        return "only a causal form"
    why = MECHANISMS[method].no_step
    return f"no step: {why}" if spec.writes and why else ""


def made_seconds(spec: BenchSpec, method: str, seq_len: int, rate: float) -> float:
    """What a case takes before anything of it can be called: two passes in generation."""
    if not spec.writes or family(method) == "exact":
        return 0.0
    return 2 * pass_seconds(spec, method, seq_len, rate)


def call_seconds(spec: BenchSpec, method: str, seq_len: int, rate: float) -> float:
    """One call, about."""
    if not spec.writes:
        return pass_seconds(spec, method, seq_len, rate)
    kept = kept_bytes(method, spec.shape(seq_len), sizes=spec.sizes)
    return max(LEAST_SECONDS, kept / BYTES_A_SECOND)


def pass_seconds(spec: BenchSpec, method: str, seq_len: int, rate: float) -> float:
    """One pass, about."""
    cost = predict(method, spec.shape(seq_len), causal=spec.causal, sizes=spec.sizes)
    passes = BACKWARD if spec.backward else 1
    return max(LEAST_SECONDS, passes * cost.operations / (MECHANISMS[method].reached * rate))


def needed_bytes(spec: BenchSpec, method: str, seq_len: int) -> int:
    """Of one case: inputs and outputs, what a pass takes beside them, and a Synthesizer's table.

    In generation what is kept, too; and no pass is made of what is exact softmax.
    """
    shape = spec.shape(seq_len)
    rows = shape.heads * seq_len * spec.head_dim * shape.bytes_a_number
    kept = kept_bytes(method, shape, sizes=spec.sizes) if spec.writes else 0
    if spec.writes and family(method) == "exact":
        return 4 * rows + 2 * kept
    tables = 0
    if method == "synthesizer":
        width = spec.head_dim if spec.sizes.dense else seq_len
        tables = spec.n_heads * width * seq_len * shape.bytes_a_number
    extra = predict(method, shape, causal=spec.causal, sizes=spec.sizes).extra_bytes
    passes = BACKWARD if spec.backward else 1
    return tables + 2 * kept + passes * (4 * rows + extra)


def input_bytes(spec: BenchSpec, seq_len: int) -> int:
    """Of the inputs of a length, and of their copies in float64 that outputs are compared with."""
    shape = spec.shape(seq_len)
    numbers = 3 * shape.heads * seq_len * spec.head_dim
    return numbers * (shape.bytes_a_number + FLOAT64)


def refusal(needed: int, free: int) -> str:
    """Why a case is not tried; empty if it is."""
    allowed = SHARE_OF_FREE * free
    if needed <= allowed:
        return ""
    return (
        f"needs about {_size(needed)}, and {SHARE_OF_FREE:.0%} of what is free is {_size(allowed)}"
    )


def _size(n_bytes: float) -> str:
    return f"{n_bytes / 1e9:.2g} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.2g} MB"
