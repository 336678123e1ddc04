"""From the bytes of a `.params` file of the course to one of our models with its vocabulary.

The file says nearly everything by its shapes. What it cannot say is told or taken, and said aloud:

    heads      of a vanilla model and a Perceiver, and of a rotary model without its cache
    residual   whether a Perceiver's two projections add to what they look from
    norm       whether ln1 stands before both sides of a projection or before the latents' side
               alone. The exercise's hints name it for C on the way down and for the previous
               layer's output on the way up, and not for the block's input; our own preset
               (course-perceiver) has it on both sides, which is what is taken unless told.
    the text   only its number of characters can be compared with the file.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from core.catalogue import LatentNorm
from core.checkpoints.course_layout import (
    MASK,
    ROPE_CACHE,
    course_parameters,
    pairs_apart,
    refuse_other_buffers,
    refuse_other_families,
)
from core.checkpoints.not_a_model import listed
from core.checkpoints.params_file import read_params, without_modules
from core.checkpoints.store import CheckpointError
from core.data.characters import compose
from core.data.own_vocabulary import CharVocabulary
from core.data.vocabulary import Vocabulary
from core.models.config import VARIANTS, GPTConfig
from core.models.gpt import GPT

DEFAULT_HEADS = 8
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hints:
    """What the user says about the file; None leaves it to the file."""

    variant: str | None = None
    heads: int | None = None
    block: int | None = None
    residual: bool = True
    norm: LatentNorm = "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """The model in eval mode and float32; `notes` are sentences to be said aloud."""

    model: GPT
    vocabulary: Vocabulary
    variant: str
    notes: tuple[str, ...]


def import_course(data: bytes, text: str, hints: Hints) -> Imported:
    """Read the bytes of a state dict; `text` is the wiki.txt whose characters it was trained on,
    every one as it stands there.

    Raises ValueError in one sentence if the bytes, the text and what was told do not fit.
    """
    tensors, around = read_params(data)
    tensors, wrapped = without_modules(tensors)
    refuse_other_families(tensors)
    variant = _variant(tensors, hints.variant)
    config, notes = _config(tensors, variant, hints)
    vocabulary = CharVocabulary.from_text(text)
    if vocabulary.size != config.vocabulary_size:
        raise CheckpointError(
            f"the model knows {config.vocabulary_size} characters, but the text makes "
            f"{vocabulary.size}: it is not the wiki.txt that the model was trained on"
        )
    notes.append(
        f"of the text only the number of characters, {vocabulary.size}, could be compared with "
        "the file"
    )
    if compose(text) != text:
        notes.append(
            "the text has letters and accents apart (it is not in Unicode NFC) and is kept so, for "
            "its characters are the vocabulary; what is asked in composed letters is taken apart"
        )
    names = course_parameters(config)
    buffers = refuse_other_buffers(tensors, config)
    needed = {name for name, _ in names.values()}
    refuse_other_names(tensors.keys() - buffers, needed, f"{variant} model")
    state = {ours: _parameter(tensors, name, shape) for ours, (name, shape) in names.items()}
    if variant == "rotary":
        turned = {name for name in state if re.search(r"\.(query|key)\.", name)}
        state |= {name: pairs_apart(state[name], config.n_heads) for name in turned}
    model = GPT(config)
    model.load_state_dict(state)
    if buffers:
        notes.append(f"{len(buffers)} buffers are what our model computes, and are left out")
    return Imported(
        model=model.eval(),
        vocabulary=vocabulary,
        variant=variant,
        notes=(*around, *wrapped, *notes),
    )


def _variant(tensors: Mapping[str, Tensor], hint: str | None) -> str:
    if "down_block.C" in tensors:
        found = "perceiver"
    elif any(name.endswith(".attn.w2") for name in tensors):
        found = "synthesizer"
    else:
        found = "vanilla" if "pos_emb" in tensors else "rotary"
    if hint not in (None, found):
        raise CheckpointError(f"by its names it is a {found} model, not a {hint} one")
    return found


def _config(
    tensors: Mapping[str, Tensor], variant: str, hints: Hints
) -> tuple[GPTConfig, list[str]]:
    """The sizes, and notes about those that the file does not say."""
    vocabulary_size, width = _shape(tensors, "tok_emb.weight", 2)
    n_blocks = _n_blocks(tensors, variant)
    block_size = agreed("block", _block_size(tensors), hints.block)
    if block_size is None:
        raise CheckpointError("it does not say how long its inputs may be: tell the block")
    n_heads, notes = _heads(tensors, variant, width, hints.heads)
    sizes: dict[str, Any] = {**VARIANTS[variant]}
    if variant == "synthesizer":
        n_columns = _shape(tensors, "blocks.0.attn.w2", 2)[1]
        sizes["n_columns"] = None if n_columns == block_size - 1 else n_columns
    if variant == "perceiver":
        sizes["n_latents"] = _shape(tensors, "down_block.C", 3)[1]
        sizes |= {"latent_residual": hints.residual, "latent_norm": hints.norm}
        notes.append(_wiring(hints))
    else:
        _refuse_wiring(variant, hints)
    config = GPTConfig(
        vocabulary_size=vocabulary_size,
        block_size=block_size,
        n_layers=n_blocks + (2 if variant == "perceiver" else 0),
        n_heads=n_heads,
        width=width,
        **sizes,
    )
    return config, notes


def _wiring(hints: Hints) -> str:
    """The note about a Perceiver's projections."""
    paths = "with" if hints.residual else "without"
    sides = "both their sides" if hints.norm == "both" else "the latents' side alone"
    return (
        f"read {paths} residual paths around both projections, and with ln1 before {sides}: "
        "the file cannot say"
    )


