"""Labels of byte-level pieces, and the words that they make.

A piece may hold only some bytes of a character. It then says which: where the two bytes of Á are
two pieces, their labels are ‹Á 1/2› and ‹Á 2/2›; bytes that make no character are ‹byte 0xC3›. No
other label holds a space, so that labels can be joined to words without a doubt.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain

from core.data.characters import visible

# All parts of one character, from the first on.
_CUT = re.compile(r"‹(\S+) 1(?:–\d)?/(\d)›(?:‹\1 [2-4](?:–\d)?/\2›)+")


def piece_labels(pieces: Sequence[bytes]) -> list[str]:
    """A label a piece, each read beside the others. Cost: one pass over the bytes."""
    text = b"".join(pieces).decode(errors="surrogateescape")
    sizes = [len(character.encode(errors="surrogateescape")) for character in text]
    places = list(
        chain.from_iterable([(index, byte) for byte in range(n)] for index, n in enumerate(sizes))
    )
    labels: list[str] = []
    start = 0
    for piece in pieces:
        held: dict[int, list[int]] = {}
        for index, byte in places[start : start + len(piece)]:
            held.setdefault(index, []).append(byte)
        labels.append("".join(_label(text[index], held[index], sizes[index]) for index in held))
        start += len(piece)
    return labels


def legible_bytes(text: str, pieces: Iterable[bytes]) -> str:
    """What a tokenizer decoded, with bytes of no character named as labels name them.

    Tokenizers put U+FFFD in their place. A text without it, or whose `pieces` spell it, stays.
    """
    if "\ufffd" not in text:
        return text
    spelt = b"".join(pieces).decode(errors="surrogateescape")
    if not any(map(_no_character, spelt)):
        return text
    named = "".join(_byte(letter) if _no_character(letter) else letter for letter in spelt)
    return named if text.startswith(" ") else named.removeprefix(" ")


def joined(labels: Sequence[str]) -> str:
    """The labels of adjacent pieces as one text, in which characters are whole again."""
    return _CUT.sub(lambda found: _shown(found[1]), "".join(labels))


def bytes_of(piece: str) -> bytes:
    """The bytes that a piece of a byte-level vocabulary spells; GPT-2's alphabet of 256 letters."""
    alphabet = _alphabet()
    return b"".join(alphabet.get(letter) or letter.encode() for letter in piece)


@cache
def _alphabet() -> dict[str, bytes]:
    """Bytes that are printable in Latin-1 spell themselves, the others U+0100, U+0101, …"""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    letters = {chr(byte): byte for byte in printable}
    letters |= {chr(0x100 + index): byte for index, byte in enumerate(others)}
    return {letter: bytes([byte]) for letter, byte in letters.items()}


def _label(character: str, held: Sequence[int], size: int) -> str:
    """What one piece says of a character of which it holds some bytes."""
    if _no_character(character):
        return _byte(character)
    glyph = visible(character)
    if len(held) == size:
        return glyph
    last = "" if len(held) == 1 else f"–{held[-1] + 1}"
    name = glyph if len(glyph) == 1 else glyph[1:-1]
    return f"‹{name} {held[0] + 1}{last}/{size}›"


def _no_character(letter: str) -> bool:
    """How surrogateescape hands on a byte of no character."""
    return "\udc80" <= letter <= "\udcff"


def _byte(letter: str) -> str:
    return f"‹byte 0x{ord(letter) - 0xDC00:02X}›"


def _shown(name: str) -> str:
    return name if len(name) == 1 else f"‹{name}›"
