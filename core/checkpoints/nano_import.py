"""From a checkpoint of nanoGPT or a state dict of minGPT to one of our models.

nanoGPT writes {"model": state, "model_args": sizes, "optimizer": …}, minGPT the state dict alone.
What the file cannot say is told or taken, and said aloud:

    heads        of a state dict alone
    activation   of a state dict alone: nanoGPT has GELU, minGPT the tanh form. Only nanoGPT ties
                 its head or leaves out biases; all else is read as minGPT unless told
    the text     see core.checkpoints.foreign_text

Missing biases stand as zeros, which is the same model. Dropout is for training and is left out.
"""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal, cast

import torch

from core.checkpoints.course_import import Imported, agreed, refuse_other_names
from core.checkpoints.course_layout import refuse_other_mask
from core.checkpoints.foreign_text import vocabulary_of
from core.checkpoints.nano_file import (
    ARGS,
    Found,
    found_in,
    is_tied,
    refuse_other_tensor,
    table_shape,
)
from core.checkpoints.nano_layout import (
    EMBEDDING,
    HEAD,
    LAYERS,
    MASK,
    POSITIONS,
    nano_parameters,
)
from core.checkpoints.store import CheckpointError
from core.checkpoints.tensor_file import Listed, TensorFile
from core.models.config import Activation, GPTConfig
from core.models.gpt import GPT

Family = Literal["nanogpt", "mingpt"]
FAMILIES: dict[Family, Activation] = {"nanogpt": "gelu", "mingpt": "gelu-tanh"}
TAKEN = (
    "read as minGPT's, whose GELU is the tanh form; one of nanoGPT, whose GELU is exact, would "
    "have the same names: --variant nanogpt if it is one"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NanoHints:
    """What the user says about the file; None leaves it to the file."""

    family: Family | None = None
    heads: int | None = None
    tokenizer: Path | None = None


def import_nano(path: Path, hints: NanoHints) -> Imported:
    """Read the tensors of the model, and nothing else of the file.

    Raises ValueError in one sentence if the file and what was told do not fit.
    """
    n_bytes = path.stat().st_size
    with path.open("rb") as opened, TensorFile(cast(BinaryIO, opened)) as file:
        found = found_in(file.content)
        tied = is_tied(file, found.tensors)
        family, notes = _family(found, hints.family, tied=tied)
        config = _config(found, family, hints.heads, tied=tied)
        vocabulary, said = vocabulary_of(hints.tokenizer, config.vocabulary_size)
        model = _model(file, found, config, n_bytes)
    return Imported(
        model=model.eval(),
        vocabulary=vocabulary,
        variant=family,
        notes=(*found.notes, *notes, *_about(found, config), *said),
    )


def _family(found: Found, hint: Family | None, *, tied: bool) -> tuple[Family, list[str]]:
    """Whose code wrote it; a note if that is taken and not said."""
    if found.args is not None:
        if hint == "mingpt":
            raise CheckpointError(f"by its {ARGS} it is a nanogpt model, not a mingpt one")
        return "nanogpt", []
    if tied or not found.has_biases:
        if hint == "mingpt":
            raise CheckpointError(
                "minGPT has biases, and a head with numbers of its own: it is a nanogpt model"
            )
        return "nanogpt", []
    if hint is not None:
        return hint, []
    return "mingpt", [TAKEN]


def _config(found: Found, family: Family, hint: int | None, *, tied: bool) -> GPTConfig:
    tensors, args = found.tensors, found.args or {}
    words, width = table_shape(tensors, EMBEDDING)
    block, _ = table_shape(tensors, POSITIONS)
    layers = {
        name.removeprefix(LAYERS).split(".")[0] for name in tensors if name.startswith(LAYERS)
    }
    sizes = {"n_layer": len(layers), "n_embd": width, "block_size": block, "vocab_size": words}
    for name, size in sizes.items():
        if (said := found.size(name)) not in (None, size):
            raise CheckpointError(f"its {ARGS} say {name} {said}, its tensors {size}")
    heads = agreed("heads", found.size("n_head"), hint)
    if heads is None:
        raise CheckpointError(
            "the file cannot say how many heads its layers have: tell the number (--heads)"
        )
    if args.get("bias", found.has_biases) is not found.has_biases:
        has = "biases" if found.has_biases else "no biases"
        raise CheckpointError(f"its tensors have {has}, which its {ARGS} do not say")
    return GPTConfig(
        vocabulary_size=words,
        block_size=block,
        n_layers=len(layers),
        n_heads=heads,
        width=width,
        activation=FAMILIES[family],
        tied=tied,
    )


def _model(file: TensorFile, found: Found, config: GPTConfig, n_bytes: int) -> GPT:
    """Raises CheckpointError for names and shapes that do not fit before it takes memory."""
    tensors = found.tensors
    needed = nano_parameters(config, biases=found.has_biases)
    masks = {f"{LAYERS}{i}.{MASK}" for i in range(config.n_layers)} & tensors.keys()
    refuse_other_names(
        set(tensors) - masks - {HEAD}, set(needed) - {HEAD}, "model of nanoGPT or minGPT"
    )
    for name, theirs in needed.items():
        refuse_other_tensor(name, tensors[name], theirs.shape)
    claimed = sum(tensors[name].n_bytes for name in needed)
    if claimed > n_bytes:
        raise CheckpointError(f"its tensors claim {claimed:,} bytes; the file has {n_bytes:,}")
    for name in sorted(masks):
        _refuse_mask(file, name, tensors[name], config.block_size)
    model = GPT(config)
    state = model.state_dict()
    for name, theirs in needed.items():
        numbers = file.tensor(name, tensors[name])
        if not bool(numbers.isfinite().all()):
            raise CheckpointError(f"{name} holds numbers that are not finite")
        for ours, part in zip(theirs.ours, numbers.chunk(len(theirs.ours)), strict=True):
            state[ours].copy_(part.view_as(state[ours]))
    return model


def _refuse_mask(file: TensorFile, name: str, listed: Listed, block: int) -> None:
    if listed.shape != (1, 1, block, block):
        refuse_other_mask(name, torch.empty(0), block)
    refuse_other_mask(name, file.tensor(name, listed), block)


def _about(found: Found, config: GPTConfig) -> list[str]:
    """What was made of the file that nobody would see."""
    notes: list[str] = []
    if config.tied:
        notes.append("its head and its token embedding are the same numbers, and stay so")
    if not found.has_biases:
        notes.append("it has no biases: ours stand at zero, which is the same model")
    kinds = Counter(str(t.storage.dtype).removeprefix("torch.") for t in found.tensors.values())
    if others := sorted(set(kinds) - {"float32"}):
        notes.append(f"some of its numbers are {' and '.join(others)}; here all are float32")
    return notes
