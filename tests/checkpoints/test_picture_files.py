"""Networks of pictures in files: kept, read strictly, and refused in one sentence."""

import itertools
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch

from core.checkpoints.picture_files import (
    NetworkCard,
    content_hash,
    list_networks,
    load_network,
    load_networks,
    save_network,
)
from core.checkpoints.shelf import CheckpointError, list_cards
from core.files import read_json, sha256
from core.models.picture_networks import make_network, n_parameters
from core.paths import CHECKPOINTS, PICTURE_NETWORKS
from core.pictures.networks import NETWORKS

MOST_SHIPPED_BYTES = 1_000_000


def card(network: str, **changes: Any) -> NetworkCard:
    known: dict[str, Any] = {
        "network": network,
        "classes": tuple("0123456789"),
        "padding": 0,
        "parameters": n_parameters(make_network(network, 10)),
        "source": "drawn",
        "pictures": "0" * 64,
        "rate": 0.01,
        "seed": 0,
        "epochs": 1,
        "batch": 64,
        "correct": 90,
        "n_test": 100,
        "shifted_correct": (300, 200, 100, 50),
        "machine": "none",
        "command": "python -m core look record",
    }
    return NetworkCard(**{**known, **changes})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in NETWORKS:
        save_network(tmp_path / "look", make_network(name, 10, seed=2), card(name))
    return tmp_path / "look"


def test_a_network_comes_back_as_it_was_stored(folder: Path):
    assert list_networks(folder) == list(NETWORKS)
    found = load_networks(folder)
    for name in NETWORKS:
        expected = make_network(name, 10, seed=2).half().float().state_dict()
        state = found[name].network.state_dict()
        assert all(torch.equal(state[key], expected[key]) for key in expected)
        assert not found[name].network.training
        assert found[name].card.classes == tuple("0123456789")
    assert sum(path.stat().st_size for path in folder.iterdir()) < MOST_SHIPPED_BYTES


def test_no_page_of_texts_is_offered_one(folder: Path):
    assert list_cards(folder.parent) == []
    assert PICTURE_NETWORKS.name not in list_cards(CHECKPOINTS)


def test_a_network_without_its_card_is_not_there_and_the_key_changes_with_any(folder: Path):
    before = content_hash(folder)
    save_network(folder, make_network("patches", 10, seed=3), card("patches"))
    assert content_hash(folder) != before
    (folder / "strides.json").unlink()
    assert list_networks(folder) == ["pooling", "patches"]
    assert list_networks(folder / "none") == []


def rewrite(**changes: Any) -> Callable[[Path], None]:
    def act(folder: Path) -> None:
        path = folder / "pooling.json"
        data = {**read_json(path), **changes}
        path.write_text(json.dumps({k: v for k, v in data.items() if v != "gone"}))

    return act


def weights(change: Callable[[dict[str, torch.Tensor]], Any]) -> Callable[[Path], None]:
    """Other tensors, and a card that has their digest."""

    def act(folder: Path) -> None:
        path = folder / "pooling.safetensors"
        tensors = safetensors.torch.load_file(path)
        change(tensors)
        safetensors.torch.save_file(tensors, path)
        rewrite(weights=sha256(path))(folder)

    return act


def raw(data: bytes) -> Callable[[Path], None]:
    def act(folder: Path) -> None:
        path = folder / "pooling.safetensors"
        path.write_bytes(data)
        rewrite(weights=sha256(path))(folder)

    return act


def put(key: str, make: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[Path], None]:
    return weights(lambda tensors: tensors.update({key: make(tensors[key])}))


HUGE = json.dumps({"x": {"dtype": "F32", "shape": [2**40], "data_offsets": [0, 2**42]}}).encode()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda f: (f / "pooling.json").unlink(), "pooling.json: "),
        (lambda f: (f / "pooling.json").write_bytes(b"\xff"), "pooling.json"),
        (lambda f: (f / "pooling.json").write_text("[1]"), "a JSON object is needed"),
        (lambda f: (f / "pooling.json").write_text('{"a": NaN}'), "pooling.json"),
        (rewrite(classes="gone"), "missing keys: classes"),
        (rewrite(colour=1), "unknown keys: colour"),
        (rewrite(classes=["0"]), "1 classes; 2 to 20 are allowed"),
        (rewrite(classes=["0"] * 10**5), "100000 classes; 2 to 20 are allowed"),
        (rewrite(classes=[0, 1]), "classes is"),
        (rewrite(padding=7), "padding 7; 0 or 1 is allowed"),
        (rewrite(padding=1), "parameters is 169298, the network has 225,618"),
        (rewrite(parameters=1), "parameters is 1, the network has 169,298"),
        (rewrite(network="strides"), "is the card of 'strides'"),
        (rewrite(correct=101), "101 right of 100 test pictures"),
        (rewrite(n_test=0), "90 right of 0 test pictures"),
        (rewrite(shifted_correct=3), "shifted_correct is 3"),
        (rewrite(rate="fast"), "rate is 'fast'"),
        (rewrite(weights="00"), "is not the file that its card describes"),
        (lambda f: (f / "pooling.safetensors").unlink(), "pooling.safetensors: cannot be read"),
        (raw(b""), "not a whole safetensors file"),
        (raw(b"\0" * 40), "not a whole safetensors file"),
        (raw(struct.pack("<Q", 2**60)), "not a whole safetensors file"),
        (raw(struct.pack("<Q", len(HUGE)) + HUGE), "not a whole safetensors file"),
        (raw(b"\x80\x04cos\nsystem\n."), "not a whole safetensors file"),
        (weights(lambda t: t.pop("wide.bias")), "the tensor wide.bias is missing"),
        (weights(lambda t: t.update(extra=torch.ones(1))), "unknown tensors extra"),
        (put("wide.bias", lambda t: t[:3]), r"wide.bias has shape \(3,\), the config needs"),
        (put("wide.bias", lambda t: t / 0), "wide.bias holds numbers that are not finite"),
        (put("first.weight", lambda t: t * torch.nan), "first.weight holds numbers"),
    ],
    ids=itertools.count(),
)
def test_a_damaged_network_is_refused_in_one_sentence(
    folder: Path, damage: Callable[[Path], Any], message: str
):
    damage(folder)
    with pytest.raises(CheckpointError, match=message) as caught:
        load_network(folder, "pooling")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400 + len(str(folder))


def test_an_unknown_name_leads_to_no_file(folder: Path):
    with pytest.raises(CheckpointError, match="unknown network '../pooling'; networks: pooling"):
        load_network(folder, "../pooling")
