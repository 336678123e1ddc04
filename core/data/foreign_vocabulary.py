"""Vocabularies of models from elsewhere, which have no pad and no mask entry of their own.

    characters   those of the text that a character model was trained on, each an entry
    tokenizer    a tokenizer.json (core.data.tokenizer_file)
    ids          none at all: texts are token ids, typed as numbers

A model may have more entries than its vocabulary has texts for: rows of its embedding that fill up
to a round number. They are shown by their number, ‹50257›, so that nothing is hidden.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, cast

from core.data.byte_pieces import legible_bytes, piece_labels
from core.data.characters import character_ids, compose, describe_character, visible
from core.data.tokenizer_file import (
    Pieces,
    in_one_sentence,
    read_pieces,
    tokenizer_from_dict,
)

NO_ID = -1  # the mask that these vocabularies lack: no token is it
FOREIGN_KINDS = ("characters", "tokenizer", "ids")
MOST_DIGITS = 7
EXAMPLE_IDS = "464 3139"


class ForeignCharacters:
    """Characters by id, from 0 on; `size` may be larger."""

    kind = "characters"
    pad_id, mask_id, begin_id = 0, NO_ID, None
    end_ids: frozenset[int] = frozenset()

    def __init__(self, characters: str, *, size: int) -> None:
        if not characters or len(set(characters)) != len(characters):
            raise ValueError("a character vocabulary names each character once, and at least one")
        _check_size(size, len(characters))
        self.characters, self.size = characters, size
        self._ids = {character: index for index, character in enumerate(characters)}

    def encode(self, text: str) -> list[int]:
        return character_ids(text, self._ids)

    def decode(self, ids: Iterable[int]) -> str:
        return compose("".join(self._character(i) or _numbered(i) for i in ids))

    def label(self, token_id: int) -> str:
        return visible(self._character(token_id)) or _numbered(token_id)

    def labels(self, ids: Sequence[int]) -> list[str]:
        return [self.label(token_id) for token_id in ids]

    def word_starts(self, ids: Sequence[int]) -> list[bool]:
        return _word_starts([self._character(i).encode() or None for i in ids])

    def special(self, ids: Sequence[int]) -> list[bool]:
        return [token_id >= len(self.characters) for token_id in ids]

    def positions(self, text: str, span: tuple[int, int]) -> tuple[int, ...]:
        start, end = (len(self.encode(text[:place])) for place in span)
        return tuple(range(start, end))

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "size": self.size, "characters": self.characters}

    def _character(self, token_id: int) -> str:
        return self.characters[token_id] if token_id < len(self.characters) else ""


class TokenizerVocabulary:
    """The pieces of a tokenizer.json; every token is shown by the text that it stands for.

    What is typed never becomes one of its special tokens, and none is put in front or behind.
    """

    kind = "tokenizer"
    pad_id, mask_id, begin_id = 0, NO_ID, None

    def __init__(self, data: dict[str, Any], *, size: int) -> None:
        """Raises ValueError for a file that is no such tokenizer, or has ids beyond `size`."""
        self._data, self._tokenizer = tokenizer_from_dict(data)
        self._pieces: Pieces = read_pieces(self._data, self._tokenizer)
        _check_size(size, 1 + max(self._pieces.texts))
        self.size, self.end_ids = size, self._pieces.end_ids
        self._adds_space = self._begins_with_a_space()

    @property
    def n_pieces(self) -> int:
        return len(self._pieces.texts)

    def encode(self, text: str) -> list[int]:
        if self._pieces.may_drop:
            for position, character in enumerate(text):
                if not character.isspace() and not self._cut(character):
                    raise ValueError(
                        f"position {position}: this model's tokenizer has no token for "
                        f"{describe_character(character)}"
                    )
        return self._cut(text)

    def decode(self, ids: Iterable[int]) -> str:
        text = self._text([i for i in ids if i not in self.end_ids])
        return text.removeprefix(" ") if self._adds_space else text

    def label(self, token_id: int) -> str:
        return self.labels([token_id])[0]

    def labels(self, ids: Sequence[int]) -> list[str]:
        labels: list[str] = []
        for is_text, run in groupby(ids, key=self._is_text):
            if is_text:
                labels += piece_labels([self._pieces.texts[i] for i in run])
            else:
                labels += [visible(self._pieces.special.get(i, "")) or _numbered(i) for i in run]
        return labels

    def word_starts(self, ids: Sequence[int]) -> list[bool]:
        return _word_starts([self._pieces.texts[i] if self._is_text(i) else None for i in ids])

    def special(self, ids: Sequence[int]) -> list[bool]:
        return [not self._is_text(token_id) for token_id in ids]

    def positions(self, text: str, span: tuple[int, int]) -> tuple[int, ...]:
        found = self._tokenizer.encode(text, add_special_tokens=False)
        return overlapping(found.offsets, span)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "size": self.size, "tokenizer": self._data}

    def _cut(self, text: str) -> list[int]:
        with in_one_sentence("this model's tokenizer cannot cut the text"):
            return self._tokenizer.encode(text, add_special_tokens=False).ids

    def _begins_with_a_space(self) -> bool:
        """Whether every text gets a space in front, so that its first word is like the others."""
        if self._pieces.spelling == "##":
            return True
        try:
            return self._text(self._cut("a")) == " a"
        except ValueError:  # it has no piece for that letter
            return False

    def _is_text(self, token_id: int) -> bool:
        return token_id in self._pieces.texts and token_id not in self._pieces.special

    def _text(self, ids: Sequence[int]) -> str:
        known = (self._pieces.texts.get(i) for i in ids)
        whole = [_numbered(i).encode() if p is None else p for i, p in zip(ids, known, strict=True)]
        return legible_bytes(b"".join(whole).decode(errors="replace"), whole)


class TokenIds:
    """No vocabulary: the model is given token ids and gives token ids."""

    kind = "ids"
    pad_id, mask_id, begin_id = 0, NO_ID, None
    end_ids: frozenset[int] = frozenset()

    def __init__(self, *, size: int) -> None:
        _check_size(size, 1)
        self.size = size

    def encode(self, text: str) -> list[int]:
        return [self._id(word) for word in text.replace(",", " ").split()]

    def decode(self, ids: Iterable[int]) -> str:
        return " ".join(map(str, ids))

    def label(self, token_id: int) -> str:
        return str(token_id)

    def labels(self, ids: Sequence[int]) -> list[str]:
        return [self.label(token_id) for token_id in ids]

    def word_starts(self, ids: Sequence[int]) -> list[bool]:
        return [True] * len(ids)

    def special(self, ids: Sequence[int]) -> list[bool]:
        return [False] * len(ids)

    def positions(self, text: str, span: tuple[int, int]) -> tuple[int, ...]:
        words = re.finditer(r"[^\s,]+", text)
        return overlapping([word.span() for word in words], span)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "size": self.size}

    def _id(self, word: str) -> int:
        is_number = word.isascii() and word.isdecimal() and len(word) <= MOST_DIGITS
        if not is_number or int(word) >= self.size:
            raise ValueError(f"{word!r:.40} is no token id: {typing_note(self)}")
        return int(word)


def typing_note(vocabulary: object) -> str:
    """What has to be said where a text is typed; empty where a text is a text."""
    if not isinstance(vocabulary, TokenIds):
        return ""
    return (
        "this model came without a tokenizer, so it is given token ids and writes token ids: "
        f"numbers from 0 to {vocabulary.size - 1:,}, such as {_example(vocabulary.size)}"
    )


def foreign_from_dict(data: dict[str, Any]) -> "ForeignCharacters | TokenizerVocabulary | TokenIds":
    """The inverse of `to_dict`. Raises ValueError for anything else."""
    kind, size = data.get("kind"), data.get("size")
    if type(size) is not int:
        raise ValueError(f"size is {size!r:.40}; a whole number is needed")
    if kind == "characters" and isinstance(data.get("characters"), str):
        return ForeignCharacters(cast(str, data["characters"]), size=size)
    if kind == "tokenizer" and isinstance(data.get("tokenizer"), dict):
        return TokenizerVocabulary(cast(dict[str, Any], data["tokenizer"]), size=size)
    if kind == "ids":
        return TokenIds(size=size)
    raise ValueError(f"vocabulary of the kind {kind!r:.40} without what belongs to it")


def _example(size: int) -> str:
    return EXAMPLE_IDS if size > 3139 else " ".join(map(str, range(min(size, 3))))


def overlapping(offsets: Sequence[tuple[int, int]], span: tuple[int, int]) -> tuple[int, ...]:
    """The tokens that hold something of a span of characters."""
    start, end = span
    return tuple(i for i, (a, b) in enumerate(offsets) if a < end and b > start and a < b)


def _numbered(token_id: int) -> str:
    return f"‹{token_id}›"


def _check_size(size: int, n_entries: int) -> None:
    if size < n_entries:
        raise ValueError(f"{n_entries:,} entries do not fit into a vocabulary of {size:,}")


def _word_starts(pieces: Sequence[bytes | None]) -> list[bool]:
    """A word begins at white space and behind it; what is no text (None) stands alone."""
    starts: list[bool] = []
    before: bytes | None = None
    for piece in pieces:
        starts.append(not piece or not before or piece[:1].isspace() or before[-1:] == b"\n")
        before = piece
    return starts
