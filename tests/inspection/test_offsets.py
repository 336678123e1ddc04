"""Attention by offset: heads that are made up, whose score is known, and the pass of a network."""

import numpy as np
import pytest
import torch

from core.inspection.offsets import FIXED, mean_by_offset, offsets_of
from core.models.patch_network import PatchNetwork
from core.models.picture_networks import as_input, make_network


def head_at(down: int, right: int) -> np.ndarray:
    """(49, 49): all weight on the patch at an offset; where there is none, on all alike."""
    weights = np.full((49, 49), 1 / 49)
    for patch in range(49):
        row, column = patch // 7 + down, patch % 7 + right
        if 0 <= row < 7 and 0 <= column < 7:
            weights[patch] = 0
            weights[patch, 7 * row + column] = 1
    return weights


@pytest.mark.parametrize(("down", "right"), [(0, 0), (0, -1), (1, 0), (-1, 1), (2, 3), (-3, -3)])
def test_a_head_at_a_fixed_offset_scores_1_there(down: int, right: int):
    found = offsets_of(head_at(down, right)[None, None])
    assert found.score.tolist() == [[1]]
    assert found.best.tolist() == [[[down, right]]]
    assert found.maps[0, 0, 6 + down, 6 + right] == 1
    assert found.fixed == [(0, 0)]


def test_a_uniform_head_scores_0():
    found = offsets_of(np.full((1, 1, 49, 49), 1 / 49))
    assert found.score[0, 0] == pytest.approx(0, abs=1e-7)
    assert found.maps == pytest.approx(np.full((1, 1, 13, 13), 1 / 49))
    assert found.neighbours[0, 0] == pytest.approx(found.neighbours_uniform)
    assert found.neighbours_uniform == pytest.approx((25 * 9 + 20 * 6 + 4 * 4) / 49**2)
    assert found.fixed == []


def test_a_head_that_looks_at_one_place_from_everywhere_is_no_offset():
    weights = np.zeros((1, 1, 49, 49))
    weights[..., 24] = 1
    assert offsets_of(weights).score[0, 0] < 0.05


def test_a_head_that_is_half_fixed_scores_half():
    weights = (head_at(0, 1) + np.full((49, 49), 1 / 49)) / 2
    found = offsets_of(np.stack([weights, head_at(1, 1)])[:, None])
    assert found.score[:, 0] == pytest.approx([0.5, 1], abs=1e-6)
    assert found.fixed[0] == (1, 0)
    assert FIXED == 0.5


def test_random_heads_score_as_the_largest_of_many_means_does():
    rng = np.random.default_rng(0)
    weights = rng.exponential(size=(1, 200, 49, 49))
    weights /= weights.sum(-1, keepdims=True)
    found = offsets_of(weights)
    assert found.score.max() < 0.03
    # m at an offset that 16 patches have is a mean of 16 weights, each of mean and spread 1/49.
    corner = found.maps[0, :, 3, 3]
    assert corner.mean() == pytest.approx(1 / 49, abs=4 / 49 / (16 * 200) ** 0.5)
    assert corner.std() == pytest.approx(1 / 49 / 4, rel=0.25)


def test_the_pass_of_a_network_leaves_the_class_token_out_and_takes_the_mean(
    monkeypatch: pytest.MonkeyPatch,
):
    network = make_network("patches", 10, seed=1)
    assert isinstance(network, PatchNetwork)
    pictures = np.random.default_rng(0).integers(0, 256, (3, 28, 28)).astype(np.uint8)
    with torch.inference_mode():
        among = network.weights(as_input(pictures))[0][..., 1:, 1:].numpy()
    expected = (among / among.sum(-1, keepdims=True)).mean(0)
    monkeypatch.setattr("core.inspection.offsets.AT_ONCE", 2)
    found = mean_by_offset(network, pictures)
    assert found.maps == pytest.approx(offsets_of(expected).maps, abs=1e-6)
    assert found.n_pictures == 3
    assert found.maps.shape == (3, 4, 13, 13)
