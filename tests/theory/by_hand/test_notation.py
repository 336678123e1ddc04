"""Typed numbers, rows and sums of outer products: what is read and what is refused."""

import numpy as np
import pytest

from core.theory.by_hand.notation import (
    read_matrix,
    read_numbers,
    read_rows,
    spell_matrix,
    spell_vector,
)


def test_numbers_stand_between_commas_or_spaces():
    assert read_numbers("1, 0.5  -2,−3 , 4", name="x").tolist() == [1, 0.5, -2, -3, 4]


def test_rows_stand_between_semicolons():
    assert read_rows("1 0; 0 1;", name="x").tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "scores: nothing typed"),
        ("1, two", "scores: 'two' is no number"),
        ("1, nan", "scores: 'nan' is no number"),
        ("inf", "scores: inf is out of range"),
        ("1,,2", "scores: number 2 is empty; a comma too many"),
        ("1, 2,", "scores: number 3 is empty"),
        ("1e9", "scores: 1e9 is out of range; from -1000 to 1000"),
        ("1 " * 13, "scores: 13 numbers; at most 12"),
        ("1" * 301, "scores: 301 characters; at most 300"),
    ],
)
def test_what_is_no_list_of_numbers_is_refused(text: str, reason: str):
    with pytest.raises(ValueError, match=reason):
        read_numbers(text, name="scores")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1 0; 1", "keys: vectors of 1 and 2 numbers; one length"),
        ("1 0;; 0 1", "keys, vector 2: nothing typed"),
        (";".join(["1"] * 13), "keys: 13 vectors; at most 12"),
    ],
)
def test_rows_that_are_no_vectors_of_one_length_are_refused(text: str, reason: str):
    with pytest.raises(ValueError, match=reason):
        read_rows(text, name="keys")


def test_a_pair_is_an_outer_product():
    expected = np.zeros((4, 4))
    expected[3, 0], expected[2, 3], expected[1, 1] = 0.5, 1, -2
    np.testing.assert_array_equal(read_matrix("0.5 da + cd − 2bb", name="Q"), expected)
    np.testing.assert_array_equal(read_matrix("-I + 2*I", name="K"), np.eye(4))
    np.testing.assert_array_equal(read_matrix("0", name="K"), np.zeros((4, 4)))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "matrix V: nothing typed"),
        ("be", "matrix V: cannot read 'be'"),
        ("bb cc", "matrix V: cannot read 'cc'"),
        ("bb + ", r"matrix V: cannot read '\+'"),
        ("0.5", "matrix V: cannot read '0.5'"),
        ("5000 bb", "matrix V: 5000 is out of range"),
        ("nan bb", "matrix V: cannot read 'nanbb'"),
        ("b" * 301, "matrix V: 301 characters"),
    ],
)
def test_what_is_no_sum_of_outer_products_is_refused(text: str, reason: str):
    with pytest.raises(ValueError, match=reason):
        read_matrix(text, name="matrix V")


@pytest.mark.parametrize("text", ["bb - cc", "I", "0", "-2 I", "0.5 da + cd", "I + ab"])
def test_a_matrix_is_spelled_as_it_was_typed(text: str):
    spelled = spell_matrix(read_matrix(text, name="M"))
    expected = {
        "bb - cc": r"(u_b u_b^\top - u_c u_c^\top)/\beta^2",
        "I": "I",
        "0": "0",
        "-2 I": r"-2\,I",
        "0.5 da + cd": r"(u_c u_d^\top + 0.5\,u_d u_a^\top)/\beta^2",
        "I + ab": r"(u_a u_a^\top + u_a u_b^\top + u_b u_b^\top + u_c u_c^\top + u_d u_d^\top)"
        r"/\beta^2",
    }[text]
    assert spelled == expected


def test_a_vector_is_spelled_without_what_is_too_small_to_show():
    assert spell_vector([0, 1, -1, 1e-9]) == "u_b - u_c"
    assert spell_vector([-0.25, 0, 0, 2]) == r"-0.25\,u_a + 2\,u_d"
    assert spell_vector([0, 0, 0, 0]) == "0"
