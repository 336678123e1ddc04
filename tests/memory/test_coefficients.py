"""What is read of a memory, against writing pair by pair and against the mechanisms themselves."""

import numpy as np
import pytest
import torch
from torch import Tensor

from core.attention import feature_maps, linear, softmax, taylor
from core.memory.coefficients import coefficients, orthogonal
from core.memory.pairs import Array, draw_pairs, nearest
from core.memory.spec import MATRICES, METHODS, MemorySpec

SPEC = MemorySpec(dim=16, n_draws=3, beta=5.0, decay=0.9, delta_decay=0.95, window=4, n_features=24)


def pair_by_pair(method: str, keys: Array, values: Array, spec: MemorySpec) -> Array:
    """The states (draws, d, d) after all pairs, one write after the other, in float64."""
    decay = {"gate": spec.decay, "gated-delta": spec.delta_decay}.get(method, 1.0)
    state = np.zeros((len(keys), spec.dim, values.shape[-1]))
    for i in range(keys.shape[1]):
        k, v = keys[:, i].astype(float), values[:, i].astype(float)
        state = decay * state
        stood = np.einsum("tk,tkv->tv", k, state) if "delta" in method else 0.0
        state = state + np.einsum("tk,tv->tkv", k, v - stood)
    return state


@pytest.mark.parametrize("method", MATRICES)
@pytest.mark.parametrize("n_pairs", [1, 2, 40, 64, 150])
def test_reading_by_weights_equals_writing_pair_by_pair(method: str, n_pairs: int):
    keys, values = draw_pairs(SPEC, n_pairs, n_pairs)
    read = coefficients(method, keys, keys, SPEC) @ values
    expected = keys @ pair_by_pair(method, keys, values, SPEC)
    assert np.abs(read - expected).max() < 2e-5


@pytest.mark.parametrize("method", MATRICES)
def test_keys_that_come_again_are_read_as_they_were_written(method: str):
    keys, values = draw_pairs(SPEC, 6, 9)
    written = np.concatenate([keys, keys[:, :3]], 1)
    read = coefficients(method, keys, written, SPEC) @ values
    assert np.abs(read - keys @ pair_by_pair(method, written, values, SPEC)).max() < 2e-5


def heads(keys: Array) -> Tensor:
    """As one head of a batch, so scaled that products are β k·k."""
    return (
        torch.from_numpy(np.ascontiguousarray(keys))[:, None] * (SPEC.beta * SPEC.dim**0.5) ** 0.5
    )


def test_softmax_and_what_stands_in_its_place_are_the_mechanisms_of_the_catalogue():
    keys, _ = draw_pairs(SPEC, 12, 12)
    x = heads(keys)
    expected = {
        "softmax": softmax.weights(softmax.scores(x, x)),
        "taylor": linear.weights(x, x, taylor.feature_map(SPEC.dim, 3)),
    }
    for method, weights in expected.items():
        found = coefficients(method, keys, keys, SPEC)
        assert np.abs(found - weights[:, 0].numpy()).max() < 1e-5, method


def test_elu_is_asked_with_the_root_of_beta():
    keys, _ = draw_pairs(SPEC, 12, 12)
    x = torch.from_numpy(np.ascontiguousarray(keys))[:, None] * SPEC.beta**0.5
    expected = linear.weights(x, x, feature_maps.elu)[:, 0].numpy()
    assert np.abs(coefficients("elu", keys, keys, SPEC) - expected).max() < 1e-5


def test_features_are_positive_and_their_mean_is_the_exponential():
    spec = MemorySpec(dim=8, beta=1.0, n_features=1024, n_draws=30)
    keys, _ = draw_pairs(spec, 5, 5)
    found = coefficients("favor", keys, keys, spec)
    assert (found > 0).all()
    assert np.abs(found - coefficients("softmax", keys, keys, spec)).mean() < 0.03


def test_directions_of_a_block_are_orthogonal_and_as_long_as_gaussian_ones():
    directions = orthogonal(SPEC)[:, :, : SPEC.dim]
    products = directions.swapaxes(-1, -2) @ directions
    lengths = np.sqrt(np.einsum("tii->ti", products))
    cosines = products / (lengths[:, :, None] * lengths[:, None])
    assert np.abs(cosines - np.eye(SPEC.dim)).max() < 1e-5
    assert abs((lengths**2).mean() / SPEC.dim - 1) < 0.25


@pytest.mark.parametrize("method", [m for m in METHODS if m not in MATRICES])
def test_rows_of_all_others_sum_to_one(method: str):
    keys, _ = draw_pairs(SPEC, 9, 9)
    found = coefficients(method, keys, keys, SPEC)
    assert np.allclose(found.sum(-1), 1, atol=1e-5)


def test_a_window_gives_nothing_that_is_older():
    keys, _ = draw_pairs(SPEC, 9, 9)
    found = coefficients("window", keys, keys, SPEC)
    assert (found[..., :5] == 0).all()
    assert (found[..., 5:] > 0).all()


def test_based_in_a_wide_window_is_softmax_and_beside_a_narrow_one_close_to_it():
    keys, _ = draw_pairs(SPEC, 9, 9)
    exact = coefficients("softmax", keys, keys, SPEC)
    wide = MemorySpec(dim=16, n_draws=3, beta=5.0, window=9)
    assert np.allclose(coefficients("based", keys, keys, wide), exact, atol=1e-6)
    assert np.abs(coefficients("based", keys, keys, SPEC) - exact).max() > 0.01


def test_an_unknown_mechanism_is_named():
    keys, _ = draw_pairs(SPEC, 2, 2)
    with pytest.raises(ValueError, match=r"unknown mechanism 'hopfield'; known: softmax, window"):
        coefficients("hopfield", keys, keys, SPEC)


def test_a_reading_of_zero_points_nowhere():
    _, values = draw_pairs(SPEC, 2, 3)
    read = np.stack([values[:, 1], np.zeros_like(values[:, 0])], 1)
    assert nearest(read, values).tolist() == [[1, -1]] * 3


def test_pairs_are_of_length_one_and_follow_from_seed_and_number():
    keys, values = draw_pairs(SPEC, 5, 7)
    assert np.allclose(np.linalg.norm(keys, axis=-1), 1)
    assert np.allclose(np.linalg.norm(values, axis=-1), 1)
    assert np.array_equal(draw_pairs(SPEC, 5, 7)[0], keys)
    other = MemorySpec(dim=16, n_draws=3, seed=1)
    assert not np.array_equal(draw_pairs(other, 5, 7)[0], keys)
