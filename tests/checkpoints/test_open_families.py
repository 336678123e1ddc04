"""Tiny models of every family, saved as others save theirs, and opened from their folders."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from core.checkpoints.anyones import open_anyones
from core.checkpoints.found import NotAModel
from core.checkpoints.store import Checkpoint
from core.inspection.answered import attending
from core.models.outside import OutsideModel
from tests.models.families import FAMILIES
from tests.models.family import LONGEST, N_HEADS, VOCABULARY
from tests.models.saved import save_tiny
from tests.models.tiny_models import apart, tiny

WEIGHTS = "model.safetensors"
NO_HEAD = "this model has no head that reads tokens"
Saved = Callable[[str], Path]


@pytest.fixture
def saved(tmp_path: Path) -> Saved:
    """A family's tiny model in a folder, its weights in one file."""

    def save(name: str) -> Path:
        return save_tiny(name, tmp_path / name.replace(", ", "-").replace(" ", "-"))

    return save


def change_weights(folder: Path, change: Callable[[dict[str, Tensor]], object]) -> None:
    weights = load_file(folder / WEIGHTS)
    change(weights)
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})


@torch.inference_mode()
def result(checkpoint: Checkpoint, name: str) -> Tensor:
    """Logits, or of a bare model the stream after the last block."""
    made = tiny(name)
    assert isinstance(checkpoint.model, OutsideModel)
    x = checkpoint.model.run(made.ids, attending(None), source=made.source)
    return checkpoint.model.logits(x)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_folder_opens_as_the_model_that_was_saved(saved: Saved, name: str):
    made, family, folder = tiny(name), FAMILIES[name], saved(name)
    opened = open_anyones(folder)
    assert apart(result(opened, name), made.expected) < 1e-5
    facts = opened.card["opened"]
    assert opened.card["notes"] == []
    assert (facts["name"], facts["family"]) == (folder.name, made.plain.config.model_type)
    assert (facts["layers"], facts["heads"]) == (len(family.kinds), N_HEADS)
    assert (facts["kv_heads"], facts["vocabulary"]) == (family.n_kv_heads, VOCABULARY)
    assert facts["parameters"] == sum(p.numel() for p in made.plain.parameters())
    assert (facts["dtype"], facts["bytes"]) == ("F32", 4 * facts["parameters"])
    assert {odd["what"] for odd in facts["cannot"]} == set(family.cannot)
    assert opened.model.shape.longest_input == LONGEST


@pytest.mark.parametrize("name", ["gpt2", "llama", "bert", "t5"])
def test_its_tokenizer_opens_with_it(saved: Saved, name: str):
    vocabulary = open_anyones(saved(name)).vocabulary
    assert vocabulary.encode("w7 w99 nothing") == [7, 99, 3]
    assert (vocabulary.pad_id, vocabulary.mask_id, vocabulary.size) == (0, 4, VOCABULARY)


def bare_stream(name: str) -> Tensor:
    """What the last block of the untouched model gives."""
    made, (block, _) = tiny(name), FAMILIES[name].blocks[-1]
    streams: list[Any] = []
    last = made.plain.get_submodule(block.format(1))
    hook = last.register_forward_hook(lambda *given: streams.append(given[2]))
    with torch.inference_mode():
        made.plain(**made.given(made.ids))
    hook.remove()
    return streams[0] if isinstance(streams[0], Tensor) else streams[0][0]


@pytest.mark.parametrize(
    ("name", "lost", "called"),
    [
        ("llama", "lm_head.weight", "lm_head.weight"),
        (
            "bert",
            "cls.predictions.transform.dense.weight",
            "cls.predictions.transform.dense.weight",
        ),
        ("roberta", "lm_head.layer_norm.bias", "lm_head.layer_norm.bias"),
        ("gpt_neox", "embed_out.weight", "lm_head.weight"),
    ],
)
def test_without_a_part_of_its_head_a_model_opens_bare_and_says_why(
    saved: Saved, name: str, lost: str, called: str
):
    folder = saved(name)
    change_weights(folder, lambda weights: weights.pop(lost))
    opened = open_anyones(folder)
    assert f"opened without its head: the files lack {called}" in opened.card["notes"]
    assert opened.model.cannot("logits").startswith(NO_HEAD)
    reasons = {odd["what"]: odd["why"] for odd in opened.card["opened"]["cannot"]}
    assert reasons["logits"].startswith(NO_HEAD)
    assert apart(result(opened, name), bare_stream(name)) < 1e-5


@pytest.mark.parametrize(
    ("name", "prefix", "lost"),
    [
        ("llama", "model.", "layers.1.mlp.up_proj.weight"),
        ("llama", "model.", "norm.weight"),
        ("gpt2", "transformer.", "wpe.weight"),
        ("bert", "bert.", "encoder.layer.0.attention.self.query.bias"),
        ("modernbert", "model.", "layers.1.attn.Wqkv.weight"),
        ("t5", "", "decoder.block.1.layer.1.EncDecAttention.v.weight"),
        ("t5", "", "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"),
        ("gpt_oss", "model.", "layers.0.self_attn.sinks"),
    ],
)
def test_without_another_weight_a_model_is_refused_by_its_name(
    saved: Saved, name: str, prefix: str, lost: str
):
    folder = saved(name)
    change_weights(folder, lambda weights: weights.pop(prefix + lost))
    with pytest.raises(NotAModel, match=f"the files lack {lost[:60]}$"):
        open_anyones(folder)


def test_weights_without_a_place_are_noted(saved: Saved):
    folder = saved("llama")
    change_weights(folder, lambda weights: weights.update({"score.weight": torch.ones(2, 32)}))
    opened = open_anyones(folder)
    assert opened.card["notes"] == ["weights that this model has no place for: score.weight"]
    assert apart(result(opened, "llama"), tiny("llama").expected) < 1e-5


def test_an_expert_that_lacks_a_weight_is_refused(saved: Saved):
    folder = saved("deepseek_v3")
    lost = "model.layers.1.mlp.experts.3.up_proj.weight"
    change_weights(folder, lambda weights: weights.pop(lost))
    with pytest.raises(NotAModel, match=r"experts|conversion of the weights"):
        open_anyones(folder)
