"""What verbs are told: texts, files to write, checkpoints by name or folder."""

import sys
from argparse import ArgumentTypeError
from pathlib import Path

from core.data.characters import compose, legible
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


def typed(text: str) -> str:
    """A text in composed letters, as the models have read theirs; where that is another text,
    standard error says so.
    """
    asked = compose(text)
    if asked != text:
        print(
            "typed with letters and accents apart; asked in composed letters (Unicode NFC): "
            f"{legible(asked)}",
            file=sys.stderr,
        )
    return asked
