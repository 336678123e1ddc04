"""The resumable state of a training: tensors in safetensors, everything else in its header.

One file, moved into place at once, so tensors and cursor can never be of different steps.
"""

import json
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, cast

import safetensors.torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from core.checkpoints.files import write_whole
from core.checkpoints.store import CheckpointError, read_tensors


def save_state(path: Path, tensors: dict[str, Tensor], meta: dict[str, Any]) -> None:
    """Write tensors and a JSON-able dictionary as one whole file; its folder must be there."""
    contiguous = {name: tensor.detach().contiguous() for name, tensor in tensors.items()}
    header = {"meta": json.dumps(meta)}

    def write(part: Path) -> None:
        safetensors.torch.save_file(contiguous, part, metadata=header)

    write_whole(path, write)


def load_state(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The inverse of `save_state`. Raises CheckpointError if the file is not whole."""
    tensors = read_tensors(path)
    try:
        with cast(AbstractContextManager[Any], safe_open(path, framework="pt")) as file:
            header: dict[str, str] = file.metadata() or {}
        return tensors, json.loads(header["meta"])
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise CheckpointError(f"{path}: not a training state ({error})") from None
