"""Files from anywhere: how large they may be is asked before they are read, and JSON is held to
what every reader can take.

JSON of a few bytes can stand for numbers that no float holds (1e999), whole numbers of thousands of
digits, and lists in lists until Python gives up: none of it is in a file that this project wrote.
"""

import json
import math
import os
import stat
from pathlib import Path
from typing import Any, cast

MOST_JSON_BYTES = 32_000_000  # the largest here has half a megabyte
MOST_TEXT_BYTES = 200_000_000
MOST_DEPTH = 32
_MOST_WHOLE = 2**63 - 1
_DEEP = f"nested too deeply; at most {MOST_DEPTH} lists and objects in one another are read"


def read_bytes(path: Path, most: int) -> bytes:
    """The bytes of a file that has at most `most`. Raises ValueError naming file and limit."""
    try:
        refuse_large(path, most)
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size  # memory is taken for as much as is asked for
            data = file.read(min(size, most) + 1)  # never more, should it grow meanwhile
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror})") from None
    if len(data) > most:
        raise ValueError(f"{path}: more than the {most:,} bytes that are read of such a file")
    return data


def refuse_large(path: Path, most: int) -> None:
    """Raise ValueError for what is no file (a pipe would never end) or has too many bytes.

    Raises OSError for what cannot be looked at.
    """
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise ValueError(f"{path}: cannot be read (not a file)")
    if found.st_size > most:
        raise ValueError(
            f"{path}: {found.st_size:,} bytes; at most {most:,} are read of such a file"
        )


def parse_json(text: str | bytes, name: str) -> Any:
    """The value of a JSON text. Raises ValueError; `name` is what an error calls the text."""
    try:
        data = json.loads(text if isinstance(text, str) else text.decode("utf-8"))
    except RecursionError:
        raise ValueError(f"{name}: {_DEEP}") from None
    except ValueError as error:
        raise ValueError(f"{name}: not JSON ({error})") from None
    _refuse_odd(data, name)
    return data


def _refuse_odd(data: object, name: str) -> None:
    """Level by level, so that no depth is too much for it."""
    level = [data]
    for _ in range(MOST_DEPTH + 1):
        inner: list[object] = []
        for value in level:
            if isinstance(value, dict):
                inner.extend(cast(dict[str, object], value).values())
            elif isinstance(value, list):
                inner.extend(cast(list[object], value))
            elif isinstance(value, float) and not math.isfinite(value):
                raise ValueError(f"{name}: holds {value}; numbers must be finite")
            elif isinstance(value, int) and abs(value) > _MOST_WHOLE:
                raise ValueError(
                    f"{name}: holds a whole number of {len(str(value).lstrip('-'))} digits; "
                    f"at most {_MOST_WHOLE:,} is read"
                )
        if not inner:
            return
        level = inner
    raise ValueError(f"{name}: {_DEEP}")
