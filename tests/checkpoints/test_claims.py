"""What is believed of configurations, tokenizers and names: everything real, nothing beyond."""

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from core.checkpoints.claims import refuse_config, refuse_sizes, without_choices
from core.checkpoints.found import digest_of, find_model, name_of
from core.checkpoints.not_a_model import NotAModel
from core.checkpoints.odd import ODD
from core.checkpoints.tokenizer_files import runs_away
from tests.checkpoints import whole_models as whole

# Their defaults say what is refused on purpose: 16,384 experts, a whole number as 1200.0.
REFUSED = {"doge", "musicflamingo"}


def test_the_defaults_of_nearly_all_families_of_transformers_are_believed():
    from transformers import AutoConfig
    from transformers.models.auto.configuration_auto import (
        CONFIG_MAPPING_NAMES,  # pyright: ignore[reportPrivateImportUsage]
    )

    refused, n_believed = set[str](), 0
    for family in CONFIG_MAPPING_NAMES:
        try:
            with warnings.catch_warnings(action="ignore"):
                spelt = AutoConfig.for_model(family).to_json_string(use_diff=False)
        except ODD:
            continue  # made of other configurations, or of another library
        config: dict[str, Any] = json.loads(spelt)
        try:
            refuse_config(config, family)
            refuse_sizes(config, family)
            n_believed += 1
        except NotAModel:
            refused.add(family)
    assert refused == REFUSED
    assert n_believed > 200


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"a": {"b": [{"num_layers": 10**6}]}}, "x: a.b.num_layers is 1,000,000; 0 to 1,024"),
        ({"sliding_window": 2**40}, "sliding_window is 1,099,511,627,776"),
        ({"num_layers": 600, "num_experts": 500}, "600 layers of 500 experts; at most 65,536"),
        ({"num_hidden_layers": 65}, "65 layers are claimed, 21 tensors are there"),
    ],
)
def test_sizes_are_refused_by_their_way(changed: dict[str, Any], said: str):
    n_tensors = 21 if "num_hidden_layers" in changed else 1000
    with pytest.raises(NotAModel, match=f"^x: .*{said.removeprefix('x: ')}"):
        refuse_sizes(changed, "x", n_tensors=n_tensors)


def test_numbers_that_are_no_sizes_are_believed():
    refuse_sizes(
        {
            "rope_theta": 10**9,
            "sliding_window": -1,
            "pad_token_id": -1,
            "num_hidden_layers": 64,  # of a model that uses its layers many times
            "head_dim": None,
            "layer_types": ["full_attention"] * 64,
        },
        "x",
        n_tensors=10,
    )


def test_what_says_how_to_run_a_model_is_left_out_in_its_parts_too():
    choices = {"attn_implementation": "sdpa", "dtype": "float16", "_name_or_path": "a/b"}
    config = {"hidden_size": 4, **choices, "text_config": {"vocab_size": 3, **choices}}
    assert without_choices(config) == {"hidden_size": 4, "text_config": {"vocab_size": 3}}


@pytest.mark.parametrize(
    ("rule", "runs"),
    [
        ("(a+)+", True),
        ("(?:a*){3,}", True),
        ("((a)+b)*", True),
        ("(a|ab)*c", True),
        ("(a{1,3})+", True),
        (r"[^\]a+]+(b+)*", True),
        (r"\p{N}{1,3}(?=(\p{N}{3})*\b)", False),
        (r"[!#()*+,]+|(?i:'s|'t)| ?\p{L}+|\s+(?!\S)", False),
        (r"\(a+\)+", False),
        (r"(\r\n)+", False),
        ("(a+){2}", False),
    ],
)
def test_rules_that_could_search_for_ever(rule: str, runs: bool):
    assert runs_away(rule) is runs


def test_rules_that_models_cut_by_are_none_of_them():
    from transformers.integrations.gguf.gguf_tokenizer_mapping import GGUF_PRE_TOKENIZER_SPLITS

    assert GGUF_PRE_TOKENIZER_SPLITS
    assert not any(map(runs_away, GGUF_PRE_TOKENIZER_SPLITS.values()))


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a/SmolLM2-135M.Q4_1.gguf", "SmolLM2-135M.Q4_1"),
        ("a/my model (2)", "my-model-2"),
        ("../..", "model"),
        ("a/..gguf", "model"),
        ("a/" + "b" * 80, "b" * 64),
        ("a/.hidden", "hidden"),
        ("a/a..b", "a-b"),
    ],
)
def test_a_model_is_called_by_its_path(path: str, name: str):
    assert name_of(Path(path)) == name


def test_the_digest_changes_with_every_file(tmp_path: Path):
    folder = whole.put(tmp_path / "tiny", whole.folder_files())
    digests = {digest_of(find_model(folder))}
    for name in ("config.json", "model.safetensors"):
        data = (folder / name).read_bytes()
        changed = data.replace(b"64", b"63") if name == "config.json" else data[:-1] + b"\x01"
        (folder / name).write_bytes(changed)
        digests.add(digest_of(find_model(folder)))
    assert len(digests) == 3
