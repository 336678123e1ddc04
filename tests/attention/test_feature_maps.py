"""Feature maps by themselves: elu + 1 by its formula, and every map's own derivative."""

import math

import pytest
import torch

from core.attention import favor, linear, taylor
from core.attention.feature_maps import NOTHING, FeatureMap, Features, elu, of_keys

D = 4
ROWS = favor.draw_projection(6, D, generator=torch.Generator().manual_seed(1))
MAPS: dict[str, FeatureMap] = {
    "elu": elu,
    "positive": favor.feature_map(ROWS),
    "hyperbolic": favor.feature_map(ROWS, "hyperbolic"),
    "trigonometric": favor.feature_map(ROWS, "trigonometric"),
    "taylor": taylor.feature_map(D, 4),
    "taylor full": taylor.feature_map(D, 4, symmetric=False),
}


def draw(n_tokens: int, *, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(1, 2, n_tokens, D, generator=generator).double()


@pytest.mark.parametrize("x", [-3.0, -1e-9, 0.0, 1e-9, 0.5, 7.0])
def test_elu_plus_one_is_its_formula(x: float):
    found = elu(torch.tensor([x], dtype=torch.float64)).values
    assert float(found) == pytest.approx(x + 1 if x > 0 else math.exp(x), rel=1e-15)


def test_elu_plus_one_stays_positive_where_the_sum_would_round_to_nothing():
    x = torch.tensor([-30.0])
    assert float(torch.nn.functional.elu(x) + 1) == 0
    assert float(elu(x).values) == pytest.approx(math.exp(-30), rel=1e-5)


@pytest.mark.parametrize("name", MAPS)
def test_derivatives_are_the_numerical_ones(name: str):
    query, key = (draw(3, seed=seed).requires_grad_() for seed in (1, 2))
    assert torch.autograd.gradcheck(
        lambda q, k: linear.weights(q, k, MAPS[name]), (query, key), atol=1e-6
    )


@pytest.mark.parametrize("name", MAPS)
def test_a_map_treats_every_row_by_itself(name: str):
    x = draw(5)
    whole, alone = MAPS[name](x), MAPS[name](x[:, :, 2:3])
    for together, single in zip(whole, alone, strict=True):
        if together is not None:
            assert single is not None
            torch.testing.assert_close(together[:, :, 2:3], single, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", MAPS)
def test_features_of_padding_are_zero_and_their_scale_counts_for_nothing(name: str):
    padding = torch.tensor([False, True, False])[None, None, :, None]
    values, scale = of_keys(draw(3), MAPS[name], padding)
    assert (values[:, :, 1] == 0).all()
    assert (values[:, :, [0, 2]] != 0).any(-1).all()
    assert scale is None or (scale[:, :, 1] == NOTHING).all()


def test_padding_is_zeroed_after_the_map():
    """elu + 1 of a zero key is 1."""
    key = torch.zeros(1, 1, 2, D)
    assert (elu(key).values == 1).all()
    padding = torch.tensor([[False, True]])[:, None, :, None]
    values, _ = of_keys(key, elu, padding)
    assert values[0, 0].sum(-1).tolist() == [D, 0.0]


def test_a_map_of_ones_own_is_enough():
    query, key, value = draw(9), draw(9, seed=1), draw(9, seed=2)

    def square(x: torch.Tensor) -> Features:
        return Features(x.square() + 0.1)

    pairs = (query.square() + 0.1) @ (key.square() + 0.1).mT
    expected = (pairs / pairs.sum(-1, keepdim=True)) @ value
    torch.testing.assert_close(linear.attend(query, key, value, square), expected)
