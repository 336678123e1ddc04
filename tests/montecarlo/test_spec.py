"""Every bad setting is named with its value and what is allowed."""

from typing import Any

import numpy as np
import pytest

from core.montecarlo.spec import PerturbationSpec, parse_heads


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"beta": 0}, "scale β is 0: all weights would be 1/n"),
        ({"beta": -1.0}, r"scale β: -1.0; use a number from 0 to 1e\+06"),
        ({"beta": 1e9}, "scale β: 1000000000.0"),
        ({"beta": float("nan")}, "scale β: nan"),
        ({"n_keys": 1}, "keys: 1; use a whole number from 2 to 256"),
        ({"n_keys": 2.5}, "keys: 2.5"),
        ({"n_keys": True}, "keys: True"),
        ({"dimension": 5}, "5 dimensions for 6 keys: orthonormal means need"),
        ({"radial_variance": -0.5}, "radial variance ρ: -0.5"),
        ({"radial_variance": (0.5, 0.1)}, "2 radial variances for 6 keys: use one a key"),
        ({"noise_variance": -1e-9}, "noise variance α: -1e-09"),
        ({"noise_variance": float("inf")}, "noise variance α: inf"),
        ({"n_draws": 10**12}, r"draws: 1000000000000; use a whole number from 1 to 1,000,000,000"),
        ({"n_draws": 0}, "draws: 0"),
        ({"seed": -1}, "seed: -1"),
        ({"heads": "three"}, "heads 'three': use one, one-balanced, two, two-equal or a number"),
        ({"heads": 0}, "heads: 0; use a whole number from 1 to"),
        ({"heads": ()}, "0 free queries: use 1 to"),
        ({"heads": ((1.0, 2.0),)}, "2 coefficients of a query for 6 keys"),
        ({"heads": ((1e9, 0, 0, 0, 0, 0),)}, "coefficient: 1000000000.0"),
        ({"heads": ((0.0,) * 6,)}, "a query with all coefficients 0"),
        ({"key_norms": (1.0,)}, "1 key norms for 6 keys"),
        ({"key_norms": (0.0, 1, 1, 1, 1, 1)}, "key norm: 0.0; use a number from 0.001 to 1000"),
        ({"values": "ones"}, "values 'ones': use orthonormal, random, or 6 typed rows"),
        ({"values": ((1.0,),)}, "1 value rows for 6 keys"),
        ({"values": ((1.0,), (1.0, 2.0)) * 3}, r"value rows of \[1, 2\] numbers"),
        ({"values": ((float("nan"),),) * 6}, "value: nan"),
    ],
)
def test_a_bad_setting_is_refused(changes: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        PerturbationSpec(**changes)


def test_a_spec_is_a_value():
    assert hash(PerturbationSpec(heads="two")) == hash(PerturbationSpec(heads="two"))
    assert PerturbationSpec(seed=1) != PerturbationSpec(seed=2)


def test_the_queries_of_the_exercise():
    a, b = np.eye(6)[:2]
    assert PerturbationSpec(beta=3, heads="one").queries.tolist() == [(3 * (a + b)).tolist()]
    np.testing.assert_array_equal(PerturbationSpec(beta=3, heads="two").queries, [3 * a, 3 * b])
    np.testing.assert_array_equal(PerturbationSpec(heads="two-equal").coefficients, [a + b] * 2)


def test_the_balanced_query_gives_unequal_keys_the_same_score():
    norms = (3.0, 0.5, 1, 1, 1, 1)
    spec = PerturbationSpec(beta=4, heads="one-balanced", key_norms=norms)
    scores = spec.queries[0] * spec.norms
    np.testing.assert_allclose(scores, [4, 4, 0, 0, 0, 0], atol=1e-12)
    k_a, k_b = 3.0 * np.eye(6)[0], 0.5 * np.eye(6)[1]
    exercise = 0.5**2 * k_a + 3.0**2 * k_b
    np.testing.assert_allclose(spec.queries[0] / spec.queries[0, 0], exercise / exercise[0])


def test_the_plain_sum_of_unequal_keys_does_not():
    spec = PerturbationSpec(beta=4, heads="one", key_norms=(3.0, 0.5, 1, 1, 1, 1))
    scores = spec.queries[0] * spec.norms
    np.testing.assert_allclose(scores[:2], [36.0, 1.0])


def test_many_heads_toss_a_fair_coin_from_the_seed():
    many = PerturbationSpec(heads=1000, seed=3)
    on_a = many.coefficients[:, 0]
    assert 400 < on_a.sum() < 600
    np.testing.assert_array_equal(on_a + many.coefficients[:, 1], 1.0)
    np.testing.assert_array_equal(
        many.coefficients, PerturbationSpec(heads=1000, seed=3).coefficients
    )
    assert (on_a != PerturbationSpec(heads=1000, seed=4).coefficients[:, 0]).any()


def test_random_values_are_unit_vectors_of_the_seed():
    rows = PerturbationSpec(values="random", seed=5).value_rows
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0)
    assert (rows != PerturbationSpec(values="random", seed=6).value_rows).all()


@pytest.mark.parametrize(("text", "heads"), [("two-equal", "two-equal"), ("12", 12)])
def test_heads_are_typed_as_a_name_or_a_number(text: str, heads: object):
    assert parse_heads(text) == heads


@pytest.mark.parametrize("text", ["", "-1", "2.5", "²", "many"])
def test_other_heads_are_refused(text: str):
    with pytest.raises(ValueError, match="use one, one-balanced, two, two-equal or a number"):
        parse_heads(text)
