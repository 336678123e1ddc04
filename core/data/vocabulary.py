"""What a vocabulary is to the rest of the project, and the door to each that a checkpoint can hold.

Text goes in and ids come out. Ours, with a pad and a mask, stand in core.data.own_vocabulary, those
of models from elsewhere in core.data.foreign_vocabulary and core.data.outside_vocabulary.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, cast

from core.data.foreign_vocabulary import FOREIGN_KINDS, foreign_from_dict
from core.data.own_vocabulary import CharVocabulary, pieces_from_dict


class Vocabulary(Protocol):
    """What the rest of the project needs of a vocabulary."""

    @property
    def kind(self) -> str: ...

    @property
    def size(self) -> int: ...

    @property
    def pad_id(self) -> int:
        """What fills up the shorter rows of a batch."""
        ...

    @property
    def mask_id(self) -> int:
        """What stands for what is left out; with a task it ends a prompt. −1 if there is none."""
        ...

    @property
    def end_ids(self) -> frozenset[int]:
        """The tokens that end an answer; there may be none."""
        ...

    @property
    def begin_id(self) -> int | None:
        """What a decoder begins with that looks at a source; None where no such is known."""
        ...

    def encode(self, text: str) -> list[int]:
        """Ids of a text. Raises ValueError naming a character that is outside, and where."""
        ...

    def decode(self, ids: Iterable[int]) -> str:
        """The text of tokens; bytes that make no character are named as in labels."""
        ...

    def label(self, token_id: int) -> str:
        """What a chart shows for one token: whitespace as a visible glyph."""
        ...

    def labels(self, ids: Sequence[int]) -> list[str]:
        """The same for tokens that stand together: what they are may follow from each other."""
        ...

    def word_starts(self, ids: Sequence[int]) -> list[bool]:
        """Whether each token begins a new word; folding to words uses it."""
        ...

    def special(self, ids: Sequence[int]) -> list[bool]:
        """Whether each token is a mark, and no part of a text."""
        ...

    def positions(self, text: str, span: tuple[int, int]) -> tuple[int, ...]:
        """The tokens of a text that hold something of text[start:end]."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """What a checkpoint holds of it. Raises ValueError where other files do."""
        ...


def vocabulary_from_dict(data: dict[str, Any]) -> Vocabulary:
    """The inverse of `to_dict`. Raises ValueError for anything else."""
    if data.get("kind") == "char" and isinstance(data.get("characters"), str):
        return CharVocabulary(cast(str, data["characters"]))
    if data.get("kind") == "bpe" and isinstance(data.get("tokenizer"), dict):
        return pieces_from_dict(data["tokenizer"])
    if data.get("kind") in FOREIGN_KINDS:
        return foreign_from_dict(data)
    raise ValueError(
        f"unknown vocabulary kind {data.get('kind')!r}; char and bpe are known, and "
        f"{', '.join(FOREIGN_KINDS)} of models from elsewhere"
    )
