"""What is stored and how: sizes of the pairs, and of each mechanism that stores them. No torch."""

from dataclasses import dataclass, fields
from typing import NamedTuple

LINEAR = "linear"
METHODS = (
    "softmax",
    "window",
    "based",
    "taylor",
    LINEAR,
    "elu",
    "favor",
    "gate",
    "delta",
    "gated-delta",
)
# Those whose state is one matrix of d x d, so that it can be drawn.
MATRICES = (LINEAR, "gate", "delta", "gated-delta")
PAIRS = (8, 16, 32, 64, 128, 256, 512)
MOST_PAIRS = 1024
MOST_NUMBERS = 24 * 512 * 512  # of one matrix of coefficients of all draws: 25 MB


class Bounds(NamedTuple):
    """What a size may be, both ends included."""

    least: float
    most: float


BOUNDS = {
    "dim": Bounds(4, 256),
    "beta": Bounds(0.5, 64.0),
    "decay": Bounds(0.0, 1.0),
    "delta_decay": Bounds(0.0, 1.0),
    "window": Bounds(1, MOST_PAIRS),
    "n_features": Bounds(2, 1024),
    "n_draws": Bounds(2, 1000),
    "seed": Bounds(0, 2**31 - 1),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySpec:
    """Keys and values are random directions of `dim` numbers, of length 1.

    `beta` is what scores are multiplied by where there is an exponential or what stands in its
    place; `decay` the gate's factor a pair, `delta_decay` the gated delta rule's; `window` how many
    pairs are in the window; `n_features` those of FAVOR+. Everything is drawn anew `n_draws` times.
    """

    dim: int = 64
    beta: float = 8.0
    decay: float = 0.97
    delta_decay: float = 0.99
    window: int = 32
    n_features: int = 128
    n_draws: int = 24
    seed: int = 0

    def __post_init__(self) -> None:
        for field in fields(self):
            value, (least, most) = getattr(self, field.name), BOUNDS[field.name]
            whole = field.type is int
            if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
                kind = "a whole number" if whole else "a number"
                raise ValueError(f"{field.name} is {value!r:.40}: {kind} is needed")
            if not least <= value <= most:
                raise ValueError(f"{field.name} is {value}: {least:g} to {most:g} are possible")


def check_pairs(pairs: tuple[int, ...], spec: MemorySpec) -> None:
    """Raise ValueError for numbers of pairs that cannot be measured, or not here."""
    if not pairs:
        raise ValueError("no number of pairs: at least one is needed")
    for n in pairs:
        if not 2 <= n <= MOST_PAIRS:
            raise ValueError(f"{n} pairs: 2 to {MOST_PAIRS:,} are possible")
        if (numbers := spec.n_draws * n * n) > MOST_NUMBERS:
            raise ValueError(
                f"{n} pairs in {spec.n_draws} draws are {numbers:,} numbers a mechanism: at most "
                f"{MOST_NUMBERS:,} are allowed; take fewer draws"
            )


def state_numbers(method: str, spec: MemorySpec, n_pairs: int) -> int:
    """How many numbers a mechanism keeps behind `n_pairs` pairs of one head."""
    d = spec.dim
    far = (d + 1) * (d + 2) // 2 * (d + 1)
    near = 2 * min(spec.window, n_pairs) * d
    numbers = {
        "softmax": 2 * n_pairs * d,
        "window": near,
        "based": far + near,
        "taylor": far,
        "elu": d * (d + 1),
        "favor": spec.n_features * (d + 1),
    }
    return numbers.get(method, d * d)
