"""What a tokenizer of transformers decodes: whole characters stay, cut ones name their bytes."""

from typing import Any

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from core.data.outside_vocabulary import OutsideVocabulary

SMILE = "😀".encode()  # F0 9F 98 80
END = "<|end|>"


@pytest.fixture(scope="module")
def byte_level() -> OutsideVocabulary:
    """A byte a token, spelt in GPT-2's alphabet, and one that ends a text."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    bare = Tokenizer(models.BPE({letter: i for i, letter in enumerate(alphabet)}, []))
    bare.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    bare.decoder = decoders.ByteLevel()
    bare.add_special_tokens([END])
    return OutsideVocabulary(PreTrainedTokenizerFast(tokenizer_object=bare, eos_token=END))


@pytest.fixture(scope="module")
def fallback() -> OutsideVocabulary:
    """SentencePiece's way: pieces with ▁ for a space, and <0xF0> for a byte."""
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)]
    ids = {piece: i for i, piece in enumerate(["<unk>", "▁a", "▁b", "�", *bytes_])}
    bare = Tokenizer(models.BPE(ids, [], unk_token="<unk>", byte_fallback=True))
    parts: list[Any] = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    bare.decoder = decoders.Sequence([*parts, decoders.Strip(" ", 1, 0)])
    return OutsideVocabulary(PreTrainedTokenizerFast(tokenizer_object=bare, unk_token="<unk>"))


def test_an_emoji_over_several_tokens_stays_whole(byte_level: OutsideVocabulary):
    ids = byte_level.encode("a 😀!")
    assert len(ids) == 7
    assert byte_level.decode(ids) == "a 😀!"


@pytest.mark.parametrize("n_bytes", [1, 2, 3])
def test_an_emoji_that_is_cut_is_named_as_its_labels_name_it(
    byte_level: OutsideVocabulary, n_bytes: int
):
    ids = byte_level.encode("a 😀")[: 2 + n_bytes]
    said = byte_level.decode([*ids, byte_level.tokenizer.eos_token_id])
    assert said == "a " + "".join(f"‹byte 0x{byte:02X}›" for byte in SMILE[:n_bytes])
    assert said == "".join(byte_level.labels(ids)).replace("·", " ")


def test_bytes_between_whole_characters_are_named_there(byte_level: OutsideVocabulary):
    whole, cut = byte_level.encode(" 😀"), byte_level.encode("😀")[:2]
    assert byte_level.decode([*whole, *cut, *whole]) == " 😀‹byte 0xF0›‹byte 0x9F› 😀"


def test_a_replacement_character_that_was_written_is_one(
    byte_level: OutsideVocabulary, fallback: OutsideVocabulary
):
    assert byte_level.decode(byte_level.encode("x�y")) == "x�y"
    assert fallback.decode([1, 3]) == "a�"


def test_bytes_beside_pieces_are_named_without_the_space_that_begins_a_text(
    fallback: OutsideVocabulary,
):
    smile = [4 + byte for byte in SMILE]
    assert fallback.decode([1, *smile, 2]) == "a😀 b"
    assert fallback.decode([1, *smile[:2], 2]) == "a‹byte 0xF0›‹byte 0x9F› b"
