"""Two vocabularies: characters exactly as the course has them, and word pieces.

Both give PAD the id 0 and MASK the id 1. The special tokens are never made from typed text.
"""

import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from core.data.byte_pieces import bytes_of, legible_bytes, piece_labels
from core.data.characters import character_ids, compose, describe_character, visible

PAD, MASK = "\u25a1", "\u2047"
PAD_ID, MASK_ID = 0, 1
# What tokenizers' files may ask for besides: padding to ten million ids would be believed.
_NOT_OURS = ("padding", "truncation", "normalizer", "post_processor")
# How byte-level pieces spell white space.
_BYTE_SPACES = str.maketrans("ĠĊĉč", " \n\t\r")


class CharVocabulary:
    """PAD (id 0), MASK (id 1), then the sorted characters of the corpus."""

    kind = "char"
    pad_id, mask_id = PAD_ID, MASK_ID
    end_ids, begin_id = frozenset({MASK_ID}), None

    def __init__(self, characters: str) -> None:
        if characters[:2] != PAD + MASK or len(set(characters)) != len(characters):
            raise ValueError(
                f"a character vocabulary starts with {PAD}{MASK} and names each character once"
            )
        self.characters = characters
        # Without PAD and MASK, which no text becomes.
        self._ids = {character: index for index, character in enumerate(characters[2:], 2)}

    @classmethod
    def from_text(cls, text: str) -> "CharVocabulary":
        """The vocabulary of a corpus; 256 entries on the course's wiki.txt."""
        return cls(PAD + MASK + "".join(sorted(set(text) - {PAD, MASK})))

    @property
    def size(self) -> int:
        return len(self.characters)

    def encode(self, text: str) -> list[int]:
        refuse_special(text)
        return character_ids(text, self._ids)

    def decode(self, ids: Iterable[int]) -> str:
        return compose("".join(self.characters[i] for i in ids if i not in (PAD_ID, MASK_ID)))

    def label(self, token_id: int) -> str:
        return visible(self.characters[token_id])

    def labels(self, ids: Sequence[int]) -> list[str]:
        return [self.label(token_id) for token_id in ids]

    def word_starts(self, ids: Sequence[int]) -> list[bool]:
        text = [self.characters[i] for i in ids]
        return [_starts_word(b, c) for b, c in zip(["", *text], text, strict=False)]

    def special(self, ids: Sequence[int]) -> list[bool]:
        return _are_control(ids)

    def positions(self, text: str, span: tuple[int, int]) -> tuple[int, ...]:
        return _positions(self, text, span)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "characters": self.characters}


