"""Shares of right answers that need no model: constant, nearest name, a lookup in the text."""

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from core.data.people import Question


def constant_baseline(known: Sequence[Question], asked: Sequence[Question]) -> tuple[str, float]:
    """(place, accuracy) of always answering the place most frequent among the known answers."""
    place = constant_answer(known)
    return place, _share(asked, [place] * len(asked))


def constant_answer(known: Sequence[Question]) -> str:
    """The place most frequent among the known answers."""
    return str(Counter(question.answer for question in known).most_common(1)[0][0])


def nearest_name_baseline(known: Sequence[Question], asked: Sequence[Question]) -> float:
    """Accuracy of answering with the birthplace of the known person whose name is most similar.

    Similarity is the Jaccard index of letter trigrams of the folded names; ties go to the
    earlier person.
    """
    nearest = nearest_names([q.name for q in known], [q.name for q in asked])
    return _share(asked, [None if i is None else known[i].answer for i in nearest])


def nearest_names(
    known: Sequence[str], names: Sequence[str], others_than: Sequence[str] | None = None
) -> list[int | None]:
    """Which of the known names is most similar to each name, other than the one named beside it.

    Similarity as in `nearest_name_baseline`. None where no other is known. Cost: for each name the
    known names that share each of its trigrams.
    """
    grams = [_trigrams(name) for name in known]
    sizes = np.array([len(found) for found in grams])
    having: dict[str, list[int]] = defaultdict(list)
    for index, found in enumerate(grams):
        for gram in found:
            having[gram].append(index)
    places: dict[str, list[int]] = defaultdict(list)
    for index, name in enumerate(known):
        places[name].append(index)
    nearest: list[int | None] = []
    for name, other in zip(names, others_than or [""] * len(names), strict=True):
        own = _trigrams(name)
        sharing = [index for gram in own for index in having.get(gram, ())]
        shared = np.bincount(np.array(sharing, dtype=np.int64), minlength=len(known))
        similar = shared / (sizes + len(own) - shared)
        similar[places.get(other, [])] = -1
        best = int(similar.argmax()) if len(known) else -1
        nearest.append(best if best >= 0 and similar[best] >= 0 else None)
    return nearest


def lookup_baseline(
    known: Sequence[Question], asked: Sequence[Question], texts: Sequence[str]
) -> float:
    """Accuracy of answering with the first place known from training that stands in the text.

    `texts` holds what the corpus says about each person asked for: one sentence in the course's
    files, several lines in order in the notable corpus. A place stands there letter by letter, even
    inside a longer word; of places that begin together the longest counts, and a place that is a
    word of the person's own name ("Erna Paris") is passed over. Cost: |places| searches a question.
    """
    places = {question.answer for question in known if question.answer}
    answers = [
        _first_place(text, places - {*question.name.split()})
        for question, text in zip(asked, texts, strict=True)
    ]
    return _share(asked, answers)


def ceiling(asked: Sequence[Question], texts: Sequence[str]) -> float:
    """Share of answers that stand in the text about the person, as `lookup_baseline` reads it.

    What does not stand there cannot be learned from the corpus, only guessed. Where the text has
    several lines (the notable corpus), any of them will do.
    """
    pairs = zip(asked, texts, strict=True)
    return sum(q.answer is not None and q.answer in text for q, text in pairs) / len(asked)


def _first_place(text: str, places: set[str]) -> str | None:
    found = [(text.index(place), -len(place), place) for place in places if place in text]
    return min(found)[2] if found else None


def _share(asked: Sequence[Question], answers: Sequence[str | None]) -> float:
    right = sum(question.answer == a for question, a in zip(asked, answers, strict=True))
    return right / len(asked)


def _trigrams(name: str) -> frozenset[str]:
    padded = f"  {name.casefold()} "
    return frozenset(padded[i : i + 3] for i in range(len(padded) - 2))
