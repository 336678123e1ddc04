"""What networks make of a picture: against naive loops, and what is shown is what is used."""

import numpy as np
import pytest

from core.inspection.picture_looks import (
    activations,
    answers,
    attention_maps,
    occlusion,
    said_of,
    said_when_shifted,
)
from core.models.patch_network import PatchNetwork
from core.models.picture_networks import ConvNetwork, make_network, probabilities
from core.pictures.networks import CONVOLUTIONS, NETWORKS
from core.pictures.pictures import Split
from core.pictures.shifts import DIRECTIONS, shifted


@pytest.fixture(scope="module")
def networks() -> dict:
    return {name: make_network(name, 10, seed=1).eval() for name in NETWORKS}


@pytest.fixture(scope="module")
def picture() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (28, 28)).astype(np.uint8)


def test_what_networks_say_of_a_picture(networks: dict, picture: np.ndarray):
    said = said_of(networks, picture)
    assert list(said) == list(NETWORKS)
    assert all(one.sum() == pytest.approx(1, abs=1e-5) for one in said.values())
    moved = said_when_shifted(networks["strides"], picture)
    assert moved.shape == (5, 4, 10)
    assert moved[0] == pytest.approx(np.tile(said["strides"], (4, 1)), abs=1e-6)
    third = list(DIRECTIONS).index("left")
    expected = probabilities(networks["strides"], shifted(picture, 0, -3)[None])[0]
    assert moved[3, third] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_activations_are_those_of_the_formula(name: str, networks: dict, picture: np.ndarray):
    network = networks[name]
    assert isinstance(network, ConvNetwork)
    found = activations(network, picture)
    x = picture / 127.5 - 1
    place = (slice(4, 7), slice(6, 9))  # the convolution at row 4, column 6
    bias = network.first.state_dict()["bias"].numpy()
    expected = np.maximum((found.filters * x[place]).sum((1, 2)) + bias, 0)
    at = (4, 6) if name == "pooling" else (2, 3)
    assert found.first[:, *at] == pytest.approx(expected, abs=1e-5)
    assert found.first_kept.shape == (8, 13, 13)
    assert found.second_kept.shape == (16, 5, 5)
    assert (found.wide.shape, found.narrow.shape) == ((320,), (120,))
    assert found.second_filters.shape == (16, 8, 3, 3)


@pytest.mark.parametrize("name", NETWORKS)
def test_an_occlusion_map_is_what_each_cover_costs(name: str, networks: dict, picture: np.ndarray):
    found = occlusion(networks[name], picture)
    likely = probabilities(networks[name], picture[None])[0]
    assert (found.label, found.probability) == (likely.argmax(), pytest.approx(likely.max()))
    covered = picture.copy()
    covered[6:10, 20:24] = 0
    after = probabilities(networks[name], covered[None])[0, found.label]
    assert found.drop.shape == (13, 13)
    assert found.drop[3, 10] == pytest.approx(likely.max() - after, abs=1e-6)
    assert found.by_point.shape == (28, 28)
    assert found.by_point[0, 0] == pytest.approx(found.drop[0, 0])
    assert found.by_point[27, 3] == pytest.approx(found.drop[12, :2].mean(), abs=1e-6)
    assert found.by_point[7, 7] == pytest.approx(found.drop[2:4, 2:4].mean(), abs=1e-6)
    assert occlusion(networks[name], picture, label=3).label == 3
    with pytest.raises(ValueError, match="class 10 is none; 0 to 9 are known"):
        occlusion(networks[name], picture, label=10)


def test_attention_maps_are_raw_rows_of_the_class_token(networks: dict, picture: np.ndarray):
    network = networks["patches"]
    assert isinstance(network, PatchNetwork)
    found = attention_maps(network, picture)
    assert (found.weights.shape, found.patches.shape) == ((3, 4, 50, 50), (3, 4, 7, 7))
    assert found.patches[1, 2, 3, 5] == found.weights[1, 2, 0, 1 + 7 * 3 + 5]
    assert found.patches.sum((-1, -2)) + found.itself == pytest.approx(np.ones((3, 4)), abs=1e-5)
    assert found.replay_max_difference < 1e-5
    assert found.row_sum_max_error < 1e-5


def test_wrong_answers_come_surest_first(networks: dict):
    rng = np.random.default_rng(1)
    pictures = rng.integers(0, 256, (12, 28, 28)).astype(np.uint8)
    right = probabilities(networks["pooling"], pictures).argmax(1)
    labels = right.copy()
    labels[[2, 5, 7]] = (labels[[2, 5, 7]] + 1) % 10
    found = answers(networks["pooling"], Split(pictures=pictures, labels=labels))
    assert sorted(found.wrong.tolist()) == [2, 5, 7]
    assert list(found.probability[found.wrong]) == sorted(found.probability[[2, 5, 7]])[::-1]
    assert found.predicted.tolist() == right.tolist()
