# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false
"""The weights of a model that was found, in the class that its configuration names.

transformers is given the tensors themselves and never the folder, so that it reads nothing else
there: no adapter, no other file that a setting names, no code. Weights that are missing are never
filled in at random: without those of its head a model is opened bare, without others it is refused.
"""

from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from safetensors import safe_open
from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForSeq2SeqLM,
    PreTrainedConfig,
)
from transformers.models.auto import modeling_auto as families

from core.checkpoints.anyones import refuse_memory
from core.checkpoints.found import Found
from core.checkpoints.gguf_weights import read_tensors, refuse_more_layers
from core.checkpoints.needed import needed
from core.checkpoints.not_a_model import NotAModel, listed
from core.checkpoints.odd import said
from core.checkpoints.progress import Progress

# By what a configuration calls the class of its model; the bare one stands for all others.
HEADS: tuple[tuple[Any, Any], ...] = (
    (families.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES, AutoModelForSeq2SeqLM),
    (families.MODEL_FOR_MASKED_LM_MAPPING_NAMES, AutoModelForMaskedLM),
    (families.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, AutoModelForCausalLM),
)
APART = "of weights that belong together (experts, parts of a matrix) some lack or do not fit"
MOST_SPARE = 1.5  # parameters that a configuration may ask for, to numbers that the files hold


def load(
    found: Found, stated: dict[str, Any], config: PreTrainedConfig, progress: Progress
) -> tuple[Any, bool, tuple[str, ...]]:
    """The model with its head over the vocabulary, or bare; whether it has one, and what was said.

    stated: the configuration as the files say it. Raises NotAModel where weights are missing that
    even the bare model needs. Cost: its files are read once; 4 bytes a parameter.
    """
    notes: list[str] = []
    lacking: list[str] = []
    for door in dict.fromkeys([_door(config), AutoModel]):
        with said(found.path):
            skeleton = _skeleton(found, config, door)
            module, info = _filled(found, stated, config, skeleton, progress)
            _refuse_other_weights(found, skeleton, info)
            lacking = needed(module, info["missing_keys"])
        if not lacking:
            if unused := sorted(info["unexpected_keys"]):
                notes.append(f"weights that this model has no place for: {listed(unused)}")
            _refuse_not_finite(found, module)
            return module, door is not AutoModel, tuple(notes)
        notes.append(f"opened without its head: the files lack {listed(lacking)}")
    raise NotAModel(f"{found.path}: the files lack {listed(lacking)}")


def _door(config: PreTrainedConfig) -> Any:
    """The class to load by, from what the configuration calls the model's own."""
    named: list[str] = config.architectures or []
    for names, door in HEADS:
        if any(name in named for name in names.values() if isinstance(name, str)):
            return door
    is_decoder = config.model_type in families.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    return AutoModelForCausalLM if is_decoder and not named else AutoModel


def _skeleton(found: Found, config: PreTrainedConfig, door: Any) -> Any:
    """The model without numbers. Raises NotAModel for more of them than there may be, or are."""
    with torch.device("meta"):
        skeleton = door.from_config(config)
    n_parameters = sum(parameter.numel() for parameter in skeleton.parameters())
    n_needed = n_parameters + sum(buffer.numel() for buffer in skeleton.buffers())
    refuse_memory(4 * n_needed, str(found.path))
    if n_parameters > MOST_SPARE * found.n_numbers:
        raise NotAModel(
            f"{found.path}: the configuration asks for {n_parameters:,} parameters, the files hold "
            f"{found.n_numbers:,}"
        )
    return skeleton


def _filled(
    found: Found,
    stated: dict[str, Any],
    config: PreTrainedConfig,
    skeleton: Any,
    progress: Progress,
) -> tuple[Any, dict[str, Any]]:
    def tell(n: int) -> None:
        progress(f"reading its weights: {n:,} of {found.n_tensors:,} tensors")

    with _tensors(found, stated, skeleton, tell) as (tensors, unused):
        try:
            module, info = type(skeleton).from_pretrained(
                None,
                config=config,
                state_dict=tensors,
                dtype=torch.float32,
                local_files_only=True,
                trust_remote_code=False,
                ignore_mismatched_sizes=True,  # they are refused by name
                output_loading_info=True,
            )
        except RuntimeError as error:
            if "conversion of the weights" not in str(error):
                raise
            raise NotAModel(f"{found.path}: {APART}") from None
    return module, {**info, "unexpected_keys": {*info["unexpected_keys"], *unused}}


@contextmanager
def _tensors(
    found: Found, stated: dict[str, Any], skeleton: Any, tell: Any
) -> Generator[tuple[dict[str, Any], list[str]]]:
    """By name, those of a folder read when the model takes them; and those without a place there,
    where that is known before.
    """
    if found.header is not None:
        yield read_tensors(found.header, stated, skeleton, tell)
        return
    with ExitStack() as opened:
        files = [opened.enter_context(safe_open(file, framework="pt")) for file in found.files]
        tell(0)
        yield (
            {name: file.get_slice(name) for file in files for name in file.keys()},  # noqa: SIM118
            [],
        )
        tell(found.n_tensors)


def _refuse_other_weights(found: Found, skeleton: Any, info: dict[str, Any]) -> None:
    """Raise NotAModel for shapes that are not the configuration's, and for layers beyond it."""
    if other := sorted(info["mismatched_keys"]):
        name, there, needed = other[0]
        raise NotAModel(
            f"{found.path}: {name:.60} has shape {tuple(there)}, the configuration needs "
            f"{tuple(needed)}"
        )
    refuse_more_layers(info["unexpected_keys"], skeleton.state_dict(), found.path)


def _refuse_not_finite(found: Found, module: Any) -> None:
    for name, parameter in module.named_parameters():
        if not bool(parameter.isfinite().all()):
            raise NotAModel(f"{found.path}: {name:.60} holds numbers that are not finite")
