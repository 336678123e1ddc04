"""What is recorded of a model in a JSON file that states the digest of its weights. No torch."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from core.files import read_json

Record = TypeVar("Record")


def read_beside(
    path: Path, weights: str, make: Callable[[dict[str, Any]], Record]
) -> Record | None:
    """The record of these very weights (their digest), None if there is none.

    Raises ValueError for a file that is not whole.
    """
    if not path.exists():
        return None
    data = read_json(path)
    if data.get("weights_sha256") != weights:
        return None
    try:
        return make(data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"{path.name}: {what}") from None
