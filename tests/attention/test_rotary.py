"""Rotary positions: the angles of the paper, and what follows from them."""

import math

import torch
from torch import Tensor

from core.attention.rotary import rotate


def draw(*, seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    query, key = (torch.randn(1, 1, 1, 8, generator=generator) for _ in range(2))
    return query, key


def product(query: Tensor, key: Tensor, at_query: int, at_key: int) -> float:
    """query · key with both turned by their positions."""
    turned = rotate(query, torch.tensor([at_query])), rotate(key, torch.tensor([at_key]))
    return float((turned[0] * turned[1]).sum())


def test_the_product_depends_on_the_distance_only():
    query, key = draw()
    products = [product(query, key, 5 + shift, 2 + shift) for shift in (0, 1, 17, 90)]
    assert max(products) - min(products) < 1e-4


def test_another_distance_gives_another_product():
    query, key = draw()
    assert abs(product(query, key, 5, 2) - product(query, key, 5, 3)) > 0.01


def test_position_zero_changes_nothing():
    query, _ = draw()
    assert torch.equal(rotate(query, torch.tensor([0])), query)


def test_turning_keeps_the_length_of_every_pair():
    query, _ = draw()
    turned = rotate(query, torch.tensor([37]))
    lengths = [(x[..., :4] ** 2 + x[..., 4:] ** 2).sqrt() for x in (query, turned)]
    torch.testing.assert_close(lengths[1], lengths[0])


def test_pair_i_is_turned_by_the_angle_of_equation_34():
    position, d = 3, 8
    for pair in range(d // 2):
        unit = torch.zeros(1, 1, 1, d)
        unit[..., pair] = 1.0
        turned = rotate(unit, torch.tensor([position]))[0, 0, 0]
        angle = position * 10000.0 ** (-2 * pair / d)
        expected = torch.zeros(d)
        expected[pair], expected[pair + d // 2] = math.cos(angle), math.sin(angle)
        torch.testing.assert_close(turned, expected)


def test_each_row_is_turned_by_its_own_position():
    rows = torch.randn(2, 3, 5, 8, generator=torch.Generator().manual_seed(1))
    together = rotate(rows, torch.arange(4, 9))
    for index in range(5):
        alone = rotate(rows[:, :, index : index + 1], torch.tensor([4 + index]))
        torch.testing.assert_close(together[:, :, index : index + 1], alone)
