"""What is measured, frozen and checked at once. No torch here."""

import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from itertools import pairwise
from typing import Any

from core.catalogue import METHODS, ONLY_CAUSAL, WITHOUT_CAUSAL_FORM, WRITERS
from core.devices import ASKED, AUTO, is_device
from core.theory.costs import Shape, Sizes, taylor_features

DTYPES = {"float32": 4, "bfloat16": 2, "float16": 2}  # bytes a number
FORWARD, BOTH = "forward", "forward+backward"
# What is asked: how long a pass over a whole text takes, or one token more behind a text.
PASS, GENERATION = "pass", "generation"
QUESTIONS = (PASS, GENERATION)
MOST_LENGTH, MOST_LENGTHS = 2**17, 24
MOST_FEATURES = 65_536
MOST_NUMBERS = 2**31  # in each of query, key and value; what fits a machine is asked there
# Name of a size -> the most of it; each is at least 1, or 0 where a block may be missing.
MOST_SIZES = {
    "n_features": 4096,
    "n_terms": 5,
    "chunk": 4096,
    "n_mixed": 4096,
    "n_landmarks": 1024,
    "n_iterations": 20,
    "n_latents": 4096,
    "block_size": 1024,
    "n_global": 16,
    "n_window": 15,
    "n_random": 16,
    "window": 4096,
    "n_sinks": 4096,
}
MAY_BE_ZERO = ("n_global", "n_random", "n_sinks")


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchSpec:
    """One setting, measured over lengths. Raises ValueError for what cannot be measured.

    Each method is called at least `repeats` times and for `seconds` at each length. A length is
    that of a text; in generation, that of the past behind which one token is written.
    """

    methods: tuple[str, ...]
    lengths: tuple[int, ...]
    head_dim: int = 32
    n_heads: int = 8
    batch: int = 1
    causal: bool = False
    backward: bool = False
    device: str = "cpu"
    dtype: str = "float32"
    threads: int = 1
    repeats: int = 5
    seconds: float = 0.3
    seed: int = 0
    sizes: Sizes = field(default_factory=Sizes)
    question: str = PASS

    def __post_init__(self) -> None:
        _check_question(self)
        _check_methods(self)
        _check_lengths(self.lengths)
        for name, most in (("head_dim", 256), ("n_heads", 128), ("batch", 256)):
            _whole(name, getattr(self, name), 1, most)
        _whole("threads", self.threads, 1, os.cpu_count() or 1)
        _whole("repeats", self.repeats, 3, 1000)
        _whole("seed", self.seed, 0, 2**31 - 1)
        if not (math.isfinite(self.seconds) and 0 <= self.seconds <= 60):
            raise ValueError(f"seconds is {self.seconds}; 0 to 60 a method and length are allowed")
        _check_product(self)
        _check_numbers(self)
        _check_sizes(self)

    @property
    def writes(self) -> bool:
        """Whether it is generation that is measured."""
        return self.question == GENERATION

    @property
    def pass_name(self) -> str:
        """What records call it."""
        if self.writes:
            return GENERATION
        return BOTH if self.backward else FORWARD

    @property
    def cases(self) -> list[tuple[str, int]]:
        """(method, length) in the order in which they are measured."""
        return [(method, length) for length in self.lengths for method in self.methods]

    def shape(self, seq_len: int) -> Shape:
        """For the costs by formula."""
        return Shape(
            seq_len=seq_len,
            head_dim=self.head_dim,
            n_heads=self.n_heads,
            batch=self.batch,
            bytes_a_number=DTYPES[self.dtype],
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-able; `spec_from_dict` is the inverse."""
        return asdict(self)


def spec_from_dict(data: dict[str, Any]) -> BenchSpec:
    """Raises ValueError for unknown or missing keys and for what BenchSpec refuses."""
    known = {entry.name for entry in fields(BenchSpec)}
    if extra := sorted(set(data) - known):
        raise ValueError(f"a bench spec has no {', '.join(extra)}")
    try:
        lists: dict[str, Any] = {name: tuple(data[name]) for name in ("methods", "lengths")}
        values: dict[str, Any] = {**data, **lists, "sizes": Sizes(**data.get("sizes", {}))}
        return BenchSpec(**values)
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a bench spec: {error}") from None


def _check_question(spec: BenchSpec) -> None:
    if spec.question not in QUESTIONS:
        raise ValueError(f"unknown question {spec.question!r}; questions: {', '.join(QUESTIONS)}")
    if spec.writes and spec.causal is False:
        raise ValueError("generation is causal: a token that is written sees no later one")
    if spec.writes and spec.backward:
        raise ValueError("generation has no backward pass: one token is written at a time")


def _check_methods(spec: BenchSpec) -> None:
    if not spec.methods:
        raise ValueError(f"no method to measure; methods: {', '.join(METHODS)}")
    for name in spec.methods:
        if name not in METHODS:
            raise ValueError(f"unknown method {name!r}; methods: {', '.join(METHODS)}")
    if len(set(spec.methods)) < len(spec.methods):
        raise ValueError(f"a method is named twice: {', '.join(spec.methods)}")
    if spec.causal and set(spec.methods) <= set(WITHOUT_CAUSAL_FORM):
        raise ValueError(f"{', '.join(spec.methods)}: none of these has a causal form")
    if not spec.causal and set(spec.methods) <= set(ONLY_CAUSAL):
        raise ValueError(f"{', '.join(spec.methods)}: these have a causal form alone")
    if spec.writes and not set(spec.methods) & set(WRITERS):
        raise ValueError(f"{', '.join(spec.methods)}: none of these writes token by token")


def _check_lengths(lengths: Sequence[int]) -> None:
    if not 1 <= len(lengths) <= MOST_LENGTHS:
        raise ValueError(f"{len(lengths)} lengths; 1 to {MOST_LENGTHS} are allowed")
    for length in lengths:
        _whole("a length", length, 1, MOST_LENGTH)
    if any(before >= after for before, after in pairwise(lengths)):
        raise ValueError(f"lengths {', '.join(map(str, lengths))}; they must rise")


def _check_product(spec: BenchSpec) -> None:
    """Each size may be small enough, and all of them together not."""
    n_numbers = spec.batch * spec.n_heads * spec.lengths[-1] * spec.head_dim
    if n_numbers > MOST_NUMBERS:
        raise ValueError(
            f"{spec.batch} x {spec.n_heads} heads x {spec.lengths[-1]:,} tokens x {spec.head_dim} "
            f"are {n_numbers:,} numbers; at most {MOST_NUMBERS:,} are measured"
        )


def _check_numbers(spec: BenchSpec) -> None:
    for name in ("causal", "backward"):
        if not isinstance(getattr(spec, name), bool):
            raise ValueError(f"{name} is {getattr(spec, name)!r}; true or false is needed")
    if not is_device(spec.device):
        known = ", ".join(name for name in ASKED if name != AUTO)
        raise ValueError(f"unknown device {spec.device!r}; devices: {known}")
    if spec.dtype not in DTYPES:
        raise ValueError(f"unknown dtype {spec.dtype!r}; dtypes: {', '.join(DTYPES)}")
    if spec.device == "cpu" and spec.dtype == "float16":
        raise ValueError("float16 is for GPUs; a processor takes float32 or bfloat16")


def _check_sizes(spec: BenchSpec) -> None:
    for name, most in MOST_SIZES.items():
        _whole(name, getattr(spec.sizes, name), 0 if name in MAY_BE_ZERO else 1, most)
    if spec.sizes.n_window % 2 == 0:
        raise ValueError(f"n_window is {spec.sizes.n_window}; BigBird's window is odd")
    n_features = taylor_features(spec.head_dim, spec.sizes.n_terms, symmetric=spec.sizes.symmetric)
    if "taylor" in spec.methods and n_features > MOST_FEATURES:
        raise ValueError(
            f"{spec.sizes.n_terms} Taylor terms of {spec.head_dim} numbers are {n_features:,} "
            f"features; at most {MOST_FEATURES:,} are measured"
        )


def _whole(name: str, value: Any, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{name} is {value!r}; {least} to {most} are allowed")
