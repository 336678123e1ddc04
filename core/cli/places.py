"""How a verb finds data and checkpoints."""

from argparse import ArgumentTypeError
from pathlib import Path

from core.data.shipped import load_corpus
from core.files import check_target
from core.paths import CHECKPOINTS


def checkpoint_folder(name: str) -> Path:
    """A shipped checkpoint by name, or any folder by path."""
    shipped = CHECKPOINTS / name
    return shipped if shipped.is_dir() else Path(name)


def named_file(text: str) -> Path:
    """The type of an option that names a file to write: its folder is looked for before any work.

    Raises ArgumentTypeError, of which argparse makes one line.
    """
    path = Path(text)
    try:
        check_target(path)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None
    return path


__all__ = ["checkpoint_folder", "load_corpus", "named_file"]
