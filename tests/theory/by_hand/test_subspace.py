"""Taking v_a out of a sum: random orthonormal, orthogonal and oblique bases."""

import numpy as np
import pytest

from core.theory.by_hand.subspace import TakeOut, take_out


def bases(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Orthonormal bases of two orthogonal subspaces of ℝ⁶, of 2 and 3 dimensions."""
    rows = np.linalg.qr(np.random.default_rng(seed).normal(size=(6, 6)))[0].T
    return rows[:2], rows[2:5]


def take(basis_a: np.ndarray, basis_b: np.ndarray) -> TakeOut:
    return take_out(basis_a, basis_b, np.array([2.0, -1]), np.array([1.0, 3, -2]))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_orthonormal_bases_give_back_v_a(seed: int):
    basis_a, basis_b = bases(seed)
    found = take(basis_a, basis_b)
    loop = np.zeros((6, 6))
    for vector in basis_a:
        loop += np.outer(vector, vector)
    np.testing.assert_allclose(found.sum_outer, loop, atol=1e-12)
    np.testing.assert_allclose(found.from_sum_outer, 2 * basis_a[0] - basis_a[1], atol=1e-12)
    assert found.broken == ()
    assert all(check.holds for check in found.checks[:-1])


def test_orthogonal_bases_need_the_denominators():
    basis_a, basis_b = bases()
    stretched = basis_a * np.array([[2.0], [1.0]])
    found = take(stretched, basis_b)
    np.testing.assert_allclose(found.from_denominators, found.v_a, atol=1e-12)
    np.testing.assert_allclose(found.from_sum_outer, 8 * stretched[0] - stretched[1], atol=1e-12)
    assert found.broken == ("each $a_i$ has length 1",)
    assert [check.holds for check in found.checks[3:6]] == [False, True, True]


def test_an_oblique_basis_needs_the_inverse_of_its_products():
    basis_a, basis_b = bases()
    oblique = np.array([basis_a[0], (basis_a[0] + basis_a[1]) / np.sqrt(2)])
    found = take(oblique, basis_b)
    assert found.broken == ("the $a_i$ are orthogonal",)
    assert [check.holds for check in found.checks[3:6]] == [False, False, True]


def test_subspaces_that_are_not_orthogonal_break_every_matrix():
    basis_a, basis_b = bases()
    leaning = basis_b + 0.5 * basis_a[0]
    found = take(basis_a, leaning)
    assert found.broken == ("the subspaces are orthogonal",)
    assert not any(check.holds for check in found.checks[3:6])


def test_stretching_the_first_vector_is_typing_it_longer():
    basis_a, basis_b = bases()
    typed = take(basis_a * np.array([[2.0], [1.0]]), basis_b)
    along_a, along_b = np.array([2.0, -1]), np.array([1.0, 3, -2])
    stretched = take_out(basis_a, basis_b, along_a, along_b, stretch=2.0)
    np.testing.assert_allclose(stretched.from_sum_outer, typed.from_sum_outer)
    np.testing.assert_array_equal(basis_a, bases()[0])


def test_long_vectors_are_compared_by_their_own_size():
    basis_a, basis_b = bases()
    found = take(1000 * basis_a, 1000 * basis_b)
    assert found.broken == ("each $a_i$ has length 1",)
    assert [check.holds for check in found.checks[3:6]] == [False, True, True]


def test_the_transposed_basis_returns_too_few_numbers():
    basis_a, basis_b = bases()
    found = take(basis_a, basis_b)
    assert found.transposed.shape == (2, 6)
    np.testing.assert_allclose(found.from_transposed, [2, -1], atol=1e-12)
    shape = found.checks[-1]
    assert (shape.value, shape.claimed, shape.holds) == (2, 6, False)


@pytest.mark.parametrize(
    ("basis_a", "along_a", "reason"),
    [
        (np.eye(3)[:1], [1.0], "the a_i have 3 numbers, the b_j 4"),
        (np.eye(4)[:2], [1.0], "v_a has 1 coordinates, its basis 2 vectors"),
        (np.zeros((1, 4)), [1.0], "a_1 is 0"),
        (np.ones((2, 4)), [1.0, 1.0], "the a_i depend on each other"),
        (np.ones((5, 4)), [1.0] * 5, r"5 vectors a_i in ℝ\^4: a basis has at most 4"),
    ],
)
def test_what_is_no_basis_is_named(basis_a: np.ndarray, along_a: list[float], reason: str):
    with pytest.raises(ValueError, match=reason):
        take_out(basis_a, np.eye(4)[2:], np.array(along_a), np.array([1.0, 1.0]))


def test_too_many_dimensions_are_refused():
    with pytest.raises(ValueError, match="d, the numbers of a vector, = 9: a number from 1 to 8"):
        take_out(np.eye(9)[:1], np.eye(9)[1:2], np.ones(1), np.ones(1))
