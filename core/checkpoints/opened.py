# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
"""Anyone's model from its files to a checkpoint. This module loads transformers: it is imported
when such a model is opened, by `core.checkpoints.anyones`.

Nothing is fetched and no code of a folder is run. Weights that are missing are never filled in at
random: without those of its head a model is opened bare, without others it is refused.
"""

import io
import json
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast, get_args

import torch
from gguf import LlamaFileType
from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError
from tqdm import tqdm
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    PreTrainedConfig,
)
from transformers import modeling_gguf_pytorch_utils as older_gguf
from transformers.integrations import gguf as gguf_files
from transformers.models.auto import modeling_auto as families
from transformers.models.auto.configuration_auto import (
    CONFIG_MAPPING_NAMES,  # pyright: ignore[reportPrivateImportUsage]
)
from transformers.utils import logging

from core.checkpoints.anyones import Facts, Progress, refuse_memory
from core.checkpoints.found import Found, NotAModel, digest_of, find_model, refuse_sizes
from core.checkpoints.needed import needed
from core.checkpoints.store import Checkpoint
from core.data.outside_vocabulary import OutsideVocabulary
from core.files import read_json
from core.models.outside import OutsideModel, longest_by_config
from core.models.seam import Ability

# By what a configuration calls the class of its model; the bare one stands for all others.
HEADS: tuple[tuple[Any, Any], ...] = (
    (families.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES, AutoModelForSeq2SeqLM),
    (families.MODEL_FOR_MASKED_LM_MAPPING_NAMES, AutoModelForMaskedLM),
    (families.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, AutoModelForCausalLM),
)
MOST_SPARE = 1.5  # parameters that a configuration may ask for, to numbers that the files hold
ODD = (
    ValueError,
    TypeError,
    KeyError,
    AttributeError,
    IndexError,
    RuntimeError,
    NotImplementedError,
    OSError,
    ImportError,
    ArithmeticError,
    json.JSONDecodeError,
    SafetensorError,
    StrictDataclassError,
)  # fmt: skip - whatever libraries raise for files that are not what they should be


def open_model(path: Path, *, name: str, progress: Progress) -> Checkpoint:
    """A folder or a GGUF file as a checkpoint without a task; its card holds the facts.

    Raises NotAModel in one sentence. Cost: its files are read once; 4 bytes a parameter.
    """
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    progress("looking at its files")
    found = find_model(path)
    if found.kind == "folder":
        refuse_memory(4 * found.n_numbers, str(path))
    progress("reading its configuration")
    config = _config(found)
    module, has_head, notes = _load(found, config, progress)
    progress("reading its tokenizer")
    vocabulary = _vocabulary(found, config)
    progress("looking for its heads")
    with _said(found.path):
        longest = min(longest_by_config(module), vocabulary.tokenizer.model_max_length)
        model = OutsideModel(module, has_head=has_head, longest_input=longest)
    facts = _facts(name or found.default_name, found, config, model)
    card = {"opened": facts.to_dict(), "sha256": digest_of(found), "notes": list(notes)}
    return Checkpoint(model, vocabulary, None, facts.name, card)


def _config(found: Found) -> PreTrainedConfig:
    """What the files say of the model, its sizes believed only if a model can have them."""
    with _said(found.path):
        if found.kind == "gguf":
            stated: dict[str, Any] = older_gguf.load_gguf_checkpoint(str(found.path))["config"]
        else:
            stated = dict(found.config)
    refuse_sizes(stated, str(found.path))
    family = str(stated.pop("model_type", ""))
    if family not in CONFIG_MAPPING_NAMES:
        raise NotAModel(f"{found.path}: {family!r:.40} is no family that transformers knows")
    asked = {key: value for key, value in stated.items() if not key.endswith("attn_implementation")}
    with _said(found.path):
        return AutoConfig.for_model(family, **asked)


def _load(
    found: Found, config: PreTrainedConfig, progress: Progress
) -> tuple[Any, bool, tuple[str, ...]]:
    """The model with its head over the vocabulary, or bare; whether it has one, and what was said.

    Raises NotAModel where weights are missing that even the bare model needs.
    """
    notes: list[str] = []
    lacking: list[str] = []
    for door in dict.fromkeys([_door(config), AutoModel]):
        with _said(found.path):
            _refuse_more_than_there_is(found, config, door)
            loaded: tuple[Any, dict[str, Any]] = door.from_pretrained(
                found.path if found.kind == "folder" else found.path.parent,
                gguf_file=None if found.kind == "folder" else found.path.name,
                config=config,
                dtype=torch.float32,
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
                output_loading_info=True,
                tqdm_class=_bar(progress),
            )
            module, info = loaded
            lacking = needed(module, info["missing_keys"])
        if unused := sorted(info["unexpected_keys"]):
            notes.append(f"weights that this model has no place for: {_listed(unused)}")
        if not lacking:
            return module, door is not AutoModel, tuple(notes)
        notes.append(f"opened without its head: the files lack {_listed(lacking)}")
    raise NotAModel(f"{found.path}: the files lack {_listed(lacking)}")


