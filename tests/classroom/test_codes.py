"""Codes and tokens: what they look like, what is kept of them."""

import pytest

from core.classroom.codes import (
    LETTERS,
    check_code,
    fits,
    hashed_pupil,
    is_token,
    kept_of,
    key_of,
    new_code,
    new_pupil,
    new_teacher_code,
    tidy,
)


def test_codes_have_no_letters_that_are_taken_for_others_and_no_vowels():
    codes = [new_code() for _ in range(200)]
    assert {*"".join(codes)} <= {*LETTERS}
    assert not {*LETTERS} & {*"AEIOULQV0123456789"}
    assert {len(code) for code in codes} == {6}
    assert len({*codes}) > 190


def test_a_code_is_forgiven_its_spelling_and_nothing_else():
    assert check_code(" bcd-fgh ") == "BCDFGH"
    for wrong in ("", "BCDFG", "BCDFGHJ", "ABCDFG", "BCDFG1", "BCDFG'"):
        with pytest.raises(ValueError, match="is no code of a class: 6 letters"):
            check_code(wrong)


def test_a_teachers_code_is_longer_and_read_in_groups():
    code = new_teacher_code()
    assert [len(group) for group in code.split("-")] == [4, 4, 4]
    assert len(tidy(code.lower())) == 12


def test_a_key_fits_its_own_salt_alone_and_what_is_kept_opens_nothing():
    key = key_of("bcdf-ghjk-mnpr", b"salt")
    assert fits(key, kept_of(key))
    assert key == key_of("BCDF GHJK MNPR", b"salt")
    assert not fits(key_of("bcdf-ghjk-mnpr", b"other"), kept_of(key))
    assert not fits(kept_of(key), kept_of(key))


def test_a_token_is_random_and_only_its_hash_is_kept():
    token = new_pupil()
    assert is_token(token)
    assert token != new_pupil()
    assert token not in hashed_pupil(token)
    for wrong in ("", "short", token + "x", token[:-1] + "/"):
        with pytest.raises(ValueError, match="holds no token of a pupil"):
            hashed_pupil(wrong)
