"""Digests of files and recorded tables of heads, kept until a file has another time or size.

Free of torch.
"""

from functools import partial
from pathlib import Path

import streamlit as st

from core.checkpoints.shelf import shipped_weights
from core.data.question_set import QuestionSet
from core.files import sha256
from core.inspection.head_record import (
    HeadRecord,
    heads_file,
    load_record,
    recorded_sets,
)
from core.paths import CHECKPOINTS
from pages.shared.models import home_of, listed, model_digest


def digest(path: Path) -> str:
    """sha256 of a file, read anew when its time or size is another. ValueError if it cannot be."""
    try:
        status = path.stat()
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror})") from None
    return _digest(str(path), status.st_mtime_ns, status.st_size)


@st.cache_data(max_entries=64, show_spinner=False)
def _digest(path: str, modified: int, size: int) -> str:
    return sha256(Path(path))


def record_of(
    name: str, weights: str, split: str = "dev", asked: QuestionSet | None = None
) -> HeadRecord | None:
    """The table that belongs to these weights (their digest) and a split, or the very question set;
    None for a broken file, too.
    """
    found = _found(name, weights, split if asked is None else asked.name)
    if found is None or isinstance(found, str):
        return None
    return found if asked is None or found.data == asked.digest else None


def problem_of(name: str, weights: str, split: str = "dev") -> str:
    """What is wrong with the file of a table; empty if nothing is."""
    found = _found(name, weights, split)
    return found if isinstance(found, str) else ""


def sets_of(name: str, weights: str) -> dict[str, QuestionSet]:
    """The question sets over which a table of these weights is recorded, by name."""
    folder = home_of(name)
    paths = sorted(folder.glob(heads_file(folder, "*").name))
    try:
        times = tuple((str(path), path.stat().st_mtime_ns) for path in paths)
    except OSError:  # gone meanwhile
        return {}
    return _sets(str(folder), weights, times)


def _found(name: str, weights: str, split: str) -> HeadRecord | str | None:
    """The table, or what is wrong with its file."""
    folder = home_of(name)
    read = partial(load_record, folder, split, weights)
    try:
        status = heads_file(folder, split).stat()
        return _kept(str(folder), split, weights, status.st_mtime_ns, status.st_size, read)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        return str(error)


@st.cache_resource(max_entries=64, show_spinner=False)
def _kept(
    folder: str,
    split: str,
    weights: str,
    modified: int,
    size: int,
    _read: partial[HeadRecord | None],
) -> HeadRecord | None:
    return _read()


@st.cache_resource(max_entries=32, show_spinner=False)
def _sets(folder: str, weights: str, times: tuple[tuple[str, int], ...]) -> dict[str, QuestionSet]:
    return {asked.name: asked for asked in recorded_sets(Path(folder), weights)}


def weights_digest(name: str, snapshot: int | None) -> str:
    """The digest of the weights on disk. Raises ValueError if they cannot be read."""
    model = listed(name)
    if model is not None:
        return model_digest(model)
    return digest(shipped_weights(CHECKPOINTS / name, snapshot))
