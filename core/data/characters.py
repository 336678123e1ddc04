"""Characters and lines as they are read, and characters as they are shown.

Free of torch and of tokenizers.
"""

import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from core.reading import MOST_TEXT_BYTES, read_bytes

SPACE_GLYPH = "·"
_GLYPHS = {" ": SPACE_GLYPH, "\n": "⏎", "\t": "⇥", "\u00a0": "⍽"}
_JOINER, _AS_EMOJI = "\u200d", "\ufe0f"
_INVISIBLE_CATEGORIES = ("Cc", "Cf", "Cs", "Zl", "Zp")
# Drawn as nothing though their category is that of a letter, a mark, a symbol or none: Unicode's
# Default_Ignorable_Code_Point (variation selectors, fillers, tags) and the blank of Braille.
_INVISIBLE_RANGES = (
    (0x034F, 0x034F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x2065, 0x2065),
    (0x2800, 0x2800),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0xE0000, 0xE0FFF),
)


def compose(text: str) -> str:
    """The text in composed letters, Unicode's NFC: u and U+0308 become ü.

    What is typed or read passes here once, where it comes in. Models are trained on composed
    letters, and a letter with its accent apart would be other tokens and another name.
    """
    return unicodedata.normalize("NFC", text)


def read_lines(path: Path) -> list[str]:
    """Lines of a UTF-8 file in composed letters; CRLF, a byte order mark and a missing last newline
    are fine.
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


def character_ids(text: str, ids: Mapping[str, int]) -> list[int]:
    """The ids of a text whose every character, or each of its parts, has one: a model may have been
    trained on letters and accents apart, and what is typed comes composed. Raises ValueError naming
    a character that has none, and where it stands.
    """
    found: list[int] = []
    for position, character in enumerate(text):
        parts = character if character in ids else unicodedata.normalize("NFD", character)
        if not all(part in ids for part in parts):
            raise ValueError(
                f"position {position}: {describe_character(character)} is not among the "
                f"{len(ids)} characters this model was trained on"
            )
        found += [ids[part] for part in parts]
    return found


def visible(text: str) -> str:
    """Every white space as a glyph and whatever cannot be seen as its code point, for labels."""
    return "".join(_GLYPHS.get(c) or (c if _is_seen(c) else _code_point(c)) for c in text)


def legible(text: str) -> str:
    """The text as it is, for sentences, but with what is invisible in it as its code point.

    That is ‹U+202E› and its kin, which turn the direction of what follows, zero widths, variation
    selectors, control characters. Spaces, line breaks and what holds an emoji together stay.
    """
    around = f" {text} "
    return "".join(
        character if _is_legible(before, character, after) else _code_point(character)
        for before, character, after in zip(around, text, around[2:], strict=False)
    )


def describe_character(character: str) -> str:
    """Glyph, code point and name, so that invisible characters can be told apart."""
    name = unicodedata.name(character, "no name")
    return f"{visible(character)!r} (U+{ord(character):04X}, {name})"


def _is_seen(character: str) -> bool:
    return character.isprintable() and not _is_invisible(character)


@lru_cache(maxsize=4096)  # asked for every letter of every label
def _is_invisible(character: str) -> bool:
    return unicodedata.category(character) in _INVISIBLE_CATEGORIES or any(
        first <= ord(character) <= last for first, last in _INVISIBLE_RANGES
    )


def _is_legible(before: str, character: str, after: str) -> bool:
    """Seen, white space, or what makes a symbol an emoji or joins two of them to one."""
    if character in "\n\t" or not _is_invisible(character):
        return True
    kind = unicodedata.category(before)
    if character == _AS_EMOJI:
        return kind in ("So", "Sm")
    joins = kind in ("So", "Sk") or before == _AS_EMOJI
    return character == _JOINER and joins and unicodedata.category(after) == "So"


def _code_point(character: str) -> str:
    return f"‹U+{ord(character):04X}›"
