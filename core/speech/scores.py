"""What is measured of recognition: error rates, three similarities, and what they say of no model.

A pair is (reference, heard), both plain texts. Rates are over all pairs, Σ edits / Σ lengths; the
similarities are means over pairs, as the package textdistance computes each over characters.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from core.intervals import Rate, grouped_rate, wilson_interval
from core.speech.distances import Span, damerau_levenshtein, levenshtein, numbered, split_errors

Texts: TypeAlias = Sequence[tuple[str, str]]
Groups: TypeAlias = Sequence[Hashable]
Means: TypeAlias = NDArray[np.float64]

SEED = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """All six of some pairs, without intervals."""

    character_error: float
    word_error: float
    exact: float
    jaccard: float
    cosine: float
    damerau_levenshtein: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Baselines:
    """What the scores are where nobody listens.

    `unrelated`: another one of the sentences, drawn. `fixed`: `sentence` for all of them, the one
    whose mean Jaccard similarity is largest, so that none would flatter that measure more.
    `shuffled`: the right letters and spaces in random order.
    """

    unrelated: Scores
    fixed: Scores
    shuffled: Scores
    sentence: str


def character_error(pairs: Texts, groups: Groups | None = None, *, seed: int = SEED) -> Rate:
    """Edits of letters and spaces to one of the references; above 1 where more is heard than said.

    The interval draws groups, or pairs where there are none. Raises ValueError for pairs without a
    letter, and for fewer than two groups.
    """
    lengths = [len(reference) for reference, _ in pairs]
    return _rate(levenshtein(pairs).tolist(), lengths, groups, seed)


def word_error(pairs: Texts, groups: Groups | None = None, *, seed: int = SEED) -> Rate:
    """The same over words."""
    words = [(reference.split(), heard.split()) for reference, heard in pairs]
    lengths = [len(reference) for reference, _ in words]
    return _rate(levenshtein(words).tolist(), lengths, groups, seed)


def exact(pairs: Texts, groups: Groups | None = None, *, seed: int = SEED) -> Rate:
    """The share of sentences that were heard letter by letter.

    Where none or all are, no draw differs from another: the interval is Wilson's, of as many as
    there are groups.
    """
    right = [reference == heard for reference, heard in pairs]
    found = _rate(right, [1] * len(pairs), groups, seed)
    if found.low < found.high:
        return found
    n = len(pairs if groups is None else set(groups))
    low, high = wilson_interval(round(found.value * n), n)
    return Rate(value=found.value, low=low, high=high)


def split_error(pairs: Texts, spans: Sequence[Span]) -> tuple[float, float]:
    """Error rates of the characters inside and outside of each reference's span.

    Raises ValueError where either has none.
    """
    inside, outside = split_errors(pairs, spans)
    n_inside = sum(end - start for start, end in spans)
    n_outside = sum(len(reference) for reference, _ in pairs) - n_inside
    if not n_inside or not n_outside:
        raise ValueError(f"{n_inside} letters inside of spans, {n_outside} outside: none may lack")
    return float(inside.sum() / n_inside), float(outside.sum() / n_outside)


def jaccard(pairs: Texts) -> Means:
    """|A ∩ B| / |A ∪ B| of the multisets of characters; 1 of two empty texts."""
    return _jaccard(*_bags(pairs))


def cosine(pairs: Texts) -> Means:
    """|A ∩ B| / √(|A| |B|) of the multisets of characters; 1 of two empty texts.

    It is what textdistance calls so: Ochiai's coefficient, not the angle between two counts.
    """
    given, heard = _bags(pairs)
    sizes = given.sum(1) * heard.sum(1)
    shared, sizes = np.minimum(given, heard).sum(1), given.sum(1) * heard.sum(1)
    both_empty = given.sum(1) + heard.sum(1) == 0
    return np.where(both_empty, 1.0, shared / np.sqrt(np.maximum(sizes, 1)))


def damerau_levenshtein_similarity(pairs: Texts) -> Means:
    """1 − d / max(lengths) with the restricted distance; 1 of two empty texts."""
    longest = np.array([max(len(reference), len(heard), 1) for reference, heard in pairs])
    return 1 - damerau_levenshtein(pairs) / longest


def scores(pairs: Texts) -> Scores:
    """All six."""
    words = [(reference.split(), heard.split()) for reference, heard in pairs]
    n_letters = sum(len(reference) for reference, _ in pairs)
    n_words = sum(len(reference) for reference, _ in words)
    _refuse_nothing(n_words)
    return Scores(
        character_error=float(levenshtein(pairs).sum() / n_letters),
        word_error=float(levenshtein(words).sum() / n_words),
        exact=sum(reference == heard for reference, heard in pairs) / len(pairs),
        jaccard=float(jaccard(pairs).mean()),
        cosine=float(cosine(pairs).mean()),
        damerau_levenshtein=float(damerau_levenshtein_similarity(pairs).mean()),
    )


def baselines(references: Sequence[str], seed: int = SEED) -> Baselines:
    """Scores of what needs no recogniser. Raises ValueError for fewer than two different texts."""
    texts = list(dict.fromkeys(references))
    if len(texts) < 2:
        raise ValueError(f"{len(texts)} different sentences; baselines need at least 2")
    rng = np.random.default_rng(seed)
    order = _permuted(texts, rng)
    other = dict(zip(order, order[1:] + order[:1], strict=True))
    sentence = _most_alike(references, texts)
    return Baselines(
        unrelated=scores([(text, other[text]) for text in references]),
        fixed=scores([(text, sentence) for text in references]),
        shuffled=scores([(text, "".join(_permuted(text, rng))) for text in references]),
        sentence=sentence,
    )


def _permuted(items: Sequence[str], rng: np.random.Generator) -> list[str]:
    order: list[int] = rng.permutation(len(items)).tolist()
    return [items[i] for i in order]


def _most_alike(references: Sequence[str], texts: Sequence[str]) -> str:
    """The text whose mean Jaccard similarity to all references is largest; the first of equals."""
    bags, _ = _bags([(text, "") for text in references])
    means = [float(_jaccard(bags, bags[[references.index(text)]]).mean()) for text in texts]
    return texts[int(np.argmax(means))]


def _rate(parts: Sequence[float], wholes: Sequence[int], groups: Groups | None, seed: int) -> Rate:
    _refuse_nothing(sum(wholes))
    return grouped_rate(parts, wholes, range(len(wholes)) if groups is None else groups, seed=seed)


def _refuse_nothing(said: int) -> None:
    if not said:
        raise ValueError("nothing is said in these sentences; at least a letter is needed")


def _jaccard(given: NDArray[np.int64], heard: NDArray[np.int64]) -> Means:
    shared = np.minimum(given, heard).sum(1)
    both = np.maximum(given, heard).sum(1)
    return np.where(both == 0, 1.0, shared / np.maximum(both, 1))


def _bags(pairs: Texts) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How often each character stands in the texts: two arrays (pairs, characters)."""
    numbers: dict[str, int] = {}
    given, _ = numbered([reference for reference, _ in pairs], numbers, -1)
    heard, _ = numbered([text for _, text in pairs], numbers, -1)
    return _counts(given, len(numbers)), _counts(heard, len(numbers))


def _counts(rows: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    counts = np.zeros((len(rows), n + 1), np.int64)
    np.add.at(counts, (np.arange(len(rows))[:, None], rows), 1)  # what is beyond a text is -1
    return counts[:, :n]
