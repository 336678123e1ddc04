"""Anyone's model by its path: what is known of it, how much memory models may take, and the one
door to opening it. Free of torch and transformers until a model is opened.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from core.checkpoints.not_a_model import NotAModel
from core.checkpoints.progress import Progress, silent

if TYPE_CHECKING:
    from core.checkpoints.store import Checkpoint

MEMORY_VARIABLE = "EXPLORER_MODEL_MEMORY"  # bytes that opened models may take together
SHARE = 0.5  # of the machine's memory, unless told


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What was found, as `open` says it. n_bytes: memory of the weights in float32; `dtype` is that
    of the files. `cannot`: pairs of what does not work and why.
    """

    name: str
    family: str
    layers: int
    heads: int
    kv_heads: int
    vocabulary: int
    parameters: int
    dtype: str
    n_bytes: int
    cannot: tuple[tuple[str, str], ...]

    def to_dict(self) -> dict[str, Any]:
        left_out = ("cannot", "n_bytes")
        plain = {key: getattr(self, key) for key in self.__slots__ if key not in left_out}
        cannot = [{"what": what, "why": why} for what, why in self.cannot]
        return plain | {"bytes": self.n_bytes, "cannot": cannot}


def most_memory() -> int:
    """Bytes that all opened models may take together. Raises ValueError for an odd setting."""
    told = os.environ.get(MEMORY_VARIABLE, "").strip()
    if not told:
        return int(psutil.virtual_memory().total * SHARE)
    try:
        return int(float(told))
    except (ValueError, OverflowError):
        raise ValueError(f"{MEMORY_VARIABLE} is {told!r}; a number of bytes is needed") from None


def refuse_memory(n_bytes: int, name: str) -> None:
    """Raise NotAModel for a model that would need more than there may be."""
    most = most_memory()
    if n_bytes > most:
        raise NotAModel(
            f"{name}: needs {n_bytes / 1e9:.1f} GB of memory in float32; models may take "
            f"{most / 1e9:.1f} GB together ({MEMORY_VARIABLE})"
        )


def open_anyones(
    path: Path, *, name: str = "", progress: Progress = silent, device: str = "cpu"
) -> "Checkpoint":
    """A folder or a GGUF file as a checkpoint. Raises NotAModel in one sentence.

    Cost: seconds for transformers, once a process; its files are read; 4 bytes a parameter.
    """
    progress("loading transformers")
    os.environ["HF_HUB_OFFLINE"] = "1"  # read once, when transformers is imported
    from core.checkpoints.opened import open_model  # noqa: PLC0415 - it loads transformers

    return open_model(path, name=name, progress=progress, device=device)
