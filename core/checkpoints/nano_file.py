"""What a file of nanoGPT or minGPT lists: the tensors of the model, and the sizes beside them."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import cast

import torch

from core.checkpoints.course_import import FLOATS
from core.checkpoints.nano_layout import EMBEDDING, HEAD, LAST_NORM
from core.checkpoints.not_a_model import listed
from core.checkpoints.params_file import state_inside, without_modules
from core.checkpoints.store import CheckpointError
from core.checkpoints.tensor_file import Listed, TensorFile
from core.models.config import MOST_PARAMETERS

MOST_BYTES = 4_000_000_000
ARGS = "model_args"


@dataclass(frozen=True, slots=True)
class Found:
    """What the file lists: its tensors, the sizes it says, and notes."""

    tensors: dict[str, Listed]
    args: dict[object, object] | None
    notes: list[str]

    @property
    def has_biases(self) -> bool:
        return f"{LAST_NORM}.bias" in self.tensors

    def size(self, name: str) -> int | None:
        """A size as the file says it, if it does. Raises CheckpointError for what can be none."""
        value = None if self.args is None else self.args.get(name)
        if value is None:
            return None
        if type(value) is not int or not 0 < value < 2**31:
            raise CheckpointError(f"its {ARGS} say of {name} no whole number that a size can be")
        return value


def digest_of(path: Path) -> str:
    """Hex digest of a file that is not too large. Raises CheckpointError for anything else."""
    if not path.is_file():
        raise CheckpointError("not a file" if path.exists() else "there is no such file")
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise CheckpointError(f"{size:,} bytes, more than the {MOST_BYTES:,} read")
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def found_in(content: object) -> Found:
    """What a pickle's content is as a model. Raises CheckpointError if it is none."""
    if not isinstance(content, dict):
        raise CheckpointError(f"holds a {type(content).__name__}, not a state dict")
    whole = cast(dict[object, object], content)
    items, notes = state_inside(whole)
    tensors: dict[str, Listed] = {}
    for key, value in items.items():
        if not isinstance(key, str) or not isinstance(value, Listed):
            raise CheckpointError(f"{key!r:.60} is a {type(value).__name__}, not a tensor")
        tensors[key] = value
    if not tensors:
        raise CheckpointError("the state dict is empty")
    tensors, wrapped = without_modules(tensors)
    _refuse_others(tensors)
    args = whole.get(ARGS) if items is not whole else None
    if args is None:
        return Found(tensors, None, [*notes, *wrapped])
    if not isinstance(args, dict):
        raise CheckpointError(f"its {ARGS} are a {type(args).__name__}, not a dictionary")
    said = f"of the file 'model' and {ARGS!r} alone were read, not what lies beside them"
    return Found(tensors, cast(dict[object, object], args), [said, *wrapped])


def _refuse_others(names: Mapping[str, object]) -> None:
    if EMBEDDING in names:
        return
    if "tok_emb.weight" in names:
        raise CheckpointError(
            "by its names it is a file of the course's code: tell the wiki.txt that it was trained "
            "on (--wiki)"
        )
    raise CheckpointError(
        f"{EMBEDDING} is missing: it is neither a model of nanoGPT or minGPT nor, with tok_emb, "
        f"one of the course; it has {listed(names)}"
    )


def is_tied(file: TensorFile, tensors: Mapping[str, Listed]) -> bool:
    """Whether the head has the numbers of the token embedding, shared or written twice."""
    head, embedding = tensors.get(HEAD), tensors[EMBEDDING]
    if head is None:
        raise CheckpointError(f"{HEAD} is missing")
    if head == embedding:
        return True
    if prod(embedding.shape) > MOST_PARAMETERS:
        raise CheckpointError(
            f"{EMBEDDING} has shape {embedding.shape}; at most {MOST_PARAMETERS:,} numbers are read"
        )
    refuse_other_tensor(HEAD, head, embedding.shape)
    return torch.equal(file.tensor(HEAD, head), file.tensor(EMBEDDING, embedding))


def table_shape(tensors: Mapping[str, Listed], name: str) -> tuple[int, int]:
    """Of a matrix. Raises CheckpointError if it is missing or has another shape."""
    if name not in tensors:
        raise CheckpointError(f"{name} is missing")
    shape = tensors[name].shape
    if len(shape) != 2 or 0 in shape:
        raise CheckpointError(f"{name} has shape {shape}; 2 axes are needed, none empty")
    return shape[0], shape[1]


def refuse_other_tensor(name: str, tensor: Listed, shape: tuple[int, ...]) -> None:
    """Raise CheckpointError for another shape, or numbers that are no floating point numbers."""
    if tensor.shape != shape:
        raise CheckpointError(f"{name} has shape {tensor.shape}; {shape} is needed")
    if tensor.storage.dtype not in FLOATS:
        kind = str(tensor.storage.dtype).removeprefix("torch.")
        raise CheckpointError(f"{name} holds {kind}; floating point numbers are needed")
