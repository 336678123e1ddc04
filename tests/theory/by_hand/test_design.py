"""Matrices made for the task, and the condition that an edit breaks."""

import math

import numpy as np
import pytest

from core.theory.by_hand.design import (
    DESIGNED_KEY,
    DESIGNED_QUERY,
    DESIGNED_VALUE,
    designed_example,
    error_curves,
)
from core.theory.by_hand.notation import read_matrix

EYE = np.eye(4)


@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0, 3.0])
def test_the_errors_of_the_design_are_the_closed_forms(beta: float):
    found = designed_example(beta)
    assert found.broken == ()
    assert found.reaches
    assert found.errors[0] == pytest.approx(math.sqrt(5) / (math.exp(beta**2) + 2))
    assert found.errors[1] == pytest.approx(math.sqrt(2) / (math.exp(beta**2) + 2))
    assert [check.holds for check in found.checks[-2:]] == [True, True]


def test_the_curves_pass_through_the_errors():
    betas, errors = error_curves(0.5, 5.0, DESIGNED_VALUE, DESIGNED_KEY, DESIGNED_QUERY)
    assert (betas[0], betas[25], betas[-1]) == (0.5, 3, 5)
    np.testing.assert_allclose(errors[25], designed_example(3.0).errors)


def test_the_design_is_approximate_at_small_beta_and_within_one_percent_at_large():
    small, large = designed_example(1.0), designed_example(3.0)
    expected = ["holds"] * 4 + ["far"] * 2 + ["holds"] * 2
    assert [check.verdict for check in small.checks] == expected
    assert all(check.holds for check in large.checks)


def test_the_values_and_queries_of_the_design():
    attention = designed_example(2.0).attention
    np.testing.assert_array_equal(attention.values, [[0, 1, 0, 0], [0, 0, 0, 0], [0, 1, -1, 0]])
    np.testing.assert_array_equal(attention.queries, [[0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]])
    np.testing.assert_allclose(attention.weights[2], [1 / 3] * 3)


def test_an_edited_value_matrix_is_blamed_for_both_values():
    found = designed_example(3.0, value=EYE)
    assert found.broken == (
        "$V$ breaks $v_1 = u_b$: it gives $v_1 = u_b + u_d$",
        "$V$ breaks $v_3 = u_b - u_c$: it gives $v_3 = u_b + u_c$",
    )
    assert [check.verdict for check in found.checks] == ["fails"] * 2 + ["holds"] * 2 + [
        "fails"
    ] * 2
    assert [check.limit for check in found.checks[-2:]] == [2, 1]


@pytest.mark.parametrize(
    ("key", "query", "blamed"),
    [
        (EYE, EYE, "$Q$ breaks it: $q_1"),
        (-EYE, DESIGNED_QUERY, "$K$ breaks it: $q_1"),
        (0 * EYE, 0 * EYE, "$K$ and $Q$ both break it: $q_1"),
        (-EYE, EYE - EYE[:, ::-1], "$K$ and $Q$ both break it: $q_1"),
        (
            read_matrix("cc + dd", name="K"),
            read_matrix("da - dd + 0.5 bd", name="Q"),
            "$K$ and $Q$ do not fit (either put back mends it): $q_1",
        ),
    ],
)
def test_a_broken_margin_is_blamed_on_the_matrix_that_breaks_it(
    key: np.ndarray, query: np.ndarray, blamed: str
):
    found = designed_example(3.0, DESIGNED_VALUE, key, query)
    assert found.broken[0].startswith(blamed)
    assert len(found.checks) == 6
    assert not found.checks[2].holds


def test_another_design_that_meets_the_conditions_is_not_called_broken():
    found = designed_example(3.0, DESIGNED_VALUE, DESIGNED_QUERY.T, EYE)
    assert found.broken == ()
    assert all(check.holds for check in found.checks)


def test_two_changes_that_undo_each_other_break_nothing():
    found = designed_example(3.0, DESIGNED_VALUE, -EYE, -DESIGNED_QUERY)
    assert found.broken == ()


def test_a_design_that_reaches_both_outputs_by_another_way_is_said_to_reach_them():
    value, query = read_matrix("bb - cc + ba", name="V"), read_matrix("cd + aa", name="Q")
    found = designed_example(3.0, value, EYE, query)
    assert len(found.broken) == 1
    assert found.broken[0].startswith("$Q$ breaks it: $q_2 = u_a$ must lean on $k_1")
    assert found.reaches
    assert found.checks[-1].holds
    assert not designed_example(3.0, query=EYE).reaches