def _refuse_wiring(variant: str, hints: Hints) -> None:
    options = {"--no-residual": not hints.residual, "--latent-norm": hints.norm != "both"}
    given = [option for option, is_given in options.items() if is_given]
    if given:
        raise CheckpointError(
            f"{' and '.join(given)} can be told of a Perceiver alone; by its names it is a "
            f"{variant} model"
        )


def _n_blocks(tensors: Mapping[str, Tensor], variant: str) -> int:
    found = {match[0] for name in tensors if (match := re.match(r"blocks\.\d{1,3}\.", name))}
    if not found and variant != "perceiver":
        raise CheckpointError("no name begins with 'blocks.': there is no layer in it")
    return len(found)


def _block_size(tensors: Mapping[str, Tensor]) -> int | None:
    if "pos_emb" in tensors:
        return _shape(tensors, "pos_emb", 3)[1]
    for name, axis in ((f"blocks.0.{ROPE_CACHE}", 0), (f"blocks.0.{MASK}", -1)):
        if name in tensors and tensors[name].dim():
            return tensors[name].shape[axis]
    return None


def _heads(
    tensors: Mapping[str, Tensor], variant: str, width: int, hint: int | None
) -> tuple[int, list[str]]:
    """The number of heads, and a note if it is neither in the file nor told."""
    head_dim = _head_dim(tensors, variant)
    heads = agreed("heads", width // head_dim if head_dim else None, hint)
    if heads is not None:
        return heads, []
    if width % (2 * DEFAULT_HEADS if variant == "rotary" else DEFAULT_HEADS):
        raise CheckpointError(
            f"the file cannot say how many heads it has, and its width {width} does not suit the "
            f"usual {DEFAULT_HEADS}: tell the number (--heads)"
        )
    return DEFAULT_HEADS, [f"read with {DEFAULT_HEADS} heads: the file cannot say"]


def _head_dim(tensors: Mapping[str, Tensor], variant: str) -> int | None:
    if variant == "synthesizer":
        return _shape(tensors, "blocks.0.attn.w2", 2)[0]
    cache = tensors.get(f"blocks.0.{ROPE_CACHE}")
    if variant != "rotary" or cache is None or cache.dim() < 2:
        return None
    return 2 * cache.shape[1]


def agreed(what: str, in_file: int | None, hint: int | None) -> int | None:
    """What the file or the user says. Raises CheckpointError if they do not say the same."""
    if None not in (in_file, hint) and in_file != hint:
        raise CheckpointError(f"the file says {what} {in_file}, not {hint}")
    return hint if in_file is None else in_file


def _shape(tensors: Mapping[str, Tensor], name: str, n_axes: int) -> tuple[int, ...]:
    if name not in tensors:
        raise CheckpointError(f"{name} is missing: it is no model of the course")
    shape = tuple(tensors[name].shape)
    if len(shape) != n_axes or 0 in shape:
        raise CheckpointError(f"{name} has shape {shape}; {n_axes} axes are needed, none empty")
    return shape


def refuse_other_names(found: Collection[str], needed: Collection[str], model: str) -> None:
    """Raise CheckpointError for names that are missing or left over: it is not a whole `model`."""
    missing, left_over = set(needed) - set(found), set(found) - set(needed)
    parts = [
        f"{what} {listed(names)}"
        for what, names in (("missing:", missing), ("left over:", left_over))
        if names
    ]
    if parts:
        raise CheckpointError(f"it is not a whole {model}; {'; '.join(parts)}")


def _parameter(tensors: Mapping[str, Tensor], name: str, shape: tuple[int, ...]) -> Tensor:
    tensor = tensors[name]
    if tuple(tensor.shape) != shape:
        raise CheckpointError(f"{name} has shape {tuple(tensor.shape)}; {shape} is needed")
    if tensor.dtype not in FLOATS:
        kind = str(tensor.dtype).removeprefix("torch.")
        raise CheckpointError(f"{name} holds {kind}; floating point numbers are needed")
    numbers = tensor.float()
    if not bool(numbers.isfinite().all()):
        raise CheckpointError(f"{name} holds numbers that are not finite")
    return numbers
