"""Reading a file of torch.save from anywhere: nothing in it is run, and no size it claims believed.

The caller gives bytes, so a file's name is never used for anything here.
"""

import io
import pickle
import re
import zipfile
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor

from core.checkpoints.store import CheckpointError

MOST_BYTES = 200_000_000
_ZIP = b"PK\x03\x04"


def read_file(path: Path) -> bytes:
    """The bytes of a file of at most MOST_BYTES. Raises CheckpointError for anything else."""
    if not path.is_file():
        raise CheckpointError("not a file" if path.exists() else "there is no such file")
    if path.stat().st_size > MOST_BYTES:
        raise CheckpointError(f"{path.stat().st_size:,} bytes, more than the {MOST_BYTES:,} read")
    try:
        return path.read_bytes()
    except OSError as error:
        raise CheckpointError(f"cannot be read ({error.strerror})") from None


def read_params(data: bytes) -> dict[str, Tensor]:
    """The tensors of a state dict by name, dense and on the CPU.

    Raises CheckpointError in one sentence for whatever else the bytes are.
    """
    if not data:
        raise CheckpointError("the file is empty")
    content = _load(data)
    if not isinstance(content, dict):
        raise CheckpointError(f"holds a {type(content).__name__}, not a state dict")
    items = cast(dict[Any, Any], content)
    tensors = {_name(key): _tensor(key, value) for key, value in items.items()}
    if not tensors:
        raise CheckpointError("the state dict is empty")
    claimed = sum(tensor.nbytes for tensor in tensors.values())
    if claimed > len(data):
        raise CheckpointError(f"its tensors claim {claimed:,} bytes; the file has {len(data):,}")
    return tensors


def _load(data: bytes) -> object:
    try:
        if data.startswith(_ZIP):
            _refuse_compressed(data)
        return torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    except CheckpointError:
        raise
    except Exception as error:  # noqa: BLE001 - a broken file makes torch.load raise anything
        asked = re.search(r"GLOBAL (\S+)", str(error))
        if isinstance(error, pickle.UnpicklingError) and asked:
            raise CheckpointError(
                f"holds more than tensors: it asks for {asked[1]:.60}, and nothing of it was run"
            ) from None
        raise CheckpointError(
            f"not a whole file that torch.save wrote ({type(error).__name__})"
        ) from None


def _refuse_compressed(data: bytes) -> None:
    """torch.save stores its parts as they are; a small file of huge parts is not its work."""
    parts = zipfile.ZipFile(io.BytesIO(data)).infolist()
    claimed = sum(part.file_size for part in parts)
    if claimed > len(data):
        raise CheckpointError(f"its parts claim {claimed:,} bytes; the file has {len(data):,}")


def _name(key: object) -> str:
    if not isinstance(key, str):
        raise CheckpointError(f"a key of the state dict is {key!r:.60}, not a name")
    return key


def _tensor(key: object, value: object) -> Tensor:
    if not isinstance(value, Tensor):
        raise CheckpointError(
            f"{key!r:.60} is a {type(value).__name__}, not a tensor; "
            "save model.state_dict() and nothing around it"
        )
    dense = value.layout == torch.strided and not value.is_quantized and not value.is_nested
    if not dense or value.device.type != "cpu" or not value.is_contiguous():
        raise CheckpointError(f"{key!r:.60} is not an ordinary tensor of its own numbers")
    return value.detach()
