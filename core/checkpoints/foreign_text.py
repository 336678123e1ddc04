"""What a model from elsewhere reads and writes: characters, pieces, or bare token ids.

A file beside the model says which, by its first bytes and its name:

    meta.pkl          of nanoGPT's character models: {"stoi": …, "itos": …}, read but not run
    tokenizer.json    see core.data.tokenizer_file
    anything else     the text of a character model, whose sorted characters are its vocabulary
"""

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from core.checkpoints.pickled import MOST_PICKLE_BYTES, Doors, read_pickle
from core.checkpoints.store import CheckpointError
from core.data.foreign_vocabulary import (
    ForeignCharacters,
    TokenIds,
    TokenizerVocabulary,
    typing_note,
)
from core.data.vocabulary import Vocabulary
from core.files import read_json
from core.reading import MOST_TEXT_BYTES, read_bytes

_PICKLE = b"\x80"


def vocabulary_of(path: Path | None, size: int) -> tuple[Vocabulary, list[str]]:
    """The vocabulary of a model with `size` entries, and notes about it.

    Raises ValueError naming the file and what is wrong with it.
    """
    if path is None:
        ids = TokenIds(size=size)
        return ids, [f"{typing_note(ids)} (--tokenizer names a file that says what they stand for)"]
    try:
        return _read(path, size)
    except ValueError as error:
        said = str(error)
        raise CheckpointError(said if said.startswith(str(path)) else f"{path}: {said}") from None


def _read(path: Path, size: int) -> tuple[Vocabulary, list[str]]:
    if path.suffix == ".json":
        pieces = TokenizerVocabulary(read_json(path), size=size)
        return pieces, _filled(size, pieces.n_pieces)
    data = read_bytes(path, MOST_TEXT_BYTES)
    if path.suffix == ".pkl" or data.startswith(_PICKLE):
        characters = characters_of_meta(data)
        return ForeignCharacters(characters, size=size), _filled(size, len(characters))
    return _of_text(data, size)


def _of_text(data: bytes, size: int) -> tuple[Vocabulary, list[str]]:
    """As nanoGPT and minGPT read it: every character as it stands there, one mark a line."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise CheckpointError(f"byte {error.start:,} is not UTF-8: no text of a model") from None
    characters = "".join(sorted(set(text.replace("\r\n", "\n").replace("\r", "\n"))))
    if len(characters) != size:
        raise CheckpointError(
            f"the model knows {size:,} tokens, but the text has {len(characters):,} characters: it "
            "is not the text that the model was trained on"
        )
    note = f"of the text only the number of characters, {size}, could be compared with the file"
    return ForeignCharacters(characters, size=size), [note]


def characters_of_meta(data: bytes) -> str:
    """The characters by id. Only dictionaries, texts and whole numbers are accepted; nothing is
    run. Raises CheckpointError for anything else.
    """
    if len(data) > MOST_PICKLE_BYTES:
        raise CheckpointError(f"{len(data):,} bytes; at most {MOST_PICKLE_BYTES:,} are read")
    meta = _dictionary(read_pickle(data, Doors(expected="dict, str and int")), "the pickle")
    for key, value in meta.items():
        if type(value) not in (dict, str, int):
            raise CheckpointError(f"its {key!r:.40} is a {type(value).__name__}, not dict or int")
    stoi = _dictionary(meta.get("stoi"), "its 'stoi'")
    characters: dict[int, str] = {}
    for text, index in stoi.items():
        if type(text) is not str or len(text) != 1 or type(index) is not int:
            raise CheckpointError("its 'stoi' gives something else than a number to a character")
        characters[index] = text
    if not characters or characters.keys() != set(range(len(stoi))):
        raise CheckpointError(f"its {len(stoi):,} characters do not have the ids from 0 on")
    if "itos" in meta and _dictionary(meta["itos"], "its 'itos'") != characters:
        raise CheckpointError("its 'stoi' and 'itos' do not say the same")
    if meta.get("vocab_size", len(stoi)) != len(stoi):
        raise CheckpointError(f"its 'vocab_size' is not the number of its {len(stoi):,} characters")
    return "".join(characters[index] for index in range(len(stoi)))


def _dictionary(value: object, name: str) -> Mapping[object, object]:
    if type(value) is not dict:
        raise CheckpointError(f"{name} is a {type(value).__name__}, not a dictionary")
    return cast(dict[object, object], value)


def _filled(size: int, n_known: int) -> list[str]:
    if size == n_known:
        return []
    said = f"the model has {size:,} entries, the tokenizer a text for {n_known:,}"
    return [f"{said}: the others are shown by their number"]
