"""The vocabulary of anyone's model: a tokenizer of transformers, with labels that can be read.

What the tokenizer puts around a text (BOS, [CLS], </s>) is kept and marked as special, never added
or dropped without being seen. A special token that is typed out is that token. Labels are texts of
tokens, not their spelling in the vocabulary: bytes are put together to characters, and a token that
holds some bytes of one says which.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any, cast

from core.data.byte_pieces import bytes_of, legible_bytes, piece_labels
from core.data.characters import visible
from core.data.chat_template import in_chat
from core.data.foreign_vocabulary import overlapping

_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_SPACE = "▁"  # how SentencePiece spells a space
_INSIDE = "##"  # how WordPiece begins a piece that goes on with a word


def stated_ends(stated: Iterable[Any]) -> frozenset[int]:
    """Tokens that end a text, from what settings say of `eos_token_id`: one, several or none."""
    return frozenset(
        token
        for named in stated
        for token in (cast(list[Any], named) if isinstance(named, list) else [named])
        if isinstance(token, int)
    )


@dataclass(frozen=True)
class OutsideVocabulary:
    """A tokenizer of transformers, `tokenizer`, whose special tokens and ends are what it says.

    ends: further tokens that end an answer, from the model's generation settings. begin_id: what a
    decoder beside an encoder begins with. With `in_chat` a text is what somebody says, and the
    tokenizer's chat template is put around it. n_rows: how many tokens the model has; a tokenizer
    may know more.
    """

    tokenizer: Any
    ends: frozenset[int] = frozenset()
    begin_id: int | None = None
    in_chat: bool = False
    n_rows: int | None = None

    @property
    def kind(self) -> str:
        return "outside"

    @property
    def size(self) -> int:
        return len(self.tokenizer)

    @property
    def pad_id(self) -> int:
        return self.tokenizer.pad_token_id or 0

    @property
    def mask_id(self) -> int:
        """The gap that an encoder fills; −1 where there is none."""
        found: int | None = self.tokenizer.mask_token_id
        return -1 if found is None else found

    @property
    def end_ids(self) -> frozenset[int]:
        end: int | None = self.tokenizer.eos_token_id
        return self.ends if end is None else self.ends | {end}

    @property
    def can_chat(self) -> bool:
        """Whether the tokenizer comes with a chat template."""
        return bool(self.tokenizer.chat_template)

    def as_chat(self) -> "OutsideVocabulary":
        """The same for what is said in a chat. Raises ValueError where there is no template."""
        if not self.can_chat:
            raise ValueError("this tokenizer has no chat template: give it plain text")
        return replace(self, in_chat=True)

    def text_in(self, text: str) -> str:
        """The text that really goes in. Raises ValueError for a template that cannot be used."""
        if not self.in_chat:
            return text
        special: dict[str, Any] = self.tokenizer.special_tokens_map
        named = {name: token for name, token in special.items() if isinstance(token, str)}
        return in_chat(self.tokenizer.get_chat_template(), text, named)

    def encode(self, text: str) -> list[int]:
        found = self.tokenizer(self.text_in(text), add_special_tokens=not self.in_chat).input_ids
        return self._in_model(found)

    def encode_target(self, text: str) -> list[int]:
        """What a decoder beside an encoder is to write, spelt and ended as the tokenizer spells
        targets, which some cut by other rules than sources. No chat template is put around it.
        """
        return self._in_model(self.tokenizer(text_target=text).input_ids)

    def _in_model(self, found: Any) -> list[int]:
        """Ids as they are. Raises ValueError for a token that the model does not have."""
        ids = cast(list[int], found)
        if self.n_rows is not None and (beyond := [i for i in ids if i >= self.n_rows]):
            raise ValueError(
                f"this model has no token {self._piece(beyond[0])!r:.40}: its tokenizer gives it "
                f"{beyond[0]:,}, the model has {self.n_rows:,}"
            )
        return ids

    def decode(self, ids: Iterable[int]) -> str:
        """The text, special tokens left out, and bytes of no character by their names."""
        written = list(ids)
        text: str = self.tokenizer.decode(
            written, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        special = frozenset(self.tokenizer.all_special_ids)
        kept = (self._piece(token) for token in written if token not in special)
        return legible_bytes(text, map(self._bytes, kept))

    def label(self, token_id: int) -> str:
        return self.labels([token_id])[0]

    def labels(self, ids: Sequence[int]) -> list[str]:
        labels: list[str] = []
        for is_apart, run in groupby(ids, key=self._apart.__contains__):
            if is_apart:
                labels += [visible(self._piece(token)) for token in run]
            else:
                labels += piece_labels([self._bytes(self._piece(token)) for token in run])
        return labels

    def word_starts(self, ids: Sequence[int]) -> list[bool]:
        """At a space, around special tokens, and at every piece that does not go on with a word."""
        starts: list[bool] = []
        after_apart = True
        for token in ids:
            apart = token in self._apart
            starts.append(apart or after_apart or self._begins(self._piece(token)))
            after_apart = apart
        return starts

    def special(self, ids: Sequence[int]) -> list[bool]:
        return [token in self._apart for token in ids]

    def positions(self, text: str, span: tuple[int, int]) -> tuple[int, ...]:
        """The tokens that hold something of text[start:end]; none without offsets."""
        if not self.tokenizer.is_fast:
            return ()
        whole = self.text_in(text)
        shift = max(whole.find(text), 0)
        found = self.tokenizer(
            whole, add_special_tokens=not self.in_chat, return_offsets_mapping=True
        )
        offsets = cast(list[tuple[int, int]], found["offset_mapping"])
        return overlapping(offsets, (span[0] + shift, span[1] + shift))

    def to_dict(self) -> dict[str, Any]:
        raise ValueError("this tokenizer lies in its model's own files: nothing is stored of it")

    @cached_property
    def _apart(self) -> frozenset[int]:
        """Special tokens and whatever else was added to the vocabulary: spelt as they are."""
        return frozenset(self.tokenizer.all_special_ids) | frozenset(
            self.tokenizer.added_tokens_decoder
        )

    @cached_property
    def _spells_bytes(self) -> bool:
        """Whether pieces are written in GPT-2's alphabet of bytes."""
        if not self.tokenizer.is_fast:
            return False
        parts = json.loads(self.tokenizer.backend_tokenizer.to_str())
        return "ByteLevel" in json.dumps([parts.get("decoder"), parts.get("pre_tokenizer")])

    def _piece(self, token: int) -> str:
        return self.tokenizer.convert_ids_to_tokens(token) or ""

    def _bytes(self, piece: str) -> bytes:
        if self._spells_bytes:
            return bytes_of(piece)
        if byte := _BYTE.fullmatch(piece):
            return bytes([int(byte[1], 16)])
        return piece.removeprefix(_INSIDE).replace(_SPACE, " ").encode(errors="replace")

    def _begins(self, piece: str) -> bool:
        if self._spells_words:
            return not piece.startswith(_INSIDE)
        return self._bytes(piece)[:1].isspace()

    @cached_property
    def _spells_words(self) -> bool:
        """Whether pieces within a word are marked (WordPiece), and not those that begin one."""
        if not self.tokenizer.is_fast:
            return False
        return json.loads(self.tokenizer.backend_tokenizer.to_str())["model"]["type"] == "WordPiece"
