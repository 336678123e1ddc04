"""Checkpoints: a folder with config.json, vocabulary.json, model.safetensors and card.json.

Loading is strict and reads safetensors only, so nothing in a checkpoint can run code. The card
carries the digest of every other file; a file that does not match it is refused.
"""

from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import safetensors.torch
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from core.checkpoints.shelf import (
    CARD,
    CONFIG,
    SNAPSHOTS,
    VOCABULARY,
    WEIGHTS,
    CheckpointError,
    shipped_weights,
)
from core.data.question_set import QuestionSet
from core.data.task import Task, task_of
from core.data.vocabulary import Vocabulary, vocabulary_from_dict
from core.files import MOST_WEIGHTS_BYTES, read_json, sha256, write_json, write_whole
from core.models.families import OwnConfig, config_from_dict, make_model, parameter_shapes
from core.models.seam import Model
from core.models.trained import Trained
from core.reading import refuse_large


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A model with its vocabulary, its task if it has one, and its card. Never changed.

    limit: how many tokens an answer has at most. asked: a question set that it is asked at the
    moment (`asking` gives it one).
    """

    model: Model
    vocabulary: Vocabulary
    task: Task | None = None
    name: str = ""
    card: dict[str, Any] = field(default_factory=dict[str, Any])
    limit: int = 40
    asked: QuestionSet | None = None


def asking(stored: Checkpoint, asked: QuestionSet | None) -> Checkpoint:
    """The same checkpoint, asked a question set: what is right, how much is written of an answer,
    and where a subject stands, is then said by the set.
    """
    return replace(stored, asked=asked)


def save_checkpoint(
    folder: Path,
    model: Trained[Any],
    vocabulary: Vocabulary,
    card: dict[str, Any],
    *,
    dtype: torch.dtype = torch.float16,
) -> None:
    """Write all four files; the card last, so that a folder with a card is complete.

    The folder is made at first only: removed meanwhile, it stays away (FileNotFoundError).
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / CONFIG, model.config.to_dict())
    write_json(folder / VOCABULARY, vocabulary.to_dict())
    save_weights(folder / WEIGHTS, model, dtype=dtype)
    write_card(folder, card)


def write_card(folder: Path, card: dict[str, Any]) -> None:
    """Write the card with the digests of the files beside it."""
    files = {name: sha256(folder / name) for name in (CONFIG, VOCABULARY, WEIGHTS)}
    for path in sorted((folder / SNAPSHOTS).glob("*.safetensors")):
        files[f"{SNAPSHOTS}/{path.name}"] = sha256(path)
    write_json(folder / CARD, {**card, "files": files})


def save_weights(path: Path, model: nn.Module, *, dtype: torch.dtype) -> None:
    """The parameters alone, stored in `dtype`. The folder of snapshots is made in that of its run,
    which must be there.
    """
    path.parent.mkdir(exist_ok=True)
    tensors = {name: t.to(dtype).contiguous() for name, t in model.state_dict().items()}

    def write(part: Path) -> None:
        safetensors.torch.save_file(tensors, part)

    write_whole(path, write)


def load_checkpoint(
    folder: Path, *, snapshot: int | None = None, device: str = "cpu"
) -> Checkpoint:
    """Load strictly, in float32 and eval mode, onto a device; `snapshot` is a step of the same run.

    Raises CheckpointError naming the file and what is wrong.
    """
    if not folder.is_dir():
        raise CheckpointError(f"there is no checkpoint {folder.name!r} in {folder.parent}")
    try:
        card = read_json(folder / CARD)
        vocabulary = read_vocabulary(folder / VOCABULARY)
        config = read_config(folder / CONFIG)
    except ValueError as error:
        raise CheckpointError(f"checkpoint {folder.name}: {error}") from None
    if config.vocabulary_size != vocabulary.size:
        raise CheckpointError(
            f"checkpoint {folder.name}: the vocabulary has {vocabulary.size} entries, "
            f"the model {config.vocabulary_size}"
        )
    path = shipped_weights(folder, snapshot)
    _refuse_mismatch(folder, card, path)
    _refuse_other_shapes(path, parameter_shapes(config))  # before the model takes its memory
    model = make_model(config).eval()
    load_weights(model, path)
    return Checkpoint(model.to(device), vocabulary, task_of(card), folder.name, card)


