"""Copying one value, against explicit keys and queries."""

import math

import numpy as np
import pytest

from core.theory.by_hand.copying import beta_needed, copying


def softmax(scores: np.ndarray) -> np.ndarray:
    raised = np.exp(scores - scores.max())
    return raised / raised.sum()


def draw_keys(n: int, d: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.parametrize("chosen", [0, 3])
def test_the_weights_are_those_of_the_query_along_the_key(chosen: int):
    keys = draw_keys(5, 3)
    found = copying(keys, chosen, 2.0)
    np.testing.assert_allclose(found.weights, softmax(keys @ (2.0 * keys[chosen])), rtol=1e-12)
    np.testing.assert_array_equal(keys, draw_keys(5, 3))


def test_a_long_query_along_an_orthonormal_key_copies_its_value():
    found = copying(np.eye(4), 1, 20.0)
    assert found.weights[1] == pytest.approx(1, abs=1e-7)
    assert all(check.holds for check in found.checks)
    assert found.checks[3].value == pytest.approx(
        math.sqrt((1 - found.weights[1]) ** 2 + 3 * found.weights[0] ** 2)
    )


@pytest.mark.parametrize("n", [2, 4, 12])
def test_the_needed_length_is_the_logarithm_for_orthonormal_keys(n: int):
    found = copying(np.eye(n), 0, 1.0)
    assert found.beta_needed == pytest.approx(math.log(99 * (n - 1)))
    assert copying(np.eye(n), 0, found.beta_needed or 0).weights[0] == pytest.approx(0.99)


def test_two_alike_keys_share_and_no_length_copies():
    found = copying(np.eye(4), 0, 20.0, pull=1.0)
    np.testing.assert_allclose(found.weights, [0.5, 0.5, 0, 0], atol=1e-7)
    assert found.limit == 0.5
    assert found.beta_needed is None
    condition, ratio, copied, distance, instead = found.checks
    assert (condition.verdict, ratio.verdict) == ("fails", "holds")
    assert (copied.verdict, copied.limit) == ("fails", 0.5)
    assert (distance.verdict, instead.verdict) == ("fails", "near")
    assert distance.value == pytest.approx(math.sqrt(0.5))


def test_almost_alike_keys_copy_with_a_longer_query():
    found = copying(np.eye(4), 0, 1.0, pull=0.9)
    assert (found.beta_needed or 0) > 40
    assert found.checks[2].verdict == "far"


def test_the_pulled_key_is_the_next_one_and_the_first_after_the_last():
    assert copying(np.eye(4), 1, 1.0).twin == 2
    found = copying(np.eye(4), 3, 1.0, pull=0.5)
    assert found.twin == 0
    np.testing.assert_allclose(found.scores, [0.5, 0, 0, 1])


def test_a_longer_key_in_the_same_direction_takes_the_weight_away():
    found = copying(np.array([[1.0, 0], [2.0, 0], [0, 1.0]]), 0, 30.0)
    assert found.weights[0] < 1e-12
    assert found.limit == 0
    assert found.beta_needed is None
    assert not found.checks[0].holds


def test_the_needed_length_grows_with_the_nearest_rival():
    assert beta_needed(np.array([1.0, 5.0])) == pytest.approx(math.log(99), rel=1e-6)
    assert beta_needed(np.array([0.5, 5.0])) == pytest.approx(2 * math.log(99), rel=1e-6)


@pytest.mark.parametrize(
    ("keys", "chosen", "pull", "reason"),
    [
        (np.eye(1), 0, 0.0, "number of keys = 1: a number from 2 to 12"),
        (np.eye(3), 3, 0.0, "key 4: there are keys 1 to 3"),
        (np.eye(3), -1, 0.0, "key 0: there are keys 1 to 3"),
        (np.eye(3), 0, 1.5, "pull = 1.5: a number from 0 to 1"),
        (np.array([[0.0, 0], [1, 0]]), 0, 0.0, "key 1 is 0"),
    ],
)
def test_a_key_that_cannot_be_copied_is_named(
    keys: np.ndarray, chosen: int, pull: float, reason: str
):
    with pytest.raises(ValueError, match=reason):
        copying(keys, chosen, 1.0, pull=pull)
