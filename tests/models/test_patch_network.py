"""Attention over patches: its size, its patches, and that the weights shown are those used."""

import pytest
import torch

from core.models.heads import Heads
from core.models.patch_network import PatchNetwork
from core.models.picture_networks import make_network, n_parameters


@pytest.fixture(scope="module")
def network() -> PatchNetwork:
    network = make_network("patches", 10, seed=1)
    assert isinstance(network, PatchNetwork)
    return network.eval()


@pytest.fixture(scope="module")
def pictures() -> torch.Tensor:
    return torch.rand(3, 1, 28, 28, generator=torch.Generator().manual_seed(0)) * 2 - 1


@pytest.mark.parametrize("n_classes", [4, 10])
def test_it_is_as_large_as_the_convolution_within_ten_percent(n_classes: int):
    one, other = (n_parameters(make_network(kind, n_classes)) for kind in ("patches", "pooling"))
    assert 0.9 <= one / other <= 1.1


def test_patches_are_read_row_by_row(network: PatchNetwork, pictures: torch.Tensor):
    embedded = network.embed(pictures)
    for number in (0, 6, 7, 48):
        row, column = divmod(number, 7)
        patch = pictures[:, 0, 4 * row : 4 * row + 4, 4 * column : 4 * column + 4].reshape(3, 16)
        assert torch.allclose(embedded[:, number], network.patch(patch), atol=1e-6)


def test_logits_replayed_through_the_weights_that_are_shown_are_the_model_s(
    network: PatchNetwork, pictures: torch.Tensor
):
    with torch.inference_mode():
        weights, logits = network.weights(pictures)
        assert (logits - network(pictures)).abs().max() < 1e-5
    assert weights.shape == (3, 3, 4, 50, 50)
    assert (weights.dtype, bool((weights > 0).all())) == (torch.float32, True)
    assert (weights.sum(-1) - 1).abs().max() < 1e-5


def test_other_weights_make_other_logits(network: PatchNetwork, pictures: torch.Tensor):
    def flat(_layer: int, heads: Heads) -> torch.Tensor:
        return heads.value.mean(2, keepdim=True).expand_as(heads.value)

    with torch.inference_mode():
        assert (network.run(pictures, flat) - network(pictures)).abs().max() > 1e-3


def test_nothing_is_masked_and_every_parameter_learns(pictures: torch.Tensor):
    network = make_network("patches", 10, seed=1)
    assert isinstance(network, PatchNetwork)
    seen: list[torch.Tensor] = []

    def attend(_layer: int, heads: Heads) -> torch.Tensor:
        seen.append(heads.masked)
        return heads.output()

    network.run(pictures, attend).square().sum().backward()
    assert not any(bool(masked.any()) for masked in seen)
    # Softmax does not change where all keys of a row are moved alike: their bias learns nothing.
    idle = [
        name
        for name, parameter in network.named_parameters()
        if parameter.grad is None or float(parameter.grad.abs().max()) < 1e-7
    ]
    assert all(name.endswith("key.bias") for name in idle)
