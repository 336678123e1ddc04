# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false
"""Anyone's model from its files to a checkpoint. This module loads transformers: it is imported
when such a model is opened, by `core.checkpoints.anyones`.

Nothing is fetched and no code of a folder is run.
"""

import tempfile
from pathlib import Path
from typing import Any, cast, get_args

from tokenizers import Tokenizer
from transformers import AutoConfig, AutoTokenizer, PreTrainedConfig, PreTrainedTokenizerFast
from transformers.integrations import gguf as gguf_files
from transformers.models.auto.configuration_auto import (
    CONFIG_MAPPING_NAMES,  # pyright: ignore[reportPrivateImportUsage]
)
from transformers.utils import logging

from core.checkpoints.anyones import Facts, refuse_memory
from core.checkpoints.claims import refuse_sizes, without_choices
from core.checkpoints.found import Found, digest_of, find_model, inside
from core.checkpoints.gguf_weights import stated_config
from core.checkpoints.loading import load
from core.checkpoints.not_a_model import NotAModel
from core.checkpoints.odd import said
from core.checkpoints.progress import Progress
from core.checkpoints.store import Checkpoint
from core.checkpoints.tokenizer_files import TOKENIZER, copy_tokenizer
from core.data.chat_template import MOST_TEMPLATE
from core.data.outside_vocabulary import OutsideVocabulary, stated_ends
from core.data.tokenizer_file import in_one_sentence
from core.files import read_json
from core.models.outside import OutsideModel, longest_by_config
from core.models.seam import Ability

UNREADABLE = "its tokenizer cannot be read"
GENERATION = "generation_config.json"


def open_model(path: Path, *, name: str, progress: Progress, device: str = "cpu") -> Checkpoint:
    """A folder or a GGUF file as a checkpoint without a task; its card holds the facts. What is
    measured of it is measured on its device.

    Raises NotAModel in one sentence. Cost: its files are read once; 4 bytes a parameter.
    """
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    progress("looking at its files")
    found = find_model(path)
    refuse_memory(4 * found.n_numbers, str(path))
    progress("reading its configuration")
    stated = _stated(found)
    config = _config(found, stated)
    progress("reading its tokenizer")  # before the weights, which take longer
    vocabulary = _vocabulary(found, config)
    module, has_head, notes = load(found, stated, config, progress)
    progress("looking for its heads")
    with said(found.path):
        longest = min(longest_by_config(module), vocabulary.tokenizer.model_max_length)
        model = OutsideModel(module.to(device), has_head=has_head, longest_input=longest)
    facts = _facts(name or found.default_name, found, config, model)
    card = {"opened": facts.to_dict(), "sha256": digest_of(found), "notes": list(notes)}
    progress("done")
    return Checkpoint(model, vocabulary, None, facts.name, card)


def _stated(found: Found) -> dict[str, Any]:
    """What the files say of the model, its sizes believed only if a model can have them."""
    if found.header is None:
        return without_choices(found.config)
    refuse_sizes(found.header.values, str(found.path), n_tensors=found.n_tensors)
    with said(found.path):
        stated = stated_config(found.header)
    refuse_sizes(stated, str(found.path), n_tensors=found.n_tensors)
    return stated


def _config(found: Found, stated: dict[str, Any]) -> PreTrainedConfig:
    family = str(stated.get("model_type", ""))
    if family not in CONFIG_MAPPING_NAMES:
        raise NotAModel(f"{found.path}: {family!r:.40} is no family that transformers knows")
    asked = {key: value for key, value in stated.items() if key != "model_type"}
    with said(found.path):
        return AutoConfig.for_model(family, **asked)


def _vocabulary(found: Found, config: PreTrainedConfig) -> OutsideVocabulary:
    with said(found.path):
        tokenizer = _gguf_tokenizer(found) if found.header else _folder_tokenizer(found, config)
        ids = set(cast(dict[str, int], tokenizer.get_vocab()).values())
        ids -= set(tokenizer.added_tokens_decoder)  # no text becomes one unless it is typed out
        n_rows = int(config.get_text_config().vocab_size)
    if not ids or max(ids) >= n_rows:
        raise NotAModel(
            f"{found.path}: its tokenizer has ids up to {max(ids, default=0):,}, the model "
            f"{n_rows:,} tokens"
        )
    begin: int | None = getattr(config, "decoder_start_token_id", None)
    return OutsideVocabulary(tokenizer, ends=_ends(found, config), begin_id=begin, n_rows=n_rows)


def _folder_tokenizer(found: Found, config: PreTrainedConfig) -> Any:
    with tempfile.TemporaryDirectory() as copied:
        copy_tokenizer(found.path, Path(copied), lambda name: inside(found.path, name))
        with in_one_sentence(UNREADABLE):
            tokenizer: Any = AutoTokenizer.from_pretrained(
                copied, config=config, local_files_only=True, trust_remote_code=False
            )
            return _as_in_file(tokenizer, Path(copied) / TOKENIZER)


def _as_in_file(tokenizer: Any, path: Path) -> Any:
    """A family's class knows the special tokens, but builds its own rules around the vocabulary:
    where the file has the rules, they are the file's.
    """
    if not path.exists():
        return tokenizer
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_file(str(path)),
        model_max_length=tokenizer.model_max_length,
        chat_template=tokenizer.chat_template,
        **tokenizer.special_tokens_map,
    )


def _gguf_tokenizer(found: Found) -> Any:
    """By the quick reader alone: AutoTokenizer would read the configuration again."""
    files: Any = gguf_files
    with in_one_sentence(UNREADABLE):
        architecture, stored, settings = files.get_gguf_tokenizer(str(found.path))
    if len(settings.get("chat_template") or "") > MOST_TEMPLATE:
        raise NotAModel(f"{found.path}: a chat template of more than {MOST_TEMPLATE:,} characters")
    with in_one_sentence(UNREADABLE):
        backend, _ = files.convert_gguf_tokenizer(architecture, stored)
        return PreTrainedTokenizerFast(tokenizer_object=backend, **settings)


def _ends(found: Found, config: PreTrainedConfig) -> frozenset[int]:
    """Tokens that end a text, by the configuration and the settings for generation."""
    stated: list[Any] = [getattr(config, "eos_token_id", None)]
    if found.kind == "folder" and (found.path / GENERATION).exists():
        with said(found.path):
            stated.append(read_json(inside(found.path, GENERATION)).get("eos_token_id"))
    return stated_ends(stated)


def _facts(name: str, found: Found, config: PreTrainedConfig, model: OutsideModel) -> Facts:
    shape = model.shape
    asked = [(what, model.cannot(what)) for what in get_args(Ability)]
    return Facts(
        name=name,
        family=config.model_type,
        layers=shape.n_layers,
        heads=shape.n_heads,
        kv_heads=shape.n_kv_heads,
        vocabulary=shape.vocabulary_size,
        parameters=model.n_parameters,
        dtype=found.dtype,
        n_bytes=4 * model.n_parameters,
        cannot=tuple((what, why) for what, why in asked if why),
    )
