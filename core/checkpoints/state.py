"""The resumable state of a training: tensors in safetensors, everything else in its header.

One file, moved into place at once, so tensors and cursor can never be of different steps.
"""

import json
from pathlib import Path
from typing import Any, cast

import safetensors.torch
from torch import Tensor

from core.checkpoints.store import CheckpointError, read_header, read_tensors
from core.files import write_whole
from core.models.config import MOST_PARAMETERS
from core.reading import parse_json

MOST_BYTES_A_NUMBER = 16  # itself and two moments, in float32, and room
HEADER_BYTES = 16_000_000


def save_state(path: Path, tensors: dict[str, Tensor], meta: dict[str, Any]) -> None:
    """Write tensors and a JSON-able dictionary as one whole file; its folder must be there."""
    contiguous = {name: tensor.detach().contiguous() for name, tensor in tensors.items()}
    header = {"meta": json.dumps(meta)}

    def write(part: Path) -> None:
        safetensors.torch.save_file(contiguous, part, metadata=header)

    write_whole(path, write)


def load_state(
    path: Path, *, n_numbers: int = MOST_PARAMETERS
) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The inverse of `save_state`; `n_numbers` are those of the model that is trained.

    Raises CheckpointError if the file is not whole, or larger than such a model's can be.
    """
    tensors = read_tensors(path, MOST_BYTES_A_NUMBER * n_numbers + HEADER_BYTES)
    _, header = read_header(path)
    try:
        meta = parse_json(header["meta"], "meta")
    except (KeyError, ValueError) as error:
        raise CheckpointError(f"{path}: not a training state ({error})") from None
    if not isinstance(meta, dict):
        raise CheckpointError(f"{path}: not a training state (meta is no object)")
    return tensors, cast(dict[str, Any], meta)
