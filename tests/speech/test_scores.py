import math
import random
from collections import Counter

import pytest

from core.data.biographies import biographies
from core.data.people import load_people
from core.paths import PEOPLE
from core.speech.scores import (
    baselines,
    character_error,
    cosine,
    damerau_levenshtein_similarity,
    exact,
    jaccard,
    scores,
    split_error,
    word_error,
)

PAIRS = [("where was mihai born", "where was mihei born"), ("he came", "he came"), ("no", "")]


@pytest.fixture(scope="module")
def sentences():
    lines = [line.text for line in biographies(load_people(PEOPLE), n_sentences=6, seed=0)]
    letters = [
        "".join(c if c.isascii() and c.isalpha() else " " for c in line.lower()) for line in lines
    ]
    return [" ".join(line.split()) for line in random.Random(0).sample(letters, 1500)]


def test_rates_are_edits_of_all_pairs_to_the_lengths_of_all_references():
    assert character_error(PAIRS).value == 3 / 29
    assert word_error(PAIRS).value == 2 / 7
    assert exact(PAIRS).value == 1 / 3


def test_more_heard_than_said_is_more_than_all_wrong():
    pairs = [("a", "b c d e"), ("b", "b")]
    assert character_error(pairs).value == 7 / 2
    assert word_error(pairs).value == 2


def test_scores_are_the_same_without_intervals():
    found = scores(PAIRS)
    assert found.character_error == character_error(PAIRS).value
    assert found.word_error == word_error(PAIRS).value
    assert found.exact == exact(PAIRS).value
    assert found.jaccard == pytest.approx(jaccard(PAIRS).mean())
    assert found.damerau_levenshtein == pytest.approx((1 - 1 / 20 + 1 + 0) / 3)


def test_what_is_asked_of_one_person_is_one_group():
    pairs = [("aaaa", "aaab")] * 40 + [("aaaa", "aaaa")] * 40
    alone, grouped = character_error(pairs), character_error(pairs, [*"ab"] * 20 + [*"cd"] * 20)
    assert alone.value == grouped.value == 1 / 8
    assert grouped.high - grouped.low > 2 * (alone.high - alone.low)


@pytest.mark.parametrize(("heard", "value"), [("ja", 1.0), ("jo", 0.0)])
def test_all_or_none_exact_have_the_wilson_interval_of_the_groups(heard, value):
    found = exact([("ja", heard)] * 30, [*"abc"] * 10)
    z2 = 1.96**2  # at the ends Wilson's other end is n / (n + z²), and z² / (n + z²)
    assert found.value == value
    assert found.low == pytest.approx(3 / (3 + z2) if value else 0)
    assert found.high == pytest.approx(1 if value else z2 / (3 + z2))


def test_names_and_the_rest_are_apart():
    pairs = [("was mihai born", "was mihei bern"), ("was bo born", "was bo born")]
    assert split_error(pairs, [(4, 9), (4, 6)]) == (1 / 7, 1 / 18)


@pytest.mark.parametrize("span", [(0, 0), (0, 2)])
def test_a_span_of_nothing_or_of_all_is_no_part(span):
    with pytest.raises(ValueError, match=r"letters inside of spans, \d outside: none may lack"):
        split_error([("no", "no")], [span])


@pytest.mark.parametrize("pairs", [[], [("", ""), ("", "a")]])
@pytest.mark.parametrize("rate", [character_error, word_error, scores])
def test_nothing_said_has_no_rate(rate, pairs):
    with pytest.raises(ValueError, match="nothing is said in these sentences"):
        rate(pairs)


@pytest.mark.parametrize(
    ("a", "b", "common", "angle", "edited"),
    [
        ("aab", "abb", 2 / 4, 2 / 3, 1 - 1 / 3),
        ("abcd", "dcba", 1, 1, 1 - 3 / 4),
        ("abc", "xyz", 0, 0, 0),
        ("test", "text", 3 / 5, 3 / 4, 3 / 4),
        ("ab", "ba", 1, 1, 1 / 2),
        ("a", "aaaa", 1 / 4, 1 / 2, 1 / 4),
        ("", "", 1, 1, 1),
        ("", "a", 0, 0, 0),
        ("a", "", 0, 0, 0),
    ],
)
def test_the_three_similarities_of_short_texts(a, b, common, angle, edited):
    assert jaccard([(a, b)])[0] == pytest.approx(common)
    assert cosine([(a, b)])[0] == pytest.approx(angle)
    assert damerau_levenshtein_similarity([(a, b)])[0] == pytest.approx(edited)


def test_similarities_of_many_pairs_agree_with_counters(sentences):
    pairs = list(zip(sentences[:200], sentences[200:400], strict=True))
    for (a, b), one, two in zip(pairs, jaccard(pairs), cosine(pairs), strict=True):
        left, right = Counter(a), Counter(b)
        shared = (left & right).total()
        assert one == pytest.approx(shared / (left | right).total())
        assert two == pytest.approx(shared / math.sqrt(len(a) * len(b)))


def test_two_of_three_similarities_hardly_tell_recognition_from_nothing(sentences):
    """Unrelated sentences about people were found to have .57, .73 and .23, one fixed sentence
    .63, .78 and .22, the right letters in any order 1, 1 and .19.
    """
    found = baselines(sentences)
    for row, known in (
        (found.unrelated, (0.571, 0.726, 0.226)),
        (found.fixed, (0.633, 0.775, 0.223)),
        (found.shuffled, (1.0, 1.0, 0.187)),
    ):
        assert (row.jaccard, row.cosine, row.damerau_levenshtein) == pytest.approx(known, abs=0.07)
        assert row.character_error > 0.7
        assert row.exact < 0.01
    assert found.sentence in sentences


def test_an_unrelated_sentence_is_another_one_even_where_each_stands_four_times():
    texts = ["aa", "bbb", "cccc"] * 4
    assert baselines(texts).unrelated.exact == 0
    assert baselines(texts).unrelated.jaccard == 0


def test_the_fixed_sentence_is_the_one_most_like_all():
    found = baselines(["ab", "abc", "abcd"])
    assert found.sentence == "abc"
    assert found.fixed.jaccard == pytest.approx((2 / 3 + 1 + 3 / 4) / 3)


def test_baselines_are_seeded(sentences):
    assert baselines(sentences[:50], 1) == baselines(sentences[:50], 1)
    assert baselines(sentences[:50], 1) != baselines(sentences[:50], 2)


def test_one_sentence_has_no_baselines():
    with pytest.raises(ValueError, match="1 different sentences; baselines need at least 2"):
        baselines(["ab", "ab"])
