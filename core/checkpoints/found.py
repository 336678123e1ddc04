"""What lies at a path that somebody calls a model: looked at before anything is loaded.

A folder in the form of Hugging Face (config.json and safetensors) or one GGUF file. Weights in
other files could run code when they are read, so they are not read. What files claim of sizes is
held against the files before memory is taken. Free of torch and of transformers.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, Literal, cast

from core.files import read_json
from core.reading import parse_json, refuse_large

CONFIG, INDEX, SINGLE = "config.json", "model.safetensors.index.json", "model.safetensors"
ADAPTER = "adapter_config.json"
GGUF = ".gguf"
MOST_HEADER_BYTES = 100_000_000
MOST_FILE_BYTES = 200_000_000_000
MOST_FILES = 512
# What a configuration may ask for: counts of parts that are built one by one, and other sizes.
MOST_PARTS, MOST_SIZE = 1024, 2**25
_NO_COUNTS = ("_dim", "_size", "id", "ids")
_COUNTS = re.compile(r"layer|block|head|expert|group|stage")
_PLAIN_NAME = re.compile(r"[\w.-]+\.safetensors")
_EXCERPT = 16 * 2**20  # of files that are too large to be read whole for a digest
_NAME = re.compile(r"[\w][\w.-]{0,63}")


class NotAModel(ValueError):  # noqa: N818 - it is said, not raised for programmers
    """What cannot be opened, and why, in one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A model on disk. config is what a folder says of itself; a GGUF file says it inside.

    n_numbers: how many numbers the weights hold, `dtypes` of which kinds; 0 and none for GGUF.
    """

    path: Path
    kind: Literal["folder", "gguf"]
    config: dict[str, Any]
    files: tuple[Path, ...]
    n_numbers: int
    dtypes: tuple[str, ...]

    @property
    def default_name(self) -> str:
        return re.sub(r"[^\w.-]+", "-", self.path.stem if self.kind == "gguf" else self.path.name)


def find_model(path: Path) -> Found:
    """Look at a folder or a GGUF file. Raises NotAModel naming file, value and what is allowed.

    Cost: the headers of its files.
    """
    try:
        if path.suffix == GGUF or path.is_file():
            return _find_gguf(path)
        return _find_folder(path)
    except OSError as error:
        raise NotAModel(f"{path}: cannot be read ({error.strerror})") from None


def check_name(name: str) -> str:
    """A name for the shelf. Raises NotAModel for what could lead out of it."""
    if not _NAME.fullmatch(name) or ".." in name:
        raise NotAModel(
            f"{name!r} is no name for a model: letters, digits, dots, dashes, at most 64"
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


def refuse_sizes(config: Mapping[str, Any], name: str) -> None:
    """Raise NotAModel for a configuration whose counts and sizes no model has."""
    for key, value in _numbers(config, ""):
        counts = bool(_COUNTS.search(key.rpartition(".")[2]))
        most = (
            MOST_PARTS if counts and not key.endswith(("_dim", "_size", "id", "ids")) else MOST_SIZE
        )
        if not 0 <= abs(value) <= most:
            raise NotAModel(f"{name}: {key} is {value:,}; at most {most:,} is believed")


def _find_gguf(path: Path) -> Found:
    if not path.exists():
        raise NotAModel(f"{path}: there is no such file")
    refuse = NotAModel(
        f"{path}: neither a folder with {CONFIG} and safetensors nor a GGUF file; weights in other "
        "files could run code when they are read"
    )
    if path.suffix != GGUF:
        raise refuse
    try:
        refuse_large(path, MOST_FILE_BYTES)
    except ValueError as error:
        raise NotAModel(str(error)) from None
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise NotAModel(f"{path}: does not begin as a GGUF file does")
    return Found(path=path, kind="gguf", config={}, files=(path,), n_numbers=0, dtypes=())


def _find_folder(path: Path) -> Found:
    if not path.is_dir():
        raise NotAModel(f"{path}: there is no such folder")
    if not (path / CONFIG).is_file():
        ggufs = sorted(p.name for p in path.glob(f"*{GGUF}"))
        hint = f"; name the file in it: {', '.join(ggufs[:3])}" if ggufs else ""
        raise NotAModel(f"{path}: there is no {CONFIG} in this folder{hint}")
    if (path / ADAPTER).exists():
        raise NotAModel(f"{path}: an adapter ({ADAPTER}); merge it into its model first")
    try:
        config = read_json(_inside(path, CONFIG))
    except ValueError as error:
        raise NotAModel(str(error)) from None
    _refuse_config(config, path / CONFIG)
    files = _weight_files(path)
    shapes = [shape for file in files for shape in _headers(file)]
    return Found(
        path=path,
        kind="folder",
        config=config,
        files=tuple(files),
        n_numbers=sum(n for n, _ in shapes),
        dtypes=tuple(sorted({dtype for _, dtype in shapes})),
    )


def _refuse_config(config: dict[str, Any], name: Path) -> None:
    if not isinstance(config.get("model_type"), str):
        raise NotAModel(f"{name}: names no model_type")
    if "auto_map" in config:
        raise NotAModel(f"{name}: asks for code of its own (auto_map); none is run from a folder")
    if config.get("quantization_config") is not None:
        raise NotAModel(f"{name}: quantised weights are read from GGUF files only")
    refuse_sizes(config, str(name))


def _weight_files(folder: Path) -> list[Path]:
    """One file, or those that an index names. Raises NotAModel for names that lead elsewhere."""
    if (folder / SINGLE).exists():
        return [_inside(folder, SINGLE)]
    if not (folder / INDEX).exists():
        raise NotAModel(
            f"{folder}: there is no {SINGLE} in this folder (pickles such as pytorch_model.bin are "
            "not read: they could run code)"
        )
    try:
        index = read_json(_inside(folder, INDEX))
    except ValueError as error:
        raise NotAModel(str(error)) from None
    mapped = index.get("weight_map")
    names = set(cast(dict[str, Any], mapped).values()) if isinstance(mapped, dict) else set[Any]()
    for name in names:
        if not isinstance(name, str) or not _PLAIN_NAME.fullmatch(name):
            raise NotAModel(f"{folder / INDEX}: {name!r:.80} is no name of a file in this folder")
    if not 0 < len(names) <= MOST_FILES:
        raise NotAModel(f"{folder / INDEX}: names {len(names)} files; 1 to {MOST_FILES} are read")
    return [_inside(folder, name) for name in sorted(cast(set[str], names))]


def _inside(folder: Path, name: str) -> Path:
    """A file of the folder, or of the cache of Hugging Face that its links lead to."""
    path = folder / name
    if not path.is_file():
        raise NotAModel(f"{path}: there is no such file")
    home = folder.resolve()
    homes = [home, home.parents[1]] if home.parent.name == "snapshots" else [home]
    if not any(path.resolve().is_relative_to(place) for place in homes):
        raise NotAModel(f"{path}: leads out of its folder")
    return path


def _headers(path: Path) -> Iterator[tuple[int, str]]:
    """How many numbers each tensor of a safetensors file has, and of which kind; the bytes that
    they need are held against those that are there.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        n_header = int.from_bytes(file.read(8), "little")
        if size < 8 or n_header > min(size - 8, MOST_HEADER_BYTES):
            raise NotAModel(f"{path}: not a whole safetensors file")
        raw = file.read(n_header)
    try:
        header = parse_json(raw, str(path))
    except ValueError as error:
        raise NotAModel(str(error)) from None
    if not isinstance(header, dict):
        raise NotAModel(f"{path}: not a safetensors file")
    for name, entry in cast(dict[str, dict[str, Any]], header).items():
        if name != "__metadata__":
            yield _tensor(path, name, entry, size - 8 - n_header)


def _tensor(path: Path, name: str, entry: Any, n_bytes: int) -> tuple[int, str]:
    try:
        shape, (start, end), dtype = entry["shape"], entry["data_offsets"], entry["dtype"]
        whole = all(isinstance(n, int) and n >= 0 for n in (*shape, start, end))
        fits = whole and 0 <= start <= end <= n_bytes and prod(shape) <= 2 * (end - start)
    except (KeyError, TypeError, ValueError):
        fits, shape, dtype = False, list[int](), ""
    if not fits or not isinstance(dtype, str):
        raise NotAModel(f"{path}: {name:.60} claims a shape and place that the file has not")
    return prod(shape), dtype


def _numbers(value: Any, key: str) -> Iterator[tuple[str, int]]:
    if isinstance(value, Mapping):
        for name, inner in cast(Mapping[str, Any], value).items():
            yield from _numbers(inner, f"{key}.{name}" if key else str(name))
    elif isinstance(value, list):
        for inner in cast(list[Any], value):
            yield from _numbers(inner, key)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield key, value
