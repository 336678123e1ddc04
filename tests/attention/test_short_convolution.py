"""The short convolution against torch's depthwise one and against a loop, and what it lets by."""

import pytest
import torch
import torch.nn.functional as F

from core.attention.short_convolution import mix


def draw(length: int, n: int = 4, width: int = 6) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(length)
    x = torch.randn(2, length, width, dtype=torch.float64, generator=generator)
    return x, torch.randn(n, width, dtype=torch.float64, generator=generator)


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 63])
@pytest.mark.parametrize("n", [1, 4, 16])
def test_it_is_the_token_and_a_weighted_sum_of_the_last_few(length: int, n: int):
    x, weights = draw(length, n)
    expected = x.clone()
    for t in range(length):
        for back in range(min(n, t + 1)):
            expected[:, t] += weights[back] * x[:, t - back]
    torch.testing.assert_close(mix(x, weights), expected, rtol=0, atol=1e-12)
    padded = F.pad(x.mT, (n - 1, 0))
    of_torch = F.conv1d(padded, weights.flip(0).T[:, None], groups=x.shape[-1]).mT
    torch.testing.assert_close(mix(x, weights), x + of_torch, rtol=0, atol=1e-12)


def test_no_token_sees_a_later_one_nor_one_farther_back():
    x, weights = draw(20)
    changed = x.clone()
    changed[:, 9] += 1e3
    same = (mix(x, weights) == mix(changed, weights)).all(-1).all(0)
    assert same.tolist() == [not 9 <= t <= 12 for t in range(20)]


def test_gradients_are_those_of_the_sum():
    x, weights = draw(7)
    assert torch.autograd.gradcheck(mix, (x.requires_grad_(), weights.requires_grad_()))
