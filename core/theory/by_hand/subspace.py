"""Taking v_a back out of v_a + v_b, when the two lie in known orthogonal subspaces.

    v_a = A x, v_b = B y,  AᵀB = 0      M (v_a + v_b) = v_a
    orthonormal basis        M = A Aᵀ = Σ a_i a_iᵀ
    orthogonal basis         M = Σ a_i a_iᵀ / (a_iᵀ a_i)
    any basis                M = A (AᵀA)⁻¹ Aᵀ
    M = Aᵀ is no such matrix: it gives m coordinates, not a vector of ℝ^d.

Shapes here: bases hold their vectors in rows, a (m, d), b (p, d); M (d, d).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.theory.by_hand.check import Check, check_range, distance

Array = NDArray[np.float64]
MOST_DIMENSIONS, LEAST_STRETCH, MOST_STRETCH = 8, 0.01, 100.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeOut:
    """v_a and s = v_a + v_b (d,), matrices with what they make of s, and the conditions broken.

    Two are (d, d) and return (d,); Aᵀ is (m, d) and returns (m,).
    """

    v_a: Array
    total: Array
    sum_outer: Array
    from_sum_outer: Array
    with_denominators: Array
    from_denominators: Array
    transposed: Array
    from_transposed: Array
    broken: tuple[str, ...]
    checks: tuple[Check, ...]


def take_out(
    basis_a: Array,
    basis_b: Array,
    coordinates_a: Array,
    coordinates_b: Array,
    *,
    stretch: float = 1.0,
) -> TakeOut:
    """Try each M on s; bases (m, d), (p, d), coordinates (m,), (p,); a_1 is stretched first."""
    check_range("stretch of a_1", stretch, LEAST_STRETCH, MOST_STRETCH)
    _check_bases(basis_a, basis_b)
    _check_coordinates("a", basis_a, coordinates_a)
    _check_coordinates("b", basis_b, coordinates_b)
    a = basis_a.copy()
    a[0] *= stretch
    v_a = coordinates_a @ a
    total = v_a + coordinates_b @ basis_b
    sum_outer = a.T @ a
    with_denominators = a.T @ (a / (a**2).sum(1, keepdims=True))
    projector = np.linalg.pinv(a) @ a
    conditions = _condition_checks(a, basis_b)
    return TakeOut(
        v_a=v_a,
        total=total,
        sum_outer=sum_outer,
        from_sum_outer=sum_outer @ total,
        with_denominators=with_denominators,
        from_denominators=with_denominators @ total,
        transposed=a,
        from_transposed=a @ total,
        broken=tuple(what for what, check in conditions if not check.holds),
        checks=(
            *(check for _, check in conditions),
            _miss(r"AA^\top", sum_outer, total, v_a),
            _miss(r"\sum_i\tfrac{a_i a_i^\top}{a_i^\top a_i}", with_denominators, total, v_a),
            _miss(r"A(A^\top A)^{-1}A^\top", projector, total, v_a),
            Check(r"$A^\top s$ has $d$ numbers", len(a), len(v_a)),
        ),
    )


def _condition_checks(a: Array, b: Array) -> tuple[tuple[str, Check], ...]:
    """What M = AAᵀ asks of the bases, each in words and as a number that should be 0."""
    gram, across = a @ a.T, a @ b.T
    squares = np.diag(gram)
    size = max(1.0, float(squares.max()), float((b**2).sum(1).max()))
    found = (
        ("each $a_i$ has length 1", r"\max_i |a_i^\top a_i - 1|", squares - 1),
        ("the $a_i$ are orthogonal", r"\max_{i\ne j} |a_i^\top a_j|", gram - np.diag(squares)),
        ("the subspaces are orthogonal", r"\max_{i,j} |a_i^\top b_j|", across),
    )
    return tuple(
        (what, Check(f"${how} = 0$", float(np.abs(numbers).max()), 0.0, scale=size))
        for what, how, numbers in found
    )


def _miss(how: str, matrix: Array, total: Array, v_a: Array) -> Check:
    size = max(1.0, float(np.linalg.norm(total)) * float(np.abs(matrix).max()))
    claim = rf"$\lVert {how} s - v_a\rVert = 0$"
    return Check(claim, distance(matrix @ total, v_a), 0.0, scale=size)


def _check_coordinates(name: str, basis: Array, coordinates: Array) -> None:
    if len(coordinates) != len(basis):
        raise ValueError(
            f"v_{name} has {len(coordinates)} coordinates, its basis {len(basis)} vectors; "
            "one coordinate for each vector is needed"
        )


def _check_bases(basis_a: Array, basis_b: Array) -> None:
    d = basis_a.shape[1]
    if d != basis_b.shape[1]:
        raise ValueError(
            f"the a_i have {d} numbers, the b_j {basis_b.shape[1]}; both bases lie in one space"
        )
    check_range("d, the numbers of a vector,", d, 1, MOST_DIMENSIONS)
    for name, basis in (("a_i", basis_a), ("b_j", basis_b)):
        zero = np.flatnonzero(~basis.any(axis=1))
        if zero.size:
            raise ValueError(f"{name[0]}_{int(zero[0]) + 1} is 0: a basis has no zero vector")
        if len(basis) > d:
            raise ValueError(f"{len(basis)} vectors {name} in ℝ^{d}: a basis has at most {d}")
        if np.linalg.matrix_rank(basis) < len(basis):
            raise ValueError(f"the {name} depend on each other: a basis needs independent vectors")
