"""Parts of names, and names made of them."""

from random import Random

import pytest

from core.knowledge.names import blended, first_word, one_letter_changed, parts_of


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("Ada Lovelace", ("Ada", "Lovelace")),
        ("Ludwig Mies van der Rohe", ("Ludwig Mies", "van der Rohe")),
        ("Antonio José de Sucre", ("Antonio José", "de Sucre")),
        ("W. E. B. Du Bois", ("W. E. B.", "Du Bois")),
        ("de Sucre", ("de", "Sucre")),
        ("Plato", None),
        ("Mary, Queen of Scots", None),
        ("Abdullah II of Jordan", None),
        ("Pope Francis", None),
        ("John Forbes Nash Jr.", None),
        ("14th Dalai Lama", None),
    ],
)
def test_a_surname_is_the_last_word_with_its_particles(name: str, parts: tuple[str, str] | None):
    assert parts_of(name) == parts


def test_a_first_word_is_no_initial():
    assert first_word("Ada Lovelace") == "Ada"
    assert first_word("J. R. R. Tolkien") is None


def test_a_blend_is_the_beginning_of_one_and_the_end_of_the_other():
    made = {blended("Bello", "Castro", Random(seed)) for seed in range(20)}
    assert made == {"Bestro"}
    for seed in range(30):
        name = blended("Lovelace", "Turing", Random(seed))
        assert name is not None
        assert 4 <= len(name) <= 10
        assert name[0] == "L"
        assert name.endswith(("ring", "ng"))
    assert blended("McCartney", "Turing", Random(0)) is None
    assert blended("Ng", "Turing", Random(0)) is None


def test_one_letter_is_another_of_its_kind_and_never_the_first_of_a_word():
    for seed in range(40):
        name = one_letter_changed("Ada Lovelace", "abcdefghijklmnopqrstuvwxyz", Random(seed))
        assert name is not None
        (at,) = [i for i, (a, b) in enumerate(zip(name, "Ada Lovelace", strict=True)) if a != b]
        assert at not in (0, 4)
        vowels = [letter in "aeiouy" for letter in (name[at], "Ada Lovelace"[at])]
        assert vowels[0] == vowels[1]
    assert one_letter_changed("ÉÉ", "abc", Random(0)) is None
    assert one_letter_changed("Ada", "a", Random(0)) is None
