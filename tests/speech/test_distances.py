import random
from functools import cache

import pytest

from core.speech.distances import damerau_levenshtein, levenshtein, split_errors


def naive(a, b, *, swaps=False):
    """The recursion as it is written down."""

    @cache
    def d(i, j):
        if not i or not j:
            return i + j
        best = min(d(i - 1, j) + 1, d(i, j - 1) + 1, d(i - 1, j - 1) + (a[i - 1] != b[j - 1]))
        if swaps and i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
            best = min(best, d(i - 2, j - 2) + 1)
        return best

    return d(len(a), len(b))


def fewest_inside(a, b, start, end):
    """(edits, edits inside) of the best alignment, by the recursion."""

    def add(found, inside):
        return found[0] + 1, found[1] + inside

    @cache
    def d(i, j):
        if not i and not j:
            return 0, 0
        ways = []
        if i:
            ways.append(add(d(i - 1, j), start <= i - 1 < end))
        if j:
            ways.append(add(d(i, j - 1), start <= i <= end))
        if i and j:
            before = d(i - 1, j - 1)
            ways.append(before if a[i - 1] == b[j - 1] else add(before, start <= i - 1 < end))
        return min(ways)

    return d(len(a), len(b))


def drawn(n, seed=0):
    rng = random.Random(seed)
    return ["".join(rng.choices("abc ", k=rng.randrange(9))) for _ in range(n)]


PAIRS = list(zip(drawn(600), drawn(600, 1), strict=True))


@pytest.mark.parametrize(
    ("a", "b", "edits", "with_swaps"),
    [
        ("", "", 0, 0),
        ("", "abc", 3, 3),
        ("abc", "", 3, 3),
        ("kitten", "sitting", 3, 3),
        ("flaw", "lawn", 2, 2),
        ("ab", "ba", 2, 1),
        ("ca", "abc", 3, 3),  # 2 if what was swapped could be edited again
        ("martha", "marhta", 2, 1),
    ],
)
def test_distances_known_from_books(a, b, edits, with_swaps):
    assert levenshtein([(a, b)]).tolist() == [edits]
    assert damerau_levenshtein([(a, b)]).tolist() == [with_swaps]


def test_all_pairs_at_once_agree_with_the_recursion_one_by_one():
    assert levenshtein(PAIRS).tolist() == [naive(a, b) for a, b in PAIRS]
    assert damerau_levenshtein(PAIRS).tolist() == [naive(a, b, swaps=True) for a, b in PAIRS]


def test_words_are_compared_as_letters_are():
    pairs = [("where was he born".split(), "where is he born now".split()), ([], ["x"])]
    assert levenshtein(pairs).tolist() == [2, 1]


def test_no_pairs_have_no_distances():
    assert levenshtein([]).tolist() == []
    assert damerau_levenshtein([]).tolist() == []


def test_it_is_a_metric():
    ones, others, third = drawn(300), drawn(300, 1), drawn(300, 2)
    there = levenshtein(list(zip(ones, others, strict=True)))
    back = levenshtein(list(zip(others, ones, strict=True)))
    by_way = levenshtein(list(zip(ones, third, strict=True))) + levenshtein(
        list(zip(third, others, strict=True))
    )
    assert (there == back).all()
    assert (there <= by_way).all()
    assert [d == 0 for d in there] == [a == b for a, b in zip(ones, others, strict=True)]


def test_the_restricted_form_breaks_the_triangle():
    """What "optimal string alignment" is known for, and why it is called restricted."""
    ca_ac, ac_abc, ca_abc = damerau_levenshtein([("ca", "ac"), ("ac", "abc"), ("ca", "abc")])
    assert ca_ac + ac_abc < ca_abc


def test_swaps_never_cost_more_and_lengths_bound_both():
    edits, with_swaps = levenshtein(PAIRS), damerau_levenshtein(PAIRS)
    assert (with_swaps <= edits).all()
    for (a, b), d in zip(PAIRS, with_swaps, strict=True):
        assert abs(len(a) - len(b)) <= d <= max(len(a), len(b))


@pytest.mark.parametrize(
    ("heard", "inside", "outside"),
    [
        ("where was mihai born", 0, 0),
        ("where was mihei born", 1, 0),
        ("where was mihaii born", 1, 0),
        ("where was born", 5, 1),
        ("were was mihai borne", 0, 2),
        ("where was a mihai born", 0, 2),
        ("", 5, 15),
    ],
)
def test_errors_in_a_name_and_in_the_rest_are_told_apart(heard, inside, outside):
    pairs = [("where was mihai born", heard)]
    found = tuple(int(part.sum()) for part in split_errors(pairs, [(10, 15)]))
    assert found == (inside, outside)


def test_both_parts_add_up_and_the_inside_is_as_small_as_it_can_be():
    rng = random.Random(3)
    starts = [rng.randint(0, len(a)) for a, _ in PAIRS]
    spans = [(i, rng.randint(i, len(a))) for i, (a, _) in zip(starts, PAIRS, strict=True)]
    inside, outside = split_errors(PAIRS, spans)
    assert (inside + outside == levenshtein(PAIRS)).all()
    wanted = [fewest_inside(a, b, *span) for (a, b), span in zip(PAIRS, spans, strict=True)]
    assert [(i + o, i) for i, o in zip(inside, outside, strict=True)] == wanted


@pytest.mark.parametrize("span", [(-1, 2), (2, 1), (0, 6)])
def test_a_span_that_is_not_there_is_refused(span):
    with pytest.raises(ValueError, match=f"span {span[0]} to {span[1]} does not lie in 5 letters"):
        split_errors([("mihai", "mihei")], [span])
