"""Every kind of damage gives a CheckpointError that says which file and why."""

import json
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from core.checkpoints.shelf import CARD, CONFIG, VOCABULARY, WEIGHTS
from core.checkpoints.store import CheckpointError, load_checkpoint, write_card

Damage = Callable[[dict[str, Tensor]], None]


def _drop(tensors: dict[str, Tensor]) -> None:
    del tensors["blocks.1.query.bias"]


def _reshape(tensors: dict[str, Tensor]) -> None:
    tensors["head.weight"] = tensors["head.weight"][:, :8].contiguous()


def _add(tensors: dict[str, Tensor]) -> None:
    tensors["blocks.2.query.bias"] = torch.zeros(16)


def _spoil(tensors: dict[str, Tensor]) -> None:
    tensors["norm.bias"][3] = torch.nan


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_spoil, r"norm\.bias holds numbers that are not finite"),
        (_drop, r"the tensor blocks\.1\.query\.bias is missing"),
        (_reshape, r"head\.weight has shape \(\d+, 8\), the config needs \(\d+, 16\)"),
        (_add, r"unknown tensors blocks\.2\.query\.bias"),
    ],
)
def test_tensors_that_do_not_fit_are_named(saved: Path, damage: Damage, message: str):
    tensors = load_file(saved / WEIGHTS)
    damage(tensors)
    save_file(tensors, saved / WEIGHTS)
    write_card(saved, {})
    with pytest.raises(CheckpointError, match=f"model.safetensors: {message}"):
        load_checkpoint(saved)


@pytest.mark.parametrize("n_bytes", [0, -1])
def test_a_truncated_file_is_named(saved: Path, n_bytes: int):
    whole = (saved / WEIGHTS).read_bytes()
    (saved / WEIGHTS).write_bytes(whole[:n_bytes])
    write_card(saved, {})
    with pytest.raises(CheckpointError, match="model.safetensors: not a whole safetensors file"):
        load_checkpoint(saved)


class Trap:
    """Unpickling one of these would write a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> object:
        return Path.touch, (self.path,)


def test_a_pickle_file_is_refused_and_never_run(saved: Path, tmp_path: Path):
    trap = tmp_path / "sprung"
    (saved / WEIGHTS).write_bytes(pickle.dumps(Trap(trap)))
    write_card(saved, {})
    with pytest.raises(CheckpointError, match="model.safetensors: not a whole safetensors file"):
        load_checkpoint(saved)
    assert not trap.exists()
    pickle.loads((saved / WEIGHTS).read_bytes())
    assert trap.exists()  # the trap works; it just was not stepped into


@pytest.mark.parametrize("name", [CONFIG, VOCABULARY, WEIGHTS])
def test_a_file_that_is_not_the_card_s_is_named(saved: Path, name: str):
    content = bytearray((saved / name).read_bytes())
    content += b" " if name != WEIGHTS else b""
    content[-1] ^= 1 if name == WEIGHTS else 0
    (saved / name).write_bytes(content)
    with pytest.raises(
        CheckpointError, match=f"{name} is not the file that the card describes .*the card says"
    ):
        load_checkpoint(saved)


@pytest.mark.parametrize("name", [CARD, CONFIG, VOCABULARY, WEIGHTS])
def test_a_missing_file_is_named(saved: Path, name: str):
    (saved / name).unlink()
    with pytest.raises(CheckpointError, match=rf"checkpoint tiny: .*{name}: cannot be read"):
        load_checkpoint(saved)


@pytest.mark.parametrize("card", [{}, {"files": None}, {"files": {CONFIG: "?"}}])
def test_a_card_that_lists_no_digests_is_refused(saved: Path, card: dict[str, object]):
    (saved / CARD).write_text(json.dumps(card))
    with pytest.raises(CheckpointError, match=r"checkpoint tiny: .*(the card|card describes)"):
        load_checkpoint(saved)


def change_config(folder: Path, **changes: object) -> None:
    config = json.loads((folder / CONFIG).read_text())
    (folder / CONFIG).write_text(json.dumps({**config, **changes}))
    write_card(folder, {})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_eyes": 2}, "n_eyes"),
        ({"width": 15}, "width 15 cannot be cut into 2 equal heads"),
        ({"width": "16"}, "width is '16'; it must be at least 1 and at most 8,192, a whole number"),
        ({"n_heads": True}, "n_heads is True; it must be"),
        ({"attention": "linear"}, "attention 'linear'"),
        ({"n_latents": 99}, "latent 98 would stand at position 98, outside the block of 64"),
        ({"width": 2**40}, "width is 1099511627776; it must be at least 1 and at most 8,192"),
    ],
)
def test_a_config_that_is_no_model_is_refused(
    saved: Path, changes: dict[str, object], message: str
):
    change_config(saved, **changes)
    with pytest.raises(CheckpointError, match=f"checkpoint tiny: .*{message}"):
        load_checkpoint(saved)


def test_a_config_of_another_size_is_refused_by_the_shapes(saved: Path):
    change_config(saved, width=32)
    with pytest.raises(CheckpointError, match=r"has shape .*the config needs .*32"):
        load_checkpoint(saved)


def test_a_config_that_is_no_json_is_named(saved: Path):
    (saved / CONFIG).write_text("{")
    write_card(saved, {})
    with pytest.raises(CheckpointError, match=r"checkpoint tiny: .*config\.json: not JSON"):
        load_checkpoint(saved)


def test_a_vocabulary_of_another_size_is_refused(saved: Path):
    vocabulary = json.loads((saved / VOCABULARY).read_text())
    size = len(vocabulary["characters"])
    vocabulary["characters"] += "世"
    (saved / VOCABULARY).write_text(json.dumps(vocabulary))
    write_card(saved, {})
    with pytest.raises(
        CheckpointError, match=f"the vocabulary has {size + 1} entries, the model {size}"
    ):
        load_checkpoint(saved)


@pytest.mark.parametrize(
    ("vocabulary", "message"),
    [
        ({"kind": "words"}, "unknown vocabulary kind 'words'"),
        ({"kind": "bpe", "tokenizer": {"model": 1}}, "checkpoint tiny"),
        ({"kind": "char", "characters": "abc"}, "a character vocabulary starts with"),
    ],
)
def test_a_vocabulary_that_is_none_is_refused(
    saved: Path, vocabulary: dict[str, object], message: str
):
    (saved / VOCABULARY).write_text(json.dumps(vocabulary))
    write_card(saved, {})
    with pytest.raises(CheckpointError, match=message):
        load_checkpoint(saved)
