"""Pieces that hold only some bytes of a character say which; joined, they are whole again."""

import pytest
from tokenizers import pre_tokenizers

from core.data.byte_pieces import bytes_of, joined, legible_bytes, piece_labels


def byte_by_byte(text: str) -> list[bytes]:
    return [bytes([byte]) for byte in text.encode()]


def test_each_byte_says_which_of_its_character_it_is() -> None:
    assert piece_labels(byte_by_byte("aÁ")) == ["a", "‹Á 1/2›", "‹Á 2/2›"]
    assert piece_labels(byte_by_byte("ạ")) == ["‹ạ 1/3›", "‹ạ 2/3›", "‹ạ 3/3›"]


def test_a_piece_may_hold_a_space_or_letters_beside_its_bytes() -> None:
    assert piece_labels([b" \xc3", b"\x81gn", b"es"]) == ["·‹Á 1/2›", "‹Á 2/2›gn", "es"]
    assert piece_labels([b"\xe1\xba", b"\xa1o"]) == ["‹ạ 1–2/3›", "‹ạ 3/3›o"]
    assert piece_labels([b"\xc3\x81"]) == ["Á"]


def test_bytes_of_no_character_say_their_value() -> None:
    assert piece_labels([b"\xc3"]) == ["‹byte 0xC3›"]
    assert piece_labels([b" \xe1\xba", b"x"]) == ["·‹byte 0xE1›‹byte 0xBA›", "x"]
    assert piece_labels([b"\x81", "Á".encode()]) == ["‹byte 0x81›", "Á"]
    assert piece_labels([b"\xc3", b"a"]) == ["‹byte 0xC3›", "a"]


def test_a_replacement_character_that_was_typed_is_a_character() -> None:
    assert piece_labels(["\ufffd".encode()]) == ["\ufffd"]


def test_an_invisible_character_is_its_code_point_in_each_part() -> None:
    assert piece_labels([b"\xe2\x80", b"\xae"]) == ["‹U+202E 1–2/3›", "‹U+202E 3/3›"]


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("Ágnes", "Ágnes"),
        ("ÁÁ", "ÁÁ"),
        ("Ōe Łódź", "Ōe·Łódź"),
        ("‹Á 1/2›", "‹Á·1/2›"),
        ("\u202eạ\u202e", "‹U+202E›ạ‹U+202E›"),
        ("😀ж", "😀ж"),
    ],
)
def test_joined_labels_have_whole_characters(text: str, whole: str) -> None:
    assert joined(piece_labels(byte_by_byte(text))) == whole
    two = [text.encode()[i : i + 2] for i in range(0, len(text.encode()), 2)]
    assert joined(piece_labels(two)) == whole


def test_a_character_that_is_not_all_there_is_not_joined() -> None:
    assert joined(["‹Á 1/2›", "x"]) == "‹Á 1/2›x"
    assert joined(piece_labels([b"\xc3", b"gnes"])) == "‹byte 0xC3›gnes"


def test_only_what_a_tokenizer_could_not_decode_is_named() -> None:
    assert legible_bytes("Ágnes", []) == "Ágnes"
    assert legible_bytes("a \ufffd", [b"a", b" \xc3"]) == "a ‹byte 0xC3›"
    assert legible_bytes("\ufffd", ["\ufffd".encode()]) == "\ufffd"
    assert legible_bytes("a\ufffd", [b" a", b"\x81"]) == "a‹byte 0x81›"
    assert legible_bytes(" a\ufffd", [b" a", b"\x81"]) == " a‹byte 0x81›"


def test_a_piece_spells_bytes_as_byte_level_vocabularies_do() -> None:
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    assert sorted(bytes_of(letter) for letter in alphabet) == [bytes([b]) for b in range(256)]
    assert bytes_of("ĠÃ") == b" \xc3"
    assert bytes_of("▁x") == "▁x".encode()  # no letter of the alphabet is taken as it is