def _door(config: PreTrainedConfig) -> Any:
    """The class to load by, from what the configuration calls the model's own."""
    stated: list[str] = config.architectures or []
    for names, door in HEADS:
        if any(name in stated for name in names.values() if isinstance(name, str)):
            return door
    is_decoder = config.model_type in families.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    return AutoModelForCausalLM if is_decoder and not stated else AutoModel


def _refuse_more_than_there_is(found: Found, config: PreTrainedConfig, door: Any) -> None:
    """Before memory is taken: what the configuration asks for, against the files and the bound."""
    with torch.device("meta"):
        n_needed = sum(p.numel() for p in door.from_config(config).parameters())
    refuse_memory(4 * n_needed, str(found.path))
    if found.n_numbers and n_needed > MOST_SPARE * found.n_numbers:
        raise NotAModel(
            f"{found.path}: the configuration asks for {n_needed:,} parameters, the files hold "
            f"{found.n_numbers:,}"
        )


def _vocabulary(found: Found, config: PreTrainedConfig) -> OutsideVocabulary:
    folder = found.path if found.kind == "folder" else found.path.parent
    with _said(found.path):
        tokenizer: Any = AutoTokenizer.from_pretrained(
            folder,
            gguf_file=None if found.kind == "folder" else found.path.name,
            config=config,
            local_files_only=True,
            trust_remote_code=False,
        )
    if tokenizer.is_fast:
        tokenizer.backend_tokenizer.no_padding()
        tokenizer.backend_tokenizer.no_truncation()
    begin: int | None = getattr(config, "decoder_start_token_id", None)
    return OutsideVocabulary(tokenizer, ends=_ends(found, config), begin_id=begin)


def _ends(found: Found, config: PreTrainedConfig) -> frozenset[int]:
    """Tokens that end a text, by the configuration and the settings for generation."""
    stated: list[Any] = [getattr(config, "eos_token_id", None)]
    path = found.path / "generation_config.json"
    if found.kind == "folder" and path.is_file():
        stated.append(read_json(path).get("eos_token_id"))
    return frozenset(
        token
        for named in stated
        for token in (cast(list[Any], named) if isinstance(named, list) else [named])
        if isinstance(token, int)
    )


def _facts(name: str, found: Found, config: PreTrainedConfig, model: OutsideModel) -> Facts:
    shape = model.shape
    stored = ", ".join(found.dtypes) if found.kind == "folder" else _gguf_dtype(found)
    asked = [(what, model.cannot(what)) for what in get_args(Ability)]
    return Facts(
        name=name,
        family=config.model_type,
        layers=shape.n_layers,
        heads=shape.n_heads,
        kv_heads=shape.n_kv_heads,
        vocabulary=shape.vocabulary_size,
        parameters=model.n_parameters,
        dtype=stored,
        n_bytes=4 * model.n_parameters,
        cannot=tuple((what, why) for what, why in asked if why),
    )


def _gguf_dtype(found: Found) -> str:
    """What a GGUF file calls its mixture of precisions."""
    metadata: dict[str, Any] = cast(Any, gguf_files).read_gguf_metadata(str(found.path))[0]
    try:
        return LlamaFileType(int(metadata["general.file_type"])).name.removeprefix("MOSTLY_")
    except (KeyError, ValueError):
        return "not stated"


def _bar(progress: Progress) -> Any:
    """A bar of tqdm that tells the progress instead of drawing."""

    class Told(tqdm):  # pyright: ignore[reportMissingTypeArgument]
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **{**kwargs, "disable": False, "file": io.StringIO()})

        def display(self, msg: str | None = None, pos: int | None = None) -> None:  # noqa: ARG002
            if self.total:
                progress(f"loading its weights: {self.n:,} of {self.total:,} tensors")

    return Told


@contextmanager
def _said(path: Path) -> Generator[None]:
    """What libraries raise for odd files, as one sentence that names the file."""
    try:
        yield
    except NotAModel:
        raise
    except MemoryError:
        raise NotAModel(f"{path}: there is not enough memory for it") from None
    except ODD as error:
        said = " ".join(str(error).split()) or type(error).__name__
        raise NotAModel(f"{path}: {said:.300}") from None


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(f"{name:.60}" for name in names[:3]) + more
