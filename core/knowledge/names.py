"""Parts of names, and names made of them. Free of torch.

A name of two or more words has a surname: its last word with the particles before it ("van der
Rohe", "de Sucre"); what stands before is its first name, initials too. That is so by form alone:
of a Chinese name it may be the other way round. Names of one word, of rulers and with titles
("Mary, Queen of Scots", "Abdullah II of Jordan", "Pope Francis", "John Nash Jr.") have no parts.
"""

import re
import unicodedata
from random import Random

_PARTICLES = frozenset(
    "al bin bint da das de del della der di do dos du el ibn la le los ten ter van von".split()
)
_NO_PARTS = frozenset(
    "the of and y e i prince princess queen king pope emperor empress lady lord madam mother sir "
    "saint st. sri dr. mc mr. mrs. master don dom sultan shah".split()
)
_NUMERAL = re.compile(r"[IVX]+|.*[0-9,].*|[JS]r\.?")
SHORTEST, LONGEST = 4, 10  # letters of a surname that is made
_TRIES = 20
_VOWELS = "aeiouy"


def parts_of(name: str) -> tuple[str, str] | None:
    """(first name, surname), None for a name that has none."""
    words = name.split()
    if len(words) < 2 or any(_is_no_part(word) for word in words):
        return None
    start = len(words) - 1
    while start > 1 and words[start - 1].casefold() in _PARTICLES:
        start -= 1
    return " ".join(words[:start]), " ".join(words[start:])


def first_word(name: str) -> str | None:
    """A first name of one word, None where it is an initial or no word of letters alone."""
    word = name.split(maxsplit=1)[0]
    return word if _is_plain(word) else None


def blended(one: str, other: str, generator: Random) -> str | None:
    """The beginning of one word with the end of another: Be(llo) and (Ca)stro make Bestro.

    The first is cut behind a vowel and before a consonant, the second likewise, so that what meets
    can be said. None where nothing of a fitting length comes out, or one of the two words.
    """
    if not (_is_plain(one) and _is_plain(other)):
        return None
    heads = [one[:cut] for cut in _cuts(one) if cut >= 2]
    tails = [other[cut:] for cut in _cuts(other) if len(other) - cut >= 2]
    made = [
        head + tail
        for head in heads
        for tail in tails
        if SHORTEST <= len(head + tail) <= LONGEST and head + tail not in (one, other)
    ]
    return generator.choice(made) if made else None


def one_letter_changed(name: str, letters: str, generator: Random) -> str | None:
    """Another vowel for a vowel or another consonant for a consonant, never the first letter of a
    word; None for a name without such letters. `letters` are those that may be put in.
    """
    places = [
        index
        for index, letter in enumerate(name)
        if letter in letters and index and name[index - 1].isalpha()
    ]
    for _ in range(_TRIES if places else 0):
        at = generator.choice(places)
        kind = name[at] in _VOWELS
        others = [c for c in letters if (c in _VOWELS) == kind and c != name[at]]
        if others:
            return name[:at] + generator.choice(others) + name[at + 1 :]
    return None


def _is_no_part(word: str) -> bool:
    return word.casefold() in _NO_PARTS or bool(_NUMERAL.fullmatch(word))


def _is_plain(word: str) -> bool:
    """Letters alone, the first of them a capital, as Bello; not McCartney."""
    return len(word) > 2 and word.isalpha() and word[0].isupper() and word[1:].islower()


def _cuts(word: str) -> list[int]:
    """Where a vowel stands before a consonant."""
    vowel = [_is_vowel(letter) for letter in word]
    return [i for i in range(1, len(word)) if vowel[i - 1] and not vowel[i]]


def _is_vowel(letter: str) -> bool:
    return unicodedata.normalize("NFD", letter.casefold())[0] in _VOWELS
