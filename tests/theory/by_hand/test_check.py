"""The verdict of a check, and the range in which a number is accepted."""

import math

import numpy as np
import pytest

from core.theory.by_hand.check import Check, check_range, distance


def test_an_equation_allows_rounding_only():
    assert Check("c", 1 + 1e-12, 1.0).verdict == "holds"
    assert Check("c", 1.005, 1.0).verdict == "fails"
    assert Check("c", 1.005, 1.0).error == pytest.approx(0.005)
    assert Check("c", 1e6 + 1e-5, 1e6, scale=1e6).holds


def test_a_limit_is_near_within_one_percent_of_its_scale():
    assert Check("c", 1.005, 1.0, relation="→").verdict == "near"
    assert Check("c", 1.02, 1.0, relation="→").verdict == "far"
    assert Check("c", 1.02, 1.0, relation="→", scale=5.0).verdict == "near"
    assert not Check("c", 1.02, 1.0, relation="→").holds


def test_a_limit_that_goes_elsewhere_fails_however_near_it_is():
    assert Check("c", 1.0, 1.0, relation="→", limit=0.5).verdict == "fails"
    assert Check("c", 0.7, 1.0, relation="→", limit=1.0).verdict == "far"


def test_an_inequality_that_holds_has_no_error():
    assert Check("c", 2.0, 1.0, relation="≥").error == 0
    assert Check("c", 1.0, 1.0, relation="≥").verdict == "holds"
    broken = Check("c", 0.5, 1.0, relation="≥")
    assert (broken.verdict, broken.error) == ("fails", 0.5)


def test_a_strict_inequality_does_not_hold_for_equal_numbers():
    assert Check("c", 1.1, 1.0, relation=">").holds
    assert not Check("c", 1.0, 1.0, relation=">").holds


def test_the_distance_is_the_root_of_the_sum_of_squares():
    assert distance(np.array([1.0, 2.0]), np.array([4.0, 6.0])) == 5


def test_both_ends_of_a_range_belong_to_it():
    check_range("β", 0, 0, 20)
    check_range("β", 20, 0, 20)


@pytest.mark.parametrize("value", [-0.1, 20.1, math.nan, math.inf])
def test_what_lies_outside_a_range_is_named_with_what_is_allowed(value: float):
    with pytest.raises(ValueError, match=f"β = {value:g}: a number from 0 to 20 is needed"):
        check_range("β", value, 0, 20)
