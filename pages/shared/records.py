"""The recorded tables of heads, read from files at every run: they are small. Free of torch."""

from core.checkpoints.shelf import weights_path
from core.cli.paths import CHECKPOINTS
from core.inspection.head_record import HeadRecord, load_record
from pages.shared.digests import digest


def record_of(name: str, weights: str, split: str = "dev") -> HeadRecord | None:
    """The table that belongs to these weights (their digest); None for a broken file, too."""
    try:
        return load_record(CHECKPOINTS / name, split, weights)
    except ValueError:
        return None


def problem_of(name: str, weights: str, split: str = "dev") -> str:
    """What is wrong with the file of a table; empty if nothing is."""
    try:
        load_record(CHECKPOINTS / name, split, weights)
    except ValueError as error:
        return str(error)
    return ""


def weights_digest(name: str, snapshot: int | None) -> str:
    """The digest of the weights on disk. Raises ValueError if they cannot be read."""
    return digest(weights_path(CHECKPOINTS / name, snapshot))
