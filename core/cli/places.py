"""How a verb finds data and checkpoints."""

from pathlib import Path

from core.cli.paths import CHECKPOINTS
from core.data.shipped import load_corpus


def checkpoint_folder(name: str) -> Path:
    """A shipped checkpoint by name, or any folder by path."""
    shipped = CHECKPOINTS / name
    return shipped if shipped.is_dir() else Path(name)


__all__ = ["checkpoint_folder", "load_corpus"]
