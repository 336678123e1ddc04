"""What lies at a path that somebody calls a model: looked at before anything is loaded.

A folder in the form of Hugging Face (config.json and safetensors) or one GGUF file. Weights in
other files could run code when they are read, so they are not read. What files claim of sizes is
held against the files before memory is taken. Free of torch and of transformers.
"""

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from core.checkpoints.claims import refuse_config, refuse_sizes
from core.checkpoints.gguf_header import GGUFHeader, read_gguf_header
from core.checkpoints.not_a_model import NotAModel
from core.checkpoints.safetensors_header import Stored, read_safetensors_header
from core.files import read_json
from core.reading import refuse_large

CONFIG, INDEX, SINGLE = "config.json", "model.safetensors.index.json", "model.safetensors"
ADAPTER = "adapter_config.json"
GGUF = ".gguf"
MOST_FILE_BYTES = 200_000_000_000
MOST_FILES = 512
_PLAIN_NAME = re.compile(r"\w[\w.-]*\.safetensors")
_EXCERPT = 16 * 2**20  # of files that are too large to be read whole for a digest
_NAME = re.compile(r"[^\W_][\w.-]{0,63}")
_SPLIT = re.compile(r"-\d{5}-of-(\d{5})\.gguf$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A model on disk. config is what a folder says of itself; a GGUF file says it in its header.

    stored: what the files of a folder list.
    """

    path: Path
    kind: Literal["folder", "gguf"]
    files: tuple[Path, ...]
    config: dict[str, Any]
    stored: tuple[Stored, ...] = ()
    header: GGUFHeader | None = None

    @property
    def default_name(self) -> str:
        return name_of(self.path)

    @property
    def n_numbers(self) -> int:
        """How many numbers the weights hold."""
        return self.header.n_numbers if self.header else sum(s.n_numbers for s in self.stored)

    @property
    def n_tensors(self) -> int:
        return len(self.header.tensors if self.header else self.stored)

    @property
    def dtype(self) -> str:
        """Of which kinds the numbers are."""
        if self.header:
            return self.header.dtype
        kinds = {stored.dtype for stored in self.stored}
        return ", ".join(sorted({kind for kind in kinds if "F" in kind} or kinds))


def find_model(path: Path) -> Found:
    """Look at a folder or a GGUF file. Raises NotAModel naming file, value and what is allowed.

    Cost: the headers of its files.
    """
    try:
        if not path.is_dir():
            return _find_gguf(path)
        return _find_folder(path)
    except OSError as error:
        raise NotAModel(f"{path}: cannot be read ({error.strerror})") from None
    except ValueError as error:  # a path with a null byte in it, a file that is too large
        if isinstance(error, NotAModel):
            raise
        raise NotAModel(str(error)) from None


def name_of(path: Path) -> str:
    """What a model is called unless told: the folder's name, or the file's without its ending."""
    plain = path.name.removesuffix(GGUF) if path.suffix == GGUF else path.name
    return re.sub(r"[^\w.-]+|\.\.+", "-", plain).strip("-._")[:64].rstrip("-._") or "model"


def check_name(name: str) -> str:
    """A name for the shelf. Raises NotAModel for what could lead out of it."""
    if not _NAME.fullmatch(name) or ".." in name:
        raise NotAModel(
            f"{name!r:.80} is no name for a model: letters, digits, dots, dashes and underscores, "
            "a letter or digit first, at most 64"
        )
    return name


def digest_of(found: Found) -> str:
    """sha256 over its files: names, sizes and bytes; of large files the first and last 16 MB."""
    whole = hashlib.sha256()
    configs = [found.path / CONFIG] if found.kind == "folder" else []
    for path in (*configs, *found.files):
        size = path.stat().st_size
        whole.update(f"{path.name}:{size}:".encode())
        with path.open("rb") as file:
            if size <= 4 * _EXCERPT:
                whole.update(file.read())
                continue
            whole.update(file.read(_EXCERPT))
            file.seek(-_EXCERPT, 2)
            whole.update(file.read(_EXCERPT))
    return whole.hexdigest()


def real(path: Path) -> Path:
    """Where links lead; a loop of them leads nowhere and is no error, as for Path.resolve it is."""
    return Path(os.path.realpath(path))


def inside(folder: Path, name: str) -> Path:
    """A file of the folder, or of the cache of Hugging Face that its links lead to.

    Raises NotAModel for links to anything else, and for what is no file.
    """
    path = folder / name
    home = real(folder)
    homes = [home]
    if home.parent.name == "snapshots":  # models--OWNER--NAME/snapshots/HASH beside …/blobs
        homes.append(home.parents[1] / "blobs")
    if not any(real(path).is_relative_to(place) for place in homes):
        raise NotAModel(f"{path}: leads out of its folder")
    if not path.is_file():
        raise NotAModel(f"{path}: " + ("is no file" if path.exists() else "there is no such file"))
    refuse_large(path, MOST_FILE_BYTES)
    return path


def _find_gguf(path: Path) -> Found:
    if not path.exists():
        raise NotAModel(f"{path}: there is no such folder or file")
    if path.suffix != GGUF:
        raise NotAModel(
            f"{path}: neither a folder with {CONFIG} and safetensors nor a GGUF file; weights in "
            "other files could run code when they are read"
        )
    refuse_large(path, MOST_FILE_BYTES)
    if path.stat().st_size == 0:
        raise NotAModel(f"{path}: is empty")
    if (parts := _SPLIT.search(path.name)) and parts[1] != "00001":
        raise NotAModel(f"{path}: one of {int(parts[1])} parts; only a GGUF in one file is read")
    header = read_gguf_header(path)
    return Found(path=path, kind="gguf", files=(path,), config={}, header=header)


def _find_folder(path: Path) -> Found:
    if not (path / CONFIG).exists() and not (path / CONFIG).is_symlink():
        ggufs = sorted(p.name for p in path.glob(f"*{GGUF}"))
        hint = f"; name the file in it: {', '.join(ggufs[:3])}" if ggufs else ""
        raise NotAModel(f"{path}: there is no {CONFIG} in this folder{hint}")
    if (path / ADAPTER).exists() or (path / ADAPTER).is_symlink():
        raise NotAModel(f"{path}: an adapter ({ADAPTER}); merge it into its model first")
    config = read_json(inside(path, CONFIG))
    refuse_config(config, str(path / CONFIG))
    files = _weight_files(path)
    stored = [stored for file in files for stored in read_safetensors_header(file)]
    if not stored or len({one.name for one in stored}) < len(stored):
        said = "list a tensor twice" if stored else "hold no tensor"
        raise NotAModel(f"{path}: its safetensors files {said}")
    refuse_sizes(config, str(path / CONFIG), n_tensors=len(stored))
    return Found(path=path, kind="folder", config=config, files=tuple(files), stored=tuple(stored))


def _weight_files(folder: Path) -> list[Path]:
    """One file, or those that an index names. Raises NotAModel for names that lead elsewhere."""
    if (folder / SINGLE).exists() or (folder / SINGLE).is_symlink():
        return [inside(folder, SINGLE)]
    if not (folder / INDEX).exists() and not (folder / INDEX).is_symlink():
        raise NotAModel(
            f"{folder}: there is no {SINGLE} in this folder (pickles such as pytorch_model.bin are "
            "not read: they could run code)"
        )
    mapped: object = read_json(inside(folder, INDEX)).get("weight_map")
    names = list(cast(dict[str, Any], mapped).values()) if isinstance(mapped, dict) else []
    for name in names:
        if not isinstance(name, str) or not _PLAIN_NAME.fullmatch(name):
            raise NotAModel(f"{folder / INDEX}: {name!r:.80} is no name of a file in this folder")
    different = sorted(set(cast(list[str], names)))
    if not 0 < len(different) <= MOST_FILES:
        raise NotAModel(
            f"{folder / INDEX}: names {len(different)} files; 1 to {MOST_FILES} are read"
        )
    return [inside(folder, name) for name in different]
