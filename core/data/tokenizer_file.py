"""A tokenizer.json from anywhere: how its text becomes pieces, and what text each piece stands for.

Only the parts that cut a text are taken: model, normalizer, pre-tokenizer, added tokens. What would
put tokens in front or behind, fill up or cut off is left out, and what could blow a text up or draw
lots (BPE dropout) is refused or left out. What a piece stands for is read from the file itself,
byte by byte, and never from a decoder:

    byte-level   every letter is a byte (GPT-2)
    ▁            a space, and <0xE2> a byte (SentencePiece)
    ##           goes on with a word; all else begins one (WordPiece)
"""

import json
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

from tokenizers import Tokenizer

from core.data.byte_pieces import bytes_of

MOST_PREFIX = 8
MOST_RULE = 500
MODELS = ("BPE", "Unigram", "WordLevel", "WordPiece")
NORMALIZERS = (
    "BertNormalizer Lowercase NFC NFD NFKC NFKD Nmt Prepend Replace Sequence Strip StripAccents"
).split()
PRE_TOKENIZERS = (
    "BertPreTokenizer ByteLevel Digits Metaspace Punctuation Sequence Split Whitespace "
    "WhitespaceSplit"
).split()
# Special tokens with which a text ends, by the names that are in use.
END_NAMES = ("<|endoftext|>", "<|end_of_text|>", "<|im_end|>", "<|eot_id|>", "</s>", "<eos>")
_TAKEN = ("version", "added_tokens", "normalizer", "pre_tokenizer", "decoder", "model")
_REPEATED = re.compile(r"\)[+*{]")
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """What text, in bytes, each id stands for; `special` are those that no text becomes.

    A tokenizer that `may_drop` leaves out characters that it has no piece for, without a word.
    """

    texts: dict[int, bytes]
    special: dict[int, str]
    end_ids: frozenset[int]
    spelling: str
    may_drop: bool


def tokenizer_from_dict(data: dict[str, Any]) -> tuple[dict[str, Any], Tokenizer]:
    """What is taken of a tokenizer.json, and the tokenizer. Raises ValueError in one sentence."""
    taken = {name: data[name] for name in _TAKEN if name in data}
    model = _object(taken.get("model"), "model")
    if model.get("type", "BPE") not in MODELS:
        raise ValueError(f"the tokenizer's model is {model.get('type')!r:.40}; allowed: {MODELS}")
    taken["model"] = {name: value for name, value in model.items() if name != "dropout"}
    for part in _steps(taken.get("normalizer"), "normalizer", NORMALIZERS):
        _refuse_growth(part)
    for part in _steps(taken.get("pre_tokenizer"), "pre_tokenizer", PRE_TOKENIZERS):
        _refuse_rule(part)
    with in_one_sentence("the tokenizer cannot be read"):
        tokenizer = Tokenizer.from_str(json.dumps(taken))
    tokenizer.encode_special_tokens = True  # typed text never becomes a control token
    return taken, tokenizer


@contextmanager
def in_one_sentence(what: str) -> Generator[None, None, None]:
    """Whatever tokenizers raises becomes a ValueError: it has no class of its own, and where its
    Rust code panics it is not even an Exception.
    """
    try:
        yield
    except (KeyboardInterrupt, GeneratorExit, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001 - see above
        said = " ".join(str(error).split())
        raise ValueError(f"{what}: {said:.100}") from None


def read_pieces(data: dict[str, Any], tokenizer: Tokenizer) -> Pieces:
    """The texts of all pieces. Raises ValueError for a tokenizer without any."""
    added = tokenizer.get_added_tokens_decoder()
    vocabulary = tokenizer.get_vocab(with_added_tokens=False)
    if not vocabulary and not added:
        raise ValueError("the tokenizer has no pieces")
    spelling = _spelling(data)
    texts = {index: _bytes(piece, spelling) for piece, index in vocabulary.items()}
    texts |= {index: token.content.encode() for index, token in added.items()}
    special = {index: token.content for index, token in added.items() if token.special}
    ends = frozenset(index for index, content in special.items() if content in END_NAMES)
    return Pieces(
        texts=texts,
        special=special,
        end_ids=ends,
        spelling=spelling,
        may_drop=data["model"].get("type", "BPE") == "BPE",
    )


def _spelling(data: dict[str, Any]) -> str:
    """How pieces are spelt, by the kinds of what stands around the model."""
    around = [data.get(name) for name in ("pre_tokenizer", "decoder", "normalizer")]
    kinds = {part.get("type") for entry in around for part in _parts(entry)}
    if "ByteLevel" in kinds:
        return "byte-level"
    if kinds & {"Metaspace", "ByteFallback", "Prepend"}:
        return "▁"
    return "##" if data["model"].get("type") == "WordPiece" else ""


def _bytes(piece: str, spelling: str) -> bytes:
    if spelling == "byte-level":
        return bytes_of(piece)
    if spelling == "▁":
        byte = _BYTE.fullmatch(piece)
        return bytes.fromhex(byte[1]) if byte else piece.replace("▁", " ").encode()
    if spelling == "##":
        return (piece[2:] if piece.startswith("##") else f" {piece}").encode()
    return piece.encode()


def _steps(entry: object, name: str, allowed: Sequence[str]) -> Iterator[dict[str, Any]]:
    for part in _parts(entry):
        if part.get("type") not in allowed:
            raise ValueError(
                f"the tokenizer's {name} has a {part.get('type')!r:.40}; allowed: "
                f"{', '.join(allowed)}"
            )
        yield part


def _parts(entry: object) -> Iterator[dict[str, Any]]:
    """A part and the parts of a sequence; files are no deeper than core.reading lets through."""
    if entry is None:
        return
    part = _object(entry, "a part")
    yield part
    for name in ("normalizers", "pretokenizers", "decoders"):
        inner = part.get(name)
        for one in cast(list[object], inner) if isinstance(inner, list) else []:
            yield from _parts(one)


def _object(value: object, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{name} of the tokenizer is no object")
    return cast(dict[str, Any], value)


def _refuse_growth(part: dict[str, Any]) -> None:
    """Raise ValueError for a step that would make a text many times as long."""
    if part["type"] == "Prepend" and len(str(part.get("prepend", ""))) > MOST_PREFIX:
        raise ValueError(f"the tokenizer prepends more than {MOST_PREFIX} characters")
    if part["type"] != "Replace":
        return
    pattern = part.get("pattern")
    text = cast(dict[str, Any], pattern).get("String") if isinstance(pattern, dict) else None
    content = part.get("content")
    if not isinstance(text, str) or not isinstance(content, str):
        grows = True
    else:
        grows = not text or len(content) > len(text)
    if grows:
        raise ValueError(
            "the tokenizer replaces a pattern by something longer, or by a rule: only a text by "
            "one that is no longer is read"
        )


def _refuse_rule(part: dict[str, Any]) -> None:
    """Raise ValueError for a rule that could search for ever: a group of it that is repeated."""
    pattern = part.get("pattern")
    rule = cast(dict[str, Any], pattern).get("Regex") if isinstance(pattern, dict) else None
    if rule is None:
        return
    if not isinstance(rule, str) or len(rule) > MOST_RULE or _REPEATED.search(rule):
        raise ValueError(
            f"the tokenizer cuts by a rule that repeats a group or has more than {MOST_RULE} "
            "characters"
        )
