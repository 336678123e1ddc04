"""Sizes in a checkpoint's files are held to their limits and to each other before memory is taken.

Where a size would fill the machine's memory it is tried in a process that gets a few gigabytes.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch

from core.checkpoints import store
from core.checkpoints.shelf import CARD, CONFIG, VOCABULARY, WEIGHTS, content_hash
from core.checkpoints.state import load_state, save_state
from core.checkpoints.store import (
    CheckpointError,
    load_checkpoint,
    read_header,
    save_checkpoint,
    write_card,
)
from core.data.vocabulary import Vocabulary
from core.files import read_json, sha256, write_json
from core.models.gpt import GPT
from tests.with_task import gpt_of

Limited = Callable[..., list[str]]
LOAD = """
from pathlib import Path
from core.checkpoints.store import load_checkpoint
load_checkpoint(Path(arguments[0]))
print("loaded")
"""


def change_config(folder: Path, **changes: object) -> None:
    config = json.loads((folder / CONFIG).read_text())
    (folder / CONFIG).write_text(json.dumps({**config, **changes}))
    write_card(folder, {})


def test_a_whole_checkpoint_loads_in_a_few_gigabytes(saved: Path, limited: Limited):
    assert limited(LOAD, saved) == ["loaded"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_layers": 10**12}, "n_layers is 1000000000000; it must be at least 1 and at most 512"),
        (
            {"width": 2**13, "n_layers": 250},
            "250 layers .* have about 201.* million parameters; at",
        ),
    ],
)
def test_a_config_beyond_memory_is_refused_in_one_line(
    saved: Path, limited: Limited, changes: dict[str, Any], message: str
):
    change_config(saved, **changes)
    (said,) = limited(LOAD, saved)
    with pytest.raises(CheckpointError, match=rf"^checkpoint tiny: .*config\.json: {message}"):
        raise CheckpointError(said)


@pytest.mark.parametrize("sizes", [{"n_layers": 512}, {"width": 1024}, {"block_size": 2**14}])
def test_no_model_is_made_before_the_weights_were_found_to_be_its_own(
    saved: Path, monkeypatch: pytest.MonkeyPatch, sizes: dict[str, int]
):
    change_config(saved, **sizes)
    made: list[object] = []
    monkeypatch.setattr(store, "make_model", made.append)
    with pytest.raises(CheckpointError, match=r"safetensors: (.* is missing|.*config needs)"):
        load_checkpoint(saved)
    assert not made


def test_the_header_says_the_shapes_and_no_number_is_read(
    saved: Path, monkeypatch: pytest.MonkeyPatch
):
    state = gpt_of(load_checkpoint(saved)).state_dict()
    shapes = {name: tuple(tensor.shape) for name, tensor in state.items()}
    monkeypatch.setattr(safetensors.torch, "load_file", None)
    assert read_header(saved / WEIGHTS) == (shapes, {})


@pytest.mark.parametrize(
    "sizes",
    [
        {"attention": "favor", "positions": "rotary"},
        {"attention": "taylor"},
        {"attention": "elu"},
        {"attention": "dense-synthesizer"},
        {"n_latents": 5},
    ],
)
def test_the_shapes_of_every_kind_of_model_are_known_without_its_memory(
    tmp_path: Path, make_gpt: Callable[..., GPT], characters: Vocabulary, sizes: dict[str, Any]
):
    model = make_gpt(vocabulary_size=characters.size, **sizes)
    save_checkpoint(tmp_path / "a", model, characters, {}, dtype=torch.float32)
    loaded = gpt_of(load_checkpoint(tmp_path / "a"))
    ids = torch.tensor([[2, 3, 4]])
    assert torch.equal(loaded(ids), model(ids))


def test_many_unknown_tensors_are_named_in_one_short_line(saved: Path):
    tensors = safetensors.torch.load_file(saved / WEIGHTS)
    more = {f"{index:03d}{'x' * 500}": torch.zeros(1) for index in range(200)}
    safetensors.torch.save_file({**tensors, **more}, saved / WEIGHTS)
    write_card(saved, {})
    with pytest.raises(CheckpointError, match="unknown tensors 000x+, 001x+, 002x+ and 197 more$"):
        load_checkpoint(saved)


@pytest.mark.parametrize("name", [CARD, CONFIG, VOCABULARY])
def test_a_file_of_a_terabyte_is_refused_before_it_is_read(saved: Path, name: str):
    os.truncate(saved / name, 10**12)
    with pytest.raises(CheckpointError, match=f"{name}: 1,000,000,000,000 bytes; at most 32,000,0"):
        load_checkpoint(saved)


def test_weights_of_a_terabyte_are_not_even_digested(saved: Path):
    os.truncate(saved / WEIGHTS, 10**12)
    message = f"{WEIGHTS}: 1,000,000,000,000 bytes; at most 2,000,000,000 are read"
    with pytest.raises(CheckpointError, match=message):
        load_checkpoint(saved)
    for digest in (lambda: sha256(saved / WEIGHTS), lambda: content_hash(saved)):
        with pytest.raises(ValueError, match=message):
            digest()
    with pytest.raises(CheckpointError, match=message):
        read_header(saved / WEIGHTS)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (CARD, "[" * 100_000 + "]" * 100_000, "nested too deeply"),
        (CONFIG, "NaN", "holds nan"),
        (CONFIG, "1e999", "holds inf"),
        (VOCABULARY, "1" * 40, "holds a whole number of 40 digits"),
    ],
)
def test_odd_json_in_any_file_is_named(saved: Path, name: str, value: str, message: str):
    content = json.loads((saved / name).read_text())
    text = json.dumps({**content, "more": "?"}).replace('"?"', value)
    (saved / name).write_text(text)
    with pytest.raises(CheckpointError, match=f"checkpoint tiny: .*{name}: {message}"):
        load_checkpoint(saved)


def test_what_could_not_be_read_again_is_not_written(tmp_path: Path):
    with pytest.raises(ValueError, match="Out of range float values are not JSON compliant"):
        write_json(tmp_path / "a.json", {"loss": float("nan")})
    assert not list(tmp_path.iterdir())
    write_json(tmp_path / "a.json", {"loss": None})
    assert read_json(tmp_path / "a.json") == {"loss": None}


def test_a_state_may_be_as_large_as_its_model_asks_and_no_larger(tmp_path: Path):
    tensors = {"model.a": torch.zeros(8_000_000)}
    save_state(tmp_path / "state", tensors, {"seconds": 1})
    assert load_state(tmp_path / "state", n_numbers=2_000_000)[1] == {"seconds": 1}
    with pytest.raises(CheckpointError, match=r"state: 32,000,\d+ bytes; at most 16,001,600 are "):
        load_state(tmp_path / "state", n_numbers=100)


@pytest.mark.parametrize(
    ("meta", "message"), [("[" * 9000, "nested"), ('{"a": NaN}', "nan"), ("[]", "no object")]
)
def test_a_state_whose_meta_is_odd_is_refused(tmp_path: Path, meta: str, message: str):
    tensors = {"a": torch.zeros(1)}
    safetensors.torch.save_file(tensors, tmp_path / "state", metadata={"meta": meta})
    with pytest.raises(CheckpointError, match=f"state: not a training state .*{message}"):
        load_state(tmp_path / "state")
