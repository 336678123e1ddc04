import pytest

from core.speech.verdict import SIMILARITIES, differences, reached, right_share
from tests.recognised import figures_of

RIGHT = ["where was mihai born", "where was ada born"]
WRONG = ["where was mahi born", "where was adele born"]


def test_letters_in_random_order_leave_nothing_to_two_of_three():
    by_measure = {row.measure: row for row in reached(figures_of(WRONG))}
    assert [*by_measure] == [*SIMILARITIES]
    for measure in ("jaccard", "cosine"):
        assert by_measure[measure].which == "shuffled"
        assert by_measure[measure].without == 1
        assert by_measure[measure].above < 0
    third = by_measure["damerau_levenshtein"]
    assert third.which in ("fixed", "unrelated")
    assert third.above == pytest.approx(third.value - third.without)


def test_a_perfect_recogniser_is_above_in_one_alone():
    above = [row.above for row in reached(figures_of(RIGHT))]
    assert above[:2] == [0, 0]
    assert above[2] > 0.05


def test_two_recognisers_differ_by_what_each_measure_says():
    right, wrong = figures_of(RIGHT), figures_of(WRONG)
    found = differences(right, wrong)
    assert found["jaccard"] == pytest.approx(1 - wrong.jaccard)
    assert found["damerau_levenshtein"] > 0


def test_more_wrong_than_said_is_below_zero():
    assert right_share(figures_of(RIGHT)) == 1
    assert right_share(figures_of(["a b c d e f g h i j k l m n"] * 2)) < 0.2
    assert right_share(figures_of(["no" * 40] * 2)) < 0
