"""Taylor features: the polynomial, how many there are, where they fail."""

import math

import pytest
import torch
from torch import Tensor

from core.attention import linear, softmax, taylor
from core.theory.costs import taylor_features


def draw(d: int, *, seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    query, key = (torch.randn(1, 1, 9, d, generator=generator).double() for _ in range(2))
    return query, key


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("n_terms", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("d", [1, 3, 5])
def test_the_product_is_the_sum_of_the_first_terms(d: int, n_terms: int, symmetric: bool):
    query, key = draw(d)
    feature_map = taylor.feature_map(d, n_terms, symmetric=symmetric)
    q, k = feature_map(query).values, feature_map(key).values
    scores = query @ key.mT / math.sqrt(d)
    expected = sum(scores**n / math.factorial(n) for n in range(n_terms))
    torch.testing.assert_close(q @ k.mT, expected, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(taylor.polynomial(scores, n_terms), expected)
    assert q.shape[-1] == taylor_features(d, n_terms, symmetric=symmetric)


@pytest.mark.parametrize("symmetric", [False, True])
def test_features_are_the_same_with_and_without_a_gradient(symmetric: bool):
    query, _ = draw(4)
    feature_map = taylor.feature_map(4, 4, symmetric=symmetric)
    traced = feature_map(query.clone().requires_grad_()).values
    torch.testing.assert_close(traced.detach(), feature_map(query).values, rtol=0, atol=0)
    assert torch.autograd.gradcheck(
        lambda x: feature_map(x).values, query[:, :, :2].clone().requires_grad_()
    )


def test_one_term_is_uniform_attention():
    query, key = draw(4)
    weights = linear.weights(query, key, taylor.feature_map(4, 1))
    torch.testing.assert_close(weights, torch.full_like(weights, 1 / 9))


# Output error of K = 3 by B = ‖q‖‖k‖/√d; medians as measured with other draws.
MEASURED = {0.5: 4e-4, 1.0: 0.003, 2.0: 0.024, 4.0: 0.15, 8.0: 0.56}


@pytest.mark.parametrize("largest", MEASURED)
def test_the_error_grows_with_the_largest_score(largest: float):
    d, generator = 32, torch.Generator().manual_seed(2)
    query, key, value = (torch.randn(1, 4, 512, d, generator=generator).double() for _ in "qkv")
    length = math.sqrt(largest * math.sqrt(d))
    query, key = (torch.nn.functional.normalize(x, dim=-1) * length for x in (query, key))
    exact, _ = softmax.attend(query, key, value)
    found = linear.attend(query, key, value, taylor.feature_map(d, 3))
    error = float((found - exact).norm() / exact.norm())
    assert error == pytest.approx(MEASURED[largest], rel=0.5)


@pytest.mark.parametrize(("n_terms", "negative"), [(2, True), (3, False), (4, True), (5, False)])
def test_only_an_odd_highest_power_gives_negative_weights(n_terms: int, negative: bool):
    scores = torch.linspace(-20, 20, 4001).double()
    assert (taylor.polynomial(scores, n_terms) < 0).any() == negative


def test_degree_3_turns_negative_at_minus_1_596():
    below, above = taylor.polynomial(torch.tensor([-1.597, -1.595]).double(), 4)
    assert below < 0 < above


def test_no_term_is_refused():
    with pytest.raises(ValueError, match="0 terms of the Taylor series; at least 1"):
        taylor.feature_map(4, 0)


def test_symmetric_features_for_another_head_dim_are_refused():
    with pytest.raises(ValueError, match="made for another head_dim than 5"):
        taylor.feature_map(4, 3)(torch.zeros(1, 5))
