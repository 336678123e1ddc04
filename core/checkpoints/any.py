"""Any checkpoint by its name: one of this project's folders, or anyone's model on the shelf.

Free of torch until one is loaded.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from core.checkpoints.anyones import open_anyones
from core.checkpoints.found import CONFIG, GGUF, digest_of, find_model, name_of
from core.checkpoints.models_shelf import MODELS, Listed, find_listed, list_models
from core.checkpoints.progress import Progress, silent
from core.checkpoints.shelf import CARD, content_hash
from core.paths import CHECKPOINTS

if TYPE_CHECKING:
    from core.checkpoints.store import Checkpoint


def folder_of(name: str) -> Path:
    """A shipped checkpoint by name, or any folder by path."""
    shipped = CHECKPOINTS / name
    return shipped if shipped.is_dir() else Path(name)


def anyones(name: str) -> Listed | None:
    """The model of that name on the shelf, or at that path; None for a folder of this project's.

    Raises NotAModel for one that cannot be opened as it stands there.
    """
    folder = folder_of(name)
    if (folder / CARD).is_file():
        return None
    if (model := find_listed(name, list_models())) is not None:
        model.refuse_wrong()
        return model
    is_model = folder.suffix == GGUF or (folder / CONFIG).is_file()
    if not is_model:
        return None
    return Listed(name=name_of(folder), path=folder, origin="folder", facts={})


def load_any(name: str, *, progress: Progress = silent, device: str = "cpu") -> "Checkpoint":
    """A checkpoint on its device, ready to be asked. Raises ValueError naming what is wrong, in one
    sentence.
    """
    from core.checkpoints.store import load_checkpoint  # noqa: PLC0415 - it loads torch

    model = anyones(name)
    if model is None:
        return load_checkpoint(folder_of(name), device=device)
    name = Path(model.name).name
    return open_anyones(model.path, name=name, progress=progress, device=device)


def weights_digest_of(name: str) -> str:
    """What records of these weights are bound to. Cost: the weights are read for it."""
    model = anyones(name)
    return content_hash(folder_of(name)) if model is None else digest_of(find_model(model.path))


def records_folder(name: str) -> Path:
    """Where what is measured of a checkpoint is written; of anyone's model on the shelf, so that
    nothing is written beside its files. The folder is made.
    """
    model = anyones(name)
    if model is None:
        return folder_of(name)
    folder = MODELS / Path(model.name).name
    folder.mkdir(parents=True, exist_ok=True)
    return folder
