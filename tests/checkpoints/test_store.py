"""A checkpoint comes back as it was stored."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from core.checkpoints.shelf import (
    CARD,
    CONFIG,
    SNAPSHOTS,
    WEIGHTS,
    content_hash,
    list_checkpoints,
    snapshot_steps,
)
from core.checkpoints.store import (
    CheckpointError,
    load_checkpoint,
    save_checkpoint,
    save_weights,
    write_card,
)
from core.data.vocabulary import Vocabulary
from core.models.gpt import GPT
from tests.with_task import gpt_of

MakeGPT = Callable[..., GPT]
QUESTION = "Where was Ada Arden born?"


@pytest.mark.parametrize(
    "sizes",
    [
        {"positions": "learned"},
        {"positions": "rotary"},
        {"attention": "synthesizer"},
        {"attention": "dense-synthesizer", "n_columns": 7},
        {"n_latents": 5, "latent_stride": 3, "latent_residual": False},
        {"n_latents": 5, "latent_norm": "latents"},
    ],
)
def test_model_vocabulary_and_card_come_back(
    tmp_path: Path, make_gpt: MakeGPT, pieces: Vocabulary, sizes: dict[str, Any]
):
    model = make_gpt(vocabulary_size=pieces.size, **sizes)
    save_checkpoint(tmp_path / "a", model, pieces, {"seed": 7}, dtype=torch.float32)
    stored = load_checkpoint(tmp_path / "a")
    assert stored.name == "a"
    loaded = gpt_of(stored)
    assert loaded.config == model.config
    for name, tensor in model.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], tensor)
    assert stored.vocabulary.encode(QUESTION) == pieces.encode(QUESTION)
    assert stored.card["seed"] == 7
    assert not loaded.training


def test_a_config_from_before_there_were_variants_loads_unchanged(saved: Path):
    before = gpt_of(load_checkpoint(saved))
    config = json.loads((saved / CONFIG).read_text())
    for name in ("n_columns", "n_latents", "latent_stride", "latent_residual", "latent_norm"):
        del config[name]
    (saved / CONFIG).write_text(json.dumps(config))
    write_card(saved, {})
    after = gpt_of(load_checkpoint(saved))
    assert after.config == before.config
    for name, tensor in before.state_dict().items():
        assert torch.equal(after.state_dict()[name], tensor)


def test_storage_is_float16_unless_told_and_the_loaded_model_float32(
    tmp_path: Path, make_gpt: MakeGPT, pieces: Vocabulary
):
    model = make_gpt(vocabulary_size=pieces.size)
    save_checkpoint(tmp_path / "half", model, pieces, {})
    save_checkpoint(tmp_path / "full", model, pieces, {}, dtype=torch.float32)
    for name, dtype in (("half", torch.float16), ("full", torch.float32)):
        assert {t.dtype for t in load_file(tmp_path / name / WEIGHTS).values()} == {dtype}
    for name, tensor in gpt_of(load_checkpoint(tmp_path / "half")).state_dict().items():
        assert tensor.dtype == torch.float32
        assert torch.equal(tensor, model.state_dict()[name].half().float())


def test_saving_leaves_the_model_as_it_is(tmp_path: Path, make_gpt: MakeGPT, pieces: Vocabulary):
    model, same = (make_gpt(vocabulary_size=pieces.size) for _ in range(2))
    save_checkpoint(tmp_path / "a", model, pieces, {})
    for name, tensor in same.state_dict().items():
        assert torch.equal(model.state_dict()[name], tensor)


def test_the_card_lists_the_digest_of_every_other_file(saved: Path):
    files = load_checkpoint(saved).card["files"]
    assert sorted(files) == ["config.json", "model.safetensors", "vocabulary.json"]
    assert files[WEIGHTS] == content_hash(saved)


def test_the_content_hash_follows_the_weights(saved: Path, make_gpt: MakeGPT):
    before = content_hash(saved)
    save_weights(saved / WEIGHTS, make_gpt(seed=1), dtype=torch.float32)
    assert content_hash(saved) != before


def test_a_folder_without_a_card_is_not_listed(tmp_path: Path, saved: Path):
    (tmp_path / "unfinished").mkdir()
    assert list_checkpoints(tmp_path) == [saved.name]
    (saved / CARD).unlink()
    assert list_checkpoints(tmp_path) == []


def test_snapshots_are_listed_by_step_and_loaded_by_step(saved: Path, make_gpt: MakeGPT):
    config = gpt_of(load_checkpoint(saved)).config
    sizes = {"vocabulary_size": config.vocabulary_size, "block_size": config.block_size}
    for step in (200, 30):
        snapshot = make_gpt(seed=step, **sizes)
        save_weights(saved / SNAPSHOTS / f"{step:06d}.safetensors", snapshot, dtype=torch.float32)
    write_card(saved, {})
    assert snapshot_steps(saved) == [30, 200]
    loaded = gpt_of(load_checkpoint(saved, snapshot=30))
    assert torch.equal(loaded.tokens.weight, make_gpt(seed=30, **sizes).tokens.weight)
    assert content_hash(saved, snapshot=30) != content_hash(saved, snapshot=200)


def test_a_snapshot_that_was_never_kept_is_refused(saved: Path):
    with pytest.raises(CheckpointError, match=r"does not list snapshots/000012\.safetensors"):
        load_checkpoint(saved, snapshot=12)


def test_a_checkpoint_that_is_not_there_is_named_with_its_folder(tmp_path: Path):
    with pytest.raises(CheckpointError, match=f"there is no checkpoint 'x' in {tmp_path}"):
        load_checkpoint(tmp_path / "x")
