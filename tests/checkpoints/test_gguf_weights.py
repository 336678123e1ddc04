"""GGUF files read without the slow parts: configuration and numbers are those of transformers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gguf import MODEL_ARCH_NAMES, GGMLQuantizationType, GGUFWriter, get_tensor_name_map
from gguf.quants import quantize
from transformers import AutoConfig, AutoModelForCausalLM
from transformers.integrations.ggml import GGUF_CONFIG_MAPPING
from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

from core.checkpoints.found import find_model
from core.checkpoints.gguf_weights import read_tensors, stated_config
from core.checkpoints.not_a_model import NotAModel
from tests.checkpoints import whole_models as whole

SMALL: dict[str, Any] = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 96,
    "vocab_size": 32,
    "max_position_embeddings": 64,
    "head_dim": 16,
}
SMALL_GPT2 = {"n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 32, "n_positions": 64}
FAMILIES = {
    "llama": SMALL,
    "qwen2": SMALL,
    "qwen3": SMALL,
    "gemma2": SMALL,
    "phi3": SMALL | {"pad_token_id": 0},
    "starcoder2": SMALL,
    "gpt2": SMALL_GPT2,
}


def written(path: Path, family: str, kind: GGMLQuantizationType) -> Any:
    """A GGUF file of a random model of the family; its configuration."""
    config = AutoConfig.for_model(family, **FAMILIES[family])
    with torch.device("meta"):
        state = AutoModelForCausalLM.from_config(config).state_dict()
    (arch,) = (arch for arch, name in MODEL_ARCH_NAMES.items() if name == family)
    names = get_tensor_name_map(arch, 2)
    writer = GGUFWriter(path, family)
    for key, ours in GGUF_CONFIG_MAPPING[family].items():
        value = None if ours is None else getattr(config, str(ours), None)
        if isinstance(value, float):
            writer.add_float32(f"{family}.{key}", value)
        elif isinstance(value, int):
            writer.add_uint32(f"{family}.{key}", value)
    writer.add_token_list(whole.PIECES)
    writer.add_pad_token_id(0)
    generator = np.random.default_rng(0)
    for name, tensor in state.items():
        stem, _, suffix = name.rpartition(".")
        found = names.get_name(stem)
        if found is None or name == "lm_head.weight":
            continue
        shape = tuple(tensor.shape)
        if family == "gpt2" and len(shape) == 2 and "wte" not in name and "wpe" not in name:
            shape = shape[::-1]
        numbers = generator.standard_normal(shape).astype(np.float32)
        stored = kind if len(shape) == 2 and shape[-1] % 32 == 0 else GGMLQuantizationType.F32
        writer.add_tensor(f"{found}.{suffix}", quantize(numbers, stored), raw_dtype=stored)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return config


@pytest.mark.parametrize("kind", [GGMLQuantizationType.F32, GGMLQuantizationType.Q8_0])
@pytest.mark.parametrize("family", FAMILIES)
def test_configuration_and_numbers_are_those_of_transformers_own_reader(
    tmp_path: Path, family: str, kind: GGMLQuantizationType
):
    path = tmp_path / "model.gguf"
    written(path, family, kind)
    header = find_model(path).header
    assert header is not None
    stated = stated_config(header)
    assert stated == load_gguf_checkpoint(str(path))["config"]
    asked = {key: value for key, value in stated.items() if key != "model_type"}
    config = AutoConfig.for_model(stated["model_type"], **asked)
    with torch.device("meta"):
        skeleton = AutoModelForCausalLM.from_config(config)
    told: list[int] = []
    read, unused = read_tensors(header, stated, skeleton, told.append)
    expected = load_gguf_checkpoint(str(path), return_tensors=True, model_to_load=skeleton)
    assert unused == []
    assert told == list(range(1, len(header.tensors) + 1))
    assert set(read) == set(expected["tensors"])
    for name, tensor in expected["tensors"].items():
        assert torch.equal(read[name], tensor), name


def test_an_architecture_without_a_table_is_refused(tmp_path: Path):
    path = tmp_path / "model.gguf"
    path.write_bytes(whole.gguf())
    header = find_model(path).header
    assert header is not None
    stated = stated_config(header)
    header.values["general.architecture"] = "none"
    with pytest.raises(NotAModel, match="its architecture 'none' is not known"):
        read_tensors(header, stated, None, lambda _n: None)


def test_the_header_says_sizes_kinds_and_places(tmp_path: Path):
    path = tmp_path / "model.gguf"
    arrays = whole.gguf_arrays()
    path.write_bytes(whole.gguf())
    found = find_model(path)
    assert found.header is not None
    assert (found.n_numbers, found.n_tensors, found.dtype) == (4944, 21, "F32")
    assert found.header.values["tokenizer.ggml.tokens"] == 32  # counted, not kept
    data = path.read_bytes()
    for tensor in found.header.tensors:
        assert tensor.shape == arrays[tensor.name].shape
        stored = np.frombuffer(data[tensor.start : tensor.start + tensor.n_bytes], np.float32)
        assert np.array_equal(stored, arrays[tensor.name].ravel())
