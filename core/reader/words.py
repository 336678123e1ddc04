"""A sentence as a reader sees it: its words, where they stand, and what is told of each. No torch.

What a word is to the answers of the training is told without the pair that is read: else a reader
would learn to trust what it meets nowhere else.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

LONGEST = 160  # words that are read of a text
LONGEST_ANSWER = 6  # words
N_FEATURES = 9
N_ENDINGS = 2000
UNKNOWN = 1  # 0 pads
_WORD = re.compile(r"\w+|[^\w\s]")
_BORN = frozenset(("born", "b", "native", "raised", "hails"))
_FAR = 40  # words


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A person's text and, where it is known, the answer to be found in it."""

    name: str
    text: str
    answer: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A text in numbers: ids and endings (n,), features (n, N_FEATURES), where each word stands in
    the text, and every (first, last) word that the answer is.
    """

    text: str
    places: tuple[tuple[int, int], ...]
    ids: tuple[int, ...]
    endings: tuple[int, ...]
    features: tuple[tuple[float, ...], ...]
    answers: tuple[tuple[int, int], ...]

    def said(self, first: int, last: int) -> str:
        """The text from one word to another, letter by letter."""
        return self.text[self.places[first][0] : self.places[last][1]]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """What the training pairs hold: an id for each word that two texts have, how often an answer
    has a word, and how often each answer is given.
    """

    ids: dict[str, int]
    words: Counter[str]
    answers: Counter[str]

    @property
    def size(self) -> int:
        """How many ids there are, with those for padding and for words unknown."""
        return len(self.ids) + 2


@lru_cache(maxsize=100_000)
def words_of(text: str) -> tuple[str, ...]:
    """Words and marks, in order."""
    return tuple(_WORD.findall(text))


def lexicon_of(pairs: Sequence[Pair]) -> Lexicon:
    """Of training pairs, in their order."""
    told = [pair.answer for pair in pairs if pair.answer is not None]
    counts = Counter(word.lower() for pair in pairs for word in words_of(pair.text)[:LONGEST])
    common = [word for word, count in counts.items() if count > 1]
    return Lexicon(
        {word: number for number, word in enumerate(common, UNKNOWN + 1)},
        Counter(word for answer in told for word in {*words_of(answer)}),
        Counter(told),
    )


def sentence_of(pair: Pair, lexicon: Lexicon, *, is_known: bool) -> Sentence:
    """A pair in numbers. `is_known` says that it is one of the lexicon's own pairs, whose answer
    then does not count.
    """
    matches = [*_WORD.finditer(pair.text)][:LONGEST]
    words = [match[0] for match in matches]
    own = pair.answer if is_known else None
    return Sentence(
        text=pair.text,
        places=tuple(match.span() for match in matches),
        ids=tuple(lexicon.ids.get(word.lower(), UNKNOWN) for word in words),
        endings=tuple(map(_ending, words)),
        features=tuple(_features(words, pair.name, lexicon, own)),
        answers=() if pair.answer is None else tuple(_runs(words, pair.answer)),
    )


def _ending(word: str) -> int:
    """The last three letters as a number; the same on every machine."""
    return sum(ord(letter) * 31**place for place, letter in enumerate(word[-3:].lower())) % (
        N_ENDINGS
    )


def _runs(words: Sequence[str], answer: str) -> Iterable[tuple[int, int]]:
    """(first, last) of each place where the words of an answer stand."""
    wanted = [*words_of(answer)]
    for first in range(len(words) - len(wanted) + 1):
        if wanted and words[first : first + len(wanted)] == wanted:
            yield first, first + len(wanted) - 1


def _features(
    words: Sequence[str], name: str, lexicon: Lexicon, own: str | None
) -> Iterable[tuple[float, ...]]:
    named, known = {*words_of(name)}, _known_places(words, lexicon, own)
    mine = {*words_of(own)} if own is not None else set[str]()
    has_born, since = any(word.lower() in _BORN for word in words), _FAR
    for index, word in enumerate(words):
        yield (
            float(word[0].isupper()),
            float(word.isdigit()),
            float(not word.isalnum()),
            float(lexicon.words[word] > (word in mine)),
            float(known[index]),
            float(word in named),
            index / _FAR,
            min(since, _FAR) / (_FAR / 2),
            float(has_born),
        )
        since = 1 if word.lower() in _BORN else since + 1


def _known_places(words: Sequence[str], lexicon: Lexicon, own: str | None) -> list[bool]:
    """Whether each word stands inside an answer that another pair has."""
    known = [False] * len(words)
    for first in range(len(words)):
        for last in range(first, min(first + LONGEST_ANSWER, len(words))):
            # Answers hold spaces alone between words, but for marks, which stand close.
            text = _joined(words[first : last + 1])
            if lexicon.answers[text] > (text == own):
                known[first : last + 1] = [True] * (last + 1 - first)
    return known


def _joined(words: Sequence[str]) -> str:
    return re.sub(r" ([,.)])", r"\1", " ".join(words))
