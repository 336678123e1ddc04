"""What is drawn, frozen and checked at once.

Keys k_i ~ N(μ_i, αI + ρ_i μ_i μ_iᵀ) with orthogonal means μ_i = m_i u_i; head h asks with
q_h = β Σ_i C_hi μ_i. Key 0 is a, key 1 is b.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Coefficients = tuple[tuple[float, ...], ...]
Heads = str | int | Coefficients
Values = Literal["orthonormal", "random"] | tuple[tuple[float, ...], ...]

NAMED_HEADS = ("one", "one-balanced", "two", "two-equal")
MOST_BETA = 1e6
MOST_KEYS = 256
MOST_DIMENSIONS = 4096
MOST_HEADS = 1024
MOST_FREE = 64
MOST_DRAWS = 10**9
MOST_VARIANCE = 1e4
NORMS = (1e-3, 1e3)
MOST_COEFFICIENT = 1e3


@dataclass(frozen=True, slots=True, kw_only=True)
class PerturbationSpec:
    """One experiment. Raises ValueError for what cannot be drawn.

    heads: "one" q = β(μ_a + μ_b); "one-balanced" q = β(μ_a/‖μ_a‖² + μ_b/‖μ_b‖²), which is
    ∝ ‖μ_b‖² μ_a + ‖μ_a‖² μ_b; "two" βμ_a and βμ_b; "two-equal" twice "one"; a number h: each head
    βμ_a or βμ_b by a fair coin from the seed; rows of n coefficients on the means: free queries.
    radial_variance: ρ of key a alone, or one a key. noise_variance: α. key_norms: m_i, all 1 if
    None. values: orthonormal, random (unit vectors from the seed), or n typed rows.
    ignore_negative: leave out draws in which k_a·q < 0 for a head that asks for a.
    """

    n_keys: int = 6
    dimension: int = 64
    beta: float = 10.0
    heads: Heads = "one"
    radial_variance: float | tuple[float, ...] = 0.5
    noise_variance: float = 0.0
    key_norms: tuple[float, ...] | None = None
    values: Values = "orthonormal"
    n_draws: int = 1_000_000
    seed: int = 0
    ignore_negative: bool = False

    def __post_init__(self) -> None:
        check_spec(self)

    @property
    def norms(self) -> Array:
        """(n,): the lengths m_i of the mean keys."""
        return np.ones(self.n_keys) if self.key_norms is None else np.array(self.key_norms)

    @property
    def radial_variances(self) -> Array:
        """(n,): ρ of each key."""
        if isinstance(self.radial_variance, tuple):
            return np.array(self.radial_variance, dtype=float)
        return np.array([self.radial_variance, *[0.0] * (self.n_keys - 1)])

    @property
    def queries(self) -> Array:
        """(H, n): q_h as coefficients on the unit directions u_i, β included."""
        return self.beta * self.coefficients * self.norms

    @property
    def coefficients(self) -> Array:
        """(H, n): C, the queries as coefficients on the means μ_i."""
        norms = self.norms
        if not isinstance(self.heads, str | int):
            return np.array(self.heads, dtype=float)
        units: Array = np.eye(self.n_keys)
        a: Array = units[0]
        b: Array = units[1]
        if isinstance(self.heads, int):
            coin = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(1,)))
            on_a = coin.integers(0, 2, size=self.heads) == 0
            return np.where(on_a[:, None], a, b)
        balanced = a / norms[0] ** 2 + b / norms[1] ** 2
        rows: dict[str, list[Array]] = {
            "one": [a + b],
            "one-balanced": [balanced],
            "two": [a, b],
            "two-equal": [a + b, a + b],
        }
        return np.asarray(rows[self.heads], dtype=np.float64)

    @property
    def value_rows(self) -> Array:
        """(n, d_v): the values v_i."""
        if isinstance(self.values, tuple):
            return np.array(self.values, dtype=float)
        if self.values == "orthonormal":
            return np.eye(self.n_keys, self.dimension)
        source = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(2,)))
        rows = source.standard_normal((self.n_keys, self.dimension))
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def parse_heads(text: str) -> Heads:
    """The heads as typed: a name, or a number. Raises ValueError that lists what is allowed."""
    if text in NAMED_HEADS:
        return text
    if text.isdecimal() and text.isascii():
        return int(text)
    raise ValueError(f"heads {text!r}: use {', '.join(NAMED_HEADS)} or a number of heads")


def check_spec(spec: PerturbationSpec) -> None:
    """Raise ValueError for the first setting that is out of range."""
    _whole("keys", spec.n_keys, 2, MOST_KEYS)
    _whole("dimensions", spec.dimension, 1, MOST_DIMENSIONS)
    if spec.dimension < spec.n_keys:
        raise ValueError(
            f"{spec.dimension} dimensions for {spec.n_keys} keys: orthonormal means need at least "
            "as many dimensions as keys"
        )
    _whole("draws", spec.n_draws, 1, MOST_DRAWS)
    _whole("seed", spec.seed, 0, 2**63 - 1)
    _check_numbers(spec)
    _check_heads(spec)
    _check_values(spec)


def _check_numbers(spec: PerturbationSpec) -> None:
    if spec.beta == 0:
        raise ValueError("scale β is 0: all weights would be 1/n whatever the keys; use β > 0")
    _number("scale β", spec.beta, 0.0, MOST_BETA)
    _number("noise variance α", spec.noise_variance, 0.0, MOST_VARIANCE)
    variances = spec.radial_variance
    if isinstance(variances, tuple):
        _length("radial variances", variances, spec.n_keys)
    for variance in variances if isinstance(variances, tuple) else (variances,):
        _number("radial variance ρ", variance, 0.0, MOST_VARIANCE)
    if spec.key_norms is not None:
        _length("key norms", spec.key_norms, spec.n_keys)
        for norm in spec.key_norms:
            _number("key norm", norm, *NORMS)


def _check_heads(spec: PerturbationSpec) -> None:
    heads = spec.heads
    if isinstance(heads, str):
        if heads not in NAMED_HEADS:
            raise ValueError(f"heads {heads!r}: use {', '.join(NAMED_HEADS)} or a number of heads")
    elif isinstance(heads, tuple):
        if not 1 <= len(heads) <= MOST_FREE:
            raise ValueError(f"{len(heads)} free queries: use 1 to {MOST_FREE}")
        for row in heads:
            _check_query(row, spec.n_keys)
    else:
        _whole("heads", heads, 1, MOST_HEADS)


def _check_query(row: tuple[float, ...], n_keys: int) -> None:
    _length("coefficients of a query", row, n_keys)
    for coefficient in row:
        _number("coefficient", coefficient, -MOST_COEFFICIENT, MOST_COEFFICIENT)
    if not any(row):
        raise ValueError("a query with all coefficients 0 looks at nothing: give one a number")


def _check_values(spec: PerturbationSpec) -> None:
    if not isinstance(spec.values, tuple):
        if spec.values not in ("orthonormal", "random"):
            raise ValueError(
                f"values {spec.values!r}: use orthonormal, random, or {spec.n_keys} typed rows"
            )
        return
    _length("value rows", spec.values, spec.n_keys)
    widths = {len(row) for row in spec.values}
    if len(widths) > 1 or not 1 <= max(widths) <= MOST_DIMENSIONS:
        raise ValueError(
            f"value rows of {sorted(widths)} numbers: all rows need the same number, 1 to "
            f"{MOST_DIMENSIONS}"
        )
    for row in spec.values:
        for number in row:
            _number("value", number, -1e6, 1e6)


def _whole(name: str, value: object, least: int, most: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ValueError(f"{name}: {value!r}; use a whole number from {least:,} to {most:,}")


def _number(name: str, value: object, least: float, most: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise ValueError(f"{name}: {value!r}; use a number from {least:g} to {most:g}")


def _length(name: str, row: Sequence[object], expected: int) -> None:
    if len(row) != expected:
        raise ValueError(f"{len(row)} {name} for {expected} keys: use one a key")