class BpeVocabulary:
    """Byte-level byte-pair encoding (Sennrich et al. 2016; bytes as in GPT-2).

    Every text can be encoded. A word has the same pieces at the start of a text and inside it,
    because a space is put before the first word.
    """

    kind = "bpe"
    pad_id, mask_id = PAD_ID, MASK_ID
    end_ids, begin_id = frozenset({MASK_ID}), None

    def __init__(self, tokenizer: Tokenizer) -> None:
        # Typed text must never become a control token; refuse_special gives the clear error.
        tokenizer.encode_special_tokens = True
        if tokenizer.id_to_token(PAD_ID) != PAD or tokenizer.id_to_token(MASK_ID) != MASK:
            raise ValueError(f"a word-piece vocabulary gives {PAD} the id 0 and {MASK} the id 1")
        self._tokenizer = tokenizer

    @classmethod
    def from_texts(cls, texts: Iterable[str], *, n_pieces: int) -> "BpeVocabulary":
        """Train on a corpus. Deterministic."""
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        if n_pieces < len(alphabet) + 2:
            raise ValueError(f"{n_pieces} pieces: at least {len(alphabet) + 2} are needed")
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
        tokenizer.decoder = decoders.ByteLevel()
        trainer = trainers.BpeTrainer(
            vocab_size=n_pieces,
            special_tokens=[PAD, MASK],
            initial_alphabet=sorted(alphabet),
            show_progress=False,
        )
        tokenizer.train_from_iterator(texts, trainer)
        return cls(tokenizer)

    @property
    def size(self) -> int:
        return self._tokenizer.get_vocab_size()

    def encode(self, text: str) -> list[int]:
        refuse_special(text)
        return self._tokenizer.encode(text, add_special_tokens=False).ids

    def decode(self, ids: Iterable[int]) -> str:
        kept = [i for i in ids if i not in (PAD_ID, MASK_ID)]
        spelt = (bytes_of(self._piece(i)) for i in kept)
        return legible_bytes(self._tokenizer.decode(kept), spelt).removeprefix(" ")

    def label(self, token_id: int) -> str:
        return self.labels([token_id])[0]

    def labels(self, ids: Sequence[int]) -> list[str]:
        labels: list[str] = []
        for is_control, run in groupby(ids, key=lambda i: i in (PAD_ID, MASK_ID)):
            if is_control:
                labels += [(PAD, MASK)[i] for i in run]
            else:
                labels += piece_labels([bytes_of(self._piece(i)) for i in run])
        return labels

    def word_starts(self, ids: Sequence[int]) -> list[bool]:
        # Bytes, not labels: "Ō" is cut inside a character, and "·" may be a typed dot.
        pieces = [self._piece(i).translate(_BYTE_SPACES) for i in ids]
        last = ["", *(piece[-1:] for piece in pieces)]
        return [_starts_word(b, p[:1]) for b, p in zip(last, pieces, strict=False)]

    def special(self, ids: Sequence[int]) -> list[bool]:
        return _are_control(ids)

    def positions(self, text: str, span: tuple[int, int]) -> tuple[int, ...]:
        return _positions(self, text, span)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "tokenizer": json.loads(self._tokenizer.to_str())}

    def _piece(self, token_id: int) -> str:
        return self._tokenizer.id_to_token(token_id) or ""


def pieces_from_dict(data: dict[str, Any]) -> BpeVocabulary:
    """Word pieces from their tokenizer's file. Raises ValueError for what was not written here."""
    if extra := [name for name in _NOT_OURS if data.get(name) is not None]:
        raise ValueError(f"the word pieces ask for {extra[0]}; no vocabulary written here has that")
    try:
        tokenizer = Tokenizer.from_str(json.dumps(data))
    except Exception as error:  # noqa: BLE001 - tokenizers raises nothing narrower
        raise ValueError(f"the word pieces cannot be read: {error}") from None
    ids = sorted(tokenizer.get_vocab().values())
    if ids != list(range(len(ids))):
        raise ValueError(
            f"{len(ids):,} word pieces have ids up to {ids[-1]:,}; 0 to {len(ids) - 1:,} are "
            "needed, each once"
        )
    return BpeVocabulary(tokenizer)


def refuse_special(text: str) -> None:
    """Raise ValueError if a text holds a control character of the training format."""
    for position, character in enumerate(text):
        if character in (PAD, MASK):
            raise ValueError(
                f"position {position}: {describe_character(character)} is a control character "
                "of the training format and cannot be typed"
            )


def _are_control(ids: Sequence[int]) -> list[bool]:
    return [token in (PAD_ID, MASK_ID) for token in ids]


def _positions(
    vocabulary: CharVocabulary | BpeVocabulary, text: str, span: tuple[int, int]
) -> tuple[int, ...]:
    """Counted from the end: a word has the same pieces alone as after a space."""
    end = len(vocabulary.encode(text[: span[1]]))
    return tuple(range(end - len(vocabulary.encode(text[slice(*span)])), end))


def _starts_word(before: str, character: str) -> bool:
    """A word begins at a space; marks that end a part of the prompt stand alone."""
    standing_alone = {"?", PAD, MASK}
    return (
        not before or character.isspace() or character in standing_alone or before in standing_alone
    )
