"""How long a measurement will take and how much memory it needs, by formula. No torch.

Matrix products run at a share of the machine's rate that is typical of each mechanism: sizes at
which it works, and what it does beside them. Good to a factor of two or so.
"""

from collections.abc import Collection
from dataclasses import dataclass

from core.bench.needs import free_bytes, needed_bytes, refusal
from core.bench.spec import BenchSpec
from core.theory.costs import WITHOUT_CAUSAL_FORM, Method, predict

# Operations a second of a matrix product: of one thread with AVX-512, and of a GPU.
RATES = {"cpu": 80e9, "cuda": 20e12, "mps": 3e12}
# What each mechanism reaches of it on a processor.
REACHED: dict[Method, float] = {
    "explicit": 0.4,
    "sdpa": 0.8,
    "elu": 0.25,
    "favor": 0.2,
    "taylor": 0.12,
    "linformer": 0.4,
    "bigbird": 0.15,
    "nystrom": 0.2,
    "perceiver": 0.25,
    "synthesizer": 0.15,
}
BACKWARD = 3.0
LEAST_SECONDS = 1e-4  # of a call, however short
STARTING_SECONDS, CASE_SECONDS = 6.0, 0.05
UNTIMED_CALLS = 4  # two to warm up, one for its memory, and what that loads


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Of all cases that can be run: seconds, and the most memory that one of them needs.

    `left_out` has the cases that will not be run, with the reason.
    """

    seconds: float
    peak_bytes: int
    left_out: dict[tuple[Method, int], str]


def estimate(
    spec: BenchSpec,
    *,
    operations_per_second: float | None = None,
    free: int | None = None,
    done: Collection[tuple[str, int]] = (),
) -> Estimate:
    """Before anything is measured; `done` is left out. The free memory is that of the processor."""
    rate = operations_per_second or RATES[spec.device]
    rate *= spec.threads if spec.device == "cpu" else 1
    seconds, peak, left_out = STARTING_SECONDS, 0, dict[tuple[Method, int], str]()
    available = free_bytes() if free is None else free
    for method, length in spec.cases:
        if (method, length) in done:
            continue
        if spec.causal and method in WITHOUT_CAUSAL_FORM:
            left_out[method, length] = "no causal form"
            continue
        needed = needed_bytes(spec, method, length)
        if spec.device == "cpu" and (why := refusal(needed, available)):
            left_out[method, length] = why
            continue
        call = call_seconds(spec, method, length, rate)
        timed = max(spec.repeats * call, spec.seconds + call)
        seconds += CASE_SECONDS + UNTIMED_CALLS * call + timed
        peak = max(peak, needed)
    return Estimate(seconds=seconds, peak_bytes=peak, left_out=left_out)


def call_seconds(spec: BenchSpec, method: Method, seq_len: int, rate: float) -> float:
    """One call, about."""
    cost = predict(method, spec.shape(seq_len), causal=spec.causal, sizes=spec.sizes)
    passes = BACKWARD if spec.backward else 1.0
    return max(LEAST_SECONDS, passes * cost.operations / (REACHED[method] * rate))
