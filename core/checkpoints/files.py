"""Files that are whole or absent: written under a temporary name, then moved into place."""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

# What a checkpoint's folder holds.
CONFIG, VOCABULARY, WEIGHTS, CARD = (
    "config.json",
    "vocabulary.json",
    "model.safetensors",
    "card.json",
)


def write_whole(path: Path, write: Callable[[Path], None], *, make_folder: bool = True) -> None:
    """Call `write` with a temporary path beside `path`, then replace `path` in one move.

    Without `make_folder` the folder must be there, or FileNotFoundError is raised: whoever works
    in a folder for long does not bring it back after somebody has removed it.
    """
    if make_folder:
        path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    temporary = Path(name)
    try:
        write(temporary)
        temporary.chmod(0o644)
        _flush(temporary)  # else a power cut may leave the name without the bytes
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_json(path: Path, data: dict[str, Any], *, make_folder: bool = True) -> None:
    """A JSON object as a whole file."""
    text = json.dumps(data, ensure_ascii=False, indent=1) + "\n"
    write_whole(path, lambda temporary: _write_text(temporary, text), make_folder=make_folder)


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object. Raises ValueError naming the file and what is wrong with it."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror})") from None
    except ValueError as error:
        raise ValueError(f"{path}: not JSON ({error})") from None
    if not isinstance(data, dict):
        raise ValueError(f"{path}: a JSON object is needed")
    return cast(dict[str, Any], data)


def sha256(path: Path) -> str:
    """Hex digest of a file's bytes. Raises ValueError if it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror})") from None


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _flush(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())
