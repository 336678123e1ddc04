"""The convolutional networks against their counts, their formula, and each other."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from core.models.picture_networks import (
    ConvNetwork,
    as_input,
    logits_of,
    make_network,
    n_parameters,
    probabilities,
)
from core.pictures.networks import CONVOLUTIONS, NETWORKS


@pytest.fixture
def pictures() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (5, 28, 28)).astype(np.uint8)


def conv(kind: str, padding: int = 0) -> ConvNetwork:
    network = make_network(kind, 10, padding=padding, seed=3)
    assert isinstance(network, ConvNetwork)
    return network.eval()


@pytest.mark.parametrize("kind", CONVOLUTIONS)
@pytest.mark.parametrize(
    ("n_classes", "padding", "expected"),
    [(4, 1, 224_892), (4, 0, 168_572), (10, 1, 225_618), (10, 0, 169_298)],
)
def test_both_have_as_many_parameters_as_the_homework_counts(
    kind: str, n_classes: int, padding: int, expected: int
):
    assert n_parameters(make_network(kind, n_classes, padding=padding)) == expected


@pytest.mark.parametrize(
    ("stride", "padding", "pooling", "expected"),
    [
        (1, 0, True, 168_572),
        (2, 0, False, 224_892),
        (1, 1, True, 224_892),
        (2, 1, False, 224_892),
    ],
)
def test_two_reports_disagree_because_a_bare_stride_without_padding_keeps_a_row_more(
    stride: int, padding: int, pooling: bool, expected: int
):
    halve = [nn.MaxPool2d(2)] if pooling else []
    convolutions = nn.Sequential(
        nn.Conv2d(1, 8, 3, stride=stride, padding=padding),
        *halve,
        nn.Conv2d(8, 16, 3, stride=stride),
        *halve,
        nn.Flatten(),
    )
    flat = convolutions(torch.zeros(1, 1, 28, 28)).shape[1]
    network = [convolutions, nn.Linear(flat, 320), nn.Linear(320, 120), nn.Linear(120, 4)]
    assert sum(map(n_parameters, network)) == expected


@pytest.mark.parametrize("padding", [0, 1])
def test_a_stride_keeps_the_first_of_each_block_and_pooling_the_largest(
    pictures: np.ndarray, padding: int
):
    pooled, strided = conv("pooling", padding), conv("strides", padding)
    x = as_input(pictures)
    whole = F.relu(F.conv2d(x, strided.first.weight, strided.first.bias, padding=padding))
    blocks = whole.unfold(2, 2, 2).unfold(3, 2, 2)
    one, other = pooled.maps(x), strided.maps(x)
    assert torch.equal(one.first, whole)
    assert torch.equal(one.first_kept, blocks.amax((-1, -2)))
    assert torch.allclose(other.first_kept, blocks[..., 0, 0], atol=1e-6)
    assert other.first is other.first_kept
    assert one.second_kept.shape == other.second_kept.shape == (5, 16, 5 + padding, 5 + padding)
    assert (one.wide.shape, one.narrow.shape, one.logits.shape) == ((5, 320), (5, 120), (5, 10))


@pytest.mark.parametrize("kind", NETWORKS)
def test_a_seed_decides_the_first_parameters_and_leaves_that_of_torch_alone(kind: str):
    torch.manual_seed(1)
    expected = torch.rand(1)
    torch.manual_seed(1)
    one, two, other = (make_network(kind, 10, seed=seed).state_dict() for seed in (4, 4, 5))
    assert torch.equal(torch.rand(1), expected)
    assert all(torch.equal(one[name], two[name]) for name in one)
    assert not all(torch.equal(one[name], other[name]) for name in one)


def test_both_convolutions_begin_with_the_same_parameters():
    one, other = (make_network(kind, 10, seed=4).state_dict() for kind in CONVOLUTIONS)
    assert all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("kind", NETWORKS)
def test_what_a_network_says_sums_to_1_and_does_not_depend_on_the_batch(
    kind: str, pictures: np.ndarray, monkeypatch: pytest.MonkeyPatch
):
    network = make_network(kind, 10).eval()
    whole = logits_of(network, pictures)
    monkeypatch.setattr("core.models.picture_networks.AT_ONCE", 2)
    assert torch.allclose(logits_of(network, pictures), whole, atol=1e-5)
    likely = probabilities(network, pictures)
    assert likely.shape == (5, 10)
    assert likely.sum(1) == pytest.approx(np.ones(5), abs=1e-5)


def test_black_is_minus_1_and_white_1():
    picture = np.zeros((1, 28, 28), np.uint8)
    picture[0, 0, 0] = 255
    assert as_input(picture).unique().tolist() == [-1, 1]


@pytest.mark.parametrize(
    ("kind", "padding", "message"),
    [
        ("lstm", 0, "unknown network 'lstm'; networks: pooling, strides, patches"),
        ("pooling", 2, "padding 2; 0 or 1 is allowed"),
    ],
)
def test_other_networks_are_refused(kind: str, padding: int, message: str):
    with pytest.raises(ValueError, match=message):
        make_network(kind, 10, padding=padding)