def read_config(path: Path) -> OwnConfig:
    """The sizes of a model. Raises ValueError naming the file, the size and what is allowed."""
    data = read_json(path)
    try:
        return config_from_dict(data)
    except (ValueError, TypeError) as error:  # TypeError: keys that it does not know or lacks
        raise ValueError(f"{path}: {error}") from None


def read_vocabulary(path: Path) -> Vocabulary:
    """A stored vocabulary. Raises ValueError naming the file and what is wrong with it."""
    data = read_json(path)
    try:
        return vocabulary_from_dict(data)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def load_weights(model: nn.Module, path: Path) -> None:
    """Strict load of one safetensors file. Raises CheckpointError naming tensor and shapes."""
    _refuse_other_shapes(path, {name: tuple(t.shape) for name, t in model.state_dict().items()})
    tensors = read_tensors(path, MOST_WEIGHTS_BYTES)
    for name, tensor in tensors.items():
        if not bool(tensor.isfinite().all()):
            raise CheckpointError(f"{path}: {name} holds numbers that are not finite")
    model.load_state_dict({name: t.float() for name, t in tensors.items()})


def read_tensors(path: Path, most_bytes: int) -> dict[str, Tensor]:
    """Tensors of a safetensors file. Raises CheckpointError for anything else, and more bytes."""
    with _safetensors(path):
        refuse_large(path, most_bytes)
        return safetensors.torch.load_file(path)


def read_header(path: Path) -> tuple[dict[str, tuple[int, ...]], dict[str, str]]:
    """Shapes by name and what else the header of a safetensors file says; no number is read.

    Raises CheckpointError for a file that is not whole: what it says is what lies behind it.
    """
    with _safetensors(path):
        refuse_large(path, MOST_WEIGHTS_BYTES)
        with cast(AbstractContextManager[Any], safe_open(path, framework="pt")) as file:
            names: list[str] = list(file.keys())
            shapes = {name: tuple(file.get_slice(name).get_shape()) for name in names}
            return shapes, file.metadata() or {}


@contextmanager
def _safetensors(path: Path) -> Generator[None, None, None]:
    try:
        yield
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"{path}: not a whole safetensors file ({error})") from None
    except CheckpointError:
        raise
    except ValueError as error:
        raise CheckpointError(str(error)) from None


def _refuse_other_shapes(path: Path, expected: dict[str, tuple[int, ...]]) -> None:
    found, _ = read_header(path)
    for name, shape in expected.items():
        if name not in found:
            raise CheckpointError(f"{path}: the tensor {name} is missing")
        if found[name] != shape:
            raise CheckpointError(
                f"{path}: {name} has shape {found[name]}, the config needs {shape}"
            )
    if extra := sorted(set(found) - set(expected)):
        raise CheckpointError(f"{path}: unknown tensors {_listed(extra)}")


def _listed(names: list[str]) -> str:
    """The first few: a file may hold any number, of any length."""
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(f"{name:.60}" for name in names[:3]) + more


def _refuse_mismatch(folder: Path, card: dict[str, Any], weights: Path) -> None:
    files = card.get("files")
    stated = cast(dict[str, Any], files) if isinstance(files, dict) else {}
    for path in (folder / CONFIG, folder / VOCABULARY, weights):
        name = path.relative_to(folder).as_posix()
        if name not in stated:
            raise CheckpointError(f"checkpoint {folder.name}: the card does not list {name}")
        try:
            found = sha256(path)
        except ValueError as error:
            raise CheckpointError(f"checkpoint {folder.name}: {error}") from None
        if found != stated[name]:
            raise CheckpointError(
                f"checkpoint {folder.name}: {name} is not the file that the card describes "
                f"(sha256 {found[:12]}…, the card says {str(stated[name])[:12]}…)"
            )
