"""Files that are whole or absent: written under a temporary name, then moved into place."""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from core.data.reading import MOST_JSON_BYTES, parse_json, read_bytes, refuse_large

MOST_WEIGHTS_BYTES = 2_000_000_000  # the state of the largest training, too
# What a checkpoint's folder holds.
CONFIG, VOCABULARY, WEIGHTS, CARD = (
    "config.json",
    "vocabulary.json",
    "model.safetensors",
    "card.json",
)


def write_whole(path: Path, write: Callable[[Path], None]) -> None:
    """Call `write` with a temporary path beside `path`, then replace `path` in one move."""
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


def write_json(path: Path, data: dict[str, Any]) -> None:
    """A JSON object as a whole file. Raises ValueError for a number that is not finite."""
    text = json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    write_whole(path, lambda temporary: _write_text(temporary, text))


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object. Raises ValueError naming the file and what is wrong with it."""
    data = parse_json(read_bytes(path, MOST_JSON_BYTES), str(path))
    if not isinstance(data, dict):
        raise ValueError(f"{path}: a JSON object is needed")
    return cast(dict[str, Any], data)


def sha256(path: Path) -> str:
    """Hex digest of a file's bytes. Raises ValueError if it cannot be read or is too large."""
    try:
        refuse_large(path, MOST_WEIGHTS_BYTES)
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror})") from None


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _flush(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())
