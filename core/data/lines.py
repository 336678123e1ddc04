"""Text files as lines, with errors that name file and line."""

from pathlib import Path

from core.data.characters import compose
from core.reading import MOST_TEXT_BYTES, read_bytes


def read_lines(path: Path) -> list[str]:
    """Lines of a UTF-8 file, in composed letters (core.data.characters.compose); CRLF, a byte
    order mark and a missing last newline are fine.
    """
    return [compose(line) for line in exact_lines(path)]


def exact_lines(path: Path) -> list[str]:
    """The same with every character as it stands there: a model trained elsewhere on this text
    has numbered them.
    """
    return split_lines(read_bytes(path, MOST_TEXT_BYTES), name=str(path))


def split_lines(raw: bytes, *, name: str) -> list[str]:
    """`exact_lines` of the bytes of a UTF-8 file; `name` is what an error calls it."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{name}, line {line}: bytes that are not UTF-8") from None
    lines = text.replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines
