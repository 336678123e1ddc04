"""What a configuration claims, held against what models have and what its files can hold, before
anything is built by it. Free of torch and of transformers.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from core.checkpoints.not_a_model import NotAModel

# Parts that are built one by one, numbers along an axis, and values of a configuration altogether.
MOST_PARTS, MOST_SIZE, MOST_VALUES = 1024, 2**25, 2**17
MOST_MODULES = 2**16  # layers times experts
FEW_LAYERS = 64  # some models use the weights of a layer many times
_PARTS = re.compile(
    r"(?:.*(layers|blocks|heads|experts|groups|stages|depths?)|(n|num)_(layer|head|block|expert))"
)
_NO_SIZE = re.compile(r"theta|base|seed|_id$|_ids$")
_LAYERS = re.compile(
    r"(num|n)_(hidden_|encoder_|decoder_)?layers?|(en|de)coder_layers|n(um)?_blocks"
)
_EXPERTS = re.compile(r"(num|n)_(local_|routed_)?experts")
_WHOLE = re.compile(
    r"vocab_size|hidden_size|n_embd|d_model|dim|hidden_dim|intermediate_size|d_ff|d_kv|head_dim|"
    r"(num|n)_(key_value_|attention_)?heads?|max_position_embeddings|n_positions"
)
# Settings by which transformers would fetch or run code, or read another file than those checked.
_CODE = ("auto_map", "custom_generate", "custom_pipelines", "trust_remote_code")
_FILES = ("transformers_weights", "_commit_hash")
_QUANTISED = "quantization_config"
_KERNELS = ("attn_implementation", "experts_implementation")
# How a model is to be run is this project's matter.
_LEFT_OUT = (
    "dtype",
    "torch_dtype",
    "fusion_config",
    "kernel_config",
    "distributed_config",
    "tp_plan",
)


def refuse_config(config: Mapping[str, Any], name: str) -> None:
    """Raise NotAModel for what asks for code, names other files, or names no family."""
    if not isinstance(config.get("model_type"), str):
        raise NotAModel(f"{name}: names no model_type")
    stated = config.get("architectures")
    if stated is not None and not _is_texts(stated):
        raise NotAModel(f"{name}: architectures is {stated!r:.60}; a list of names is needed")
    for key, value in _settings(config):
        if value is None or value is False:
            continue
        if key in _CODE:
            raise NotAModel(f"{name}: asks for code of its own ({key}); none is run from a folder")
        if key in _FILES:
            raise NotAModel(f"{name}: names other files ({key}); only its own are read")
        if key == _QUANTISED:
            raise NotAModel(f"{name}: quantised weights are read from GGUF files only")
        if key.endswith(_KERNELS) and (not isinstance(value, str) or "/" in value):
            raise NotAModel(f"{name}: asks for code of its own ({key} is {value!r:.60})")


def refuse_sizes(config: Mapping[str, Any], name: str, *, n_tensors: int = MOST_PARTS) -> None:
    """Raise NotAModel for counts and sizes that no model has, or no model of so many tensors."""
    n_layers = n_experts = 1
    for n, (key, value) in enumerate(_numbers(config, "")):
        last = key.rpartition(".")[2]
        _refuse_number(last, value, f"{name}: {key}")
        if n >= MOST_VALUES:
            raise NotAModel(f"{name}: holds more than {MOST_VALUES:,} values")
        if _LAYERS.fullmatch(last) and isinstance(value, int):
            n_layers = max(n_layers, value)
        if _EXPERTS.fullmatch(last) and isinstance(value, int):
            n_experts = max(n_experts, value)
    if n_layers > max(FEW_LAYERS, n_tensors):
        raise NotAModel(f"{name}: {n_layers:,} layers are claimed, {n_tensors:,} tensors are there")
    if n_layers * n_experts > MOST_MODULES:
        raise NotAModel(
            f"{name}: {n_layers:,} layers of {n_experts:,} experts; at most "
            f"{MOST_MODULES:,} experts are built"
        )


def without_choices(config: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration without what says how to run it, in its parts too."""
    kept: dict[str, Any] = {}
    for key, value in config.items():
        if key.startswith("_") or key in _LEFT_OUT or key.endswith(_KERNELS):
            continue
        inner = cast(Mapping[str, Any], value)
        kept[key] = without_choices(inner) if isinstance(value, Mapping) else value
    return kept


def _refuse_number(key: str, value: object, name: str) -> None:
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if (_WHOLE.fullmatch(key) or _LAYERS.fullmatch(key)) and not is_whole and value is not None:
        raise NotAModel(f"{name} is {value!r:.60}; a whole number is needed")
    if isinstance(value, bool) or not isinstance(value, int | float) or _NO_SIZE.search(key):
        return
    counts = _PARTS.fullmatch(key)
    least = 0 if counts or _WHOLE.fullmatch(key) else -MOST_SIZE
    most = MOST_PARTS if counts else MOST_SIZE
    # Other numbers with a point are no sizes: the smallest number of float32, a factor.
    if (is_whole or counts) and not least <= value <= most:
        raise NotAModel(f"{name} is {value:,}; {least:,} to {most:,} is believed")


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(v, str) for v in cast(list[object], value))


def _settings(value: object) -> Iterator[tuple[str, Any]]:
    """Every key with its value, in parts of the configuration too."""
    if isinstance(value, Mapping):
        for key, inner in cast(Mapping[str, Any], value).items():
            yield key, inner
            yield from _settings(inner)
    elif isinstance(value, list):
        for inner in cast(list[Any], value):
            yield from _settings(inner)


def _numbers(value: object, key: str) -> Iterator[tuple[str, Any]]:
    """Every plain value with the way to it; those of a list under the list's key."""
    if isinstance(value, Mapping):
        for name, inner in cast(Mapping[str, Any], value).items():
            yield from _numbers(inner, f"{key}.{name}" if key else str(name))
    elif isinstance(value, list):
        for inner in cast(list[Any], value):
            yield from _numbers(inner, key)
    else:
        yield key, value
