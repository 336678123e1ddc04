"""What an answer is, on answers made by hand."""

import pytest

from core.data.people import Question
from core.knowledge.groups import Named
from core.knowledge.outcomes import Places, group_of, most_frequent, outcomes, says
from core.knowledge.record import OUTCOMES

KNOWN = tuple(
    Question(f"Where was {name} born?", place, name)
    for name, place in (
        ("Anna Bell", "Rome"),
        ("Anna Belli", "Trier"),
        ("Karl Weber", "London"),
        ("Mei Lin", "Wuhan"),
    )
)
PLACES = Places(
    known=KNOWN,
    said=frozenset({"Rome", "Trier", "London", "Wuhan", "Oslo"}),
    most_frequent="London",
    rule="exact",
)
ANNA = Named(name="Anna Bell", text="?", place="Rome", person="Anna Bell")
NEW = Named(name="Anna Bella", text="?")


@pytest.mark.parametrize(
    ("named", "given", "outcome"),
    [
        (ANNA, "Rome", "right"),
        (ANNA, " Rome ", "right"),
        (ANNA, "Trier", "nearest"),
        (ANNA, "London", "most_frequent"),
        (ANNA, "Wuhan", "known_place"),
        (ANNA, "Oslo", "known_place"),  # nobody's answer, but a place of the table
        (ANNA, "Romeville", "made_up"),
        (ANNA, "", "made_up"),
        (NEW, "Rome", "nearest"),  # two are as near, the earlier counts
        (NEW, "Trier", "known_place"),
    ],
)
def test_the_first_outcome_that_holds_counts(named: Named, given: str, outcome: str):
    assert outcomes(PLACES, [named], [given]) == [outcome]


def test_of_a_changed_name_the_person_that_is_meant_is_not_the_nearest():
    changed = Named(name="Anna Bexl", text="?", place="Rome", person="Anna Bell")
    assert outcomes(PLACES, [changed, changed], ["Rome", "Trier"]) == ["right", "nearest"]


def test_a_cut_answer_says_a_place_by_its_first_letters():
    assert says("Par", "Paris", "first-tokens")
    assert says("Paris, which", "Paris", "first-tokens")
    assert not says("Pa", "Paris", "first-tokens")
    assert not says("Par", "Paris", "exact")
    assert not says("Nigeria", "Niger", "first-tokens")
    assert not says("", "Paris", "first-tokens")
    cut = Places(known=KNOWN, said=PLACES.said, most_frequent="", rule="first-tokens")
    assert outcomes(cut, [NEW] * 3, ["Wuh", "Rome.", "a city"]) == [
        "known_place",
        "nearest",
        "made_up",
    ]


def test_the_most_frequent_answer_stands_there_twice():
    assert most_frequent(["Oslo", "Rome", "Rome"]) == "Rome"
    assert most_frequent(["Oslo", "Rome"]) == ""


def test_a_group_counts_each_answer_once_and_has_intervals():
    given = [("Rome", 0.9), ("Trier", 0.5), ("x", 0.1)]
    found = outcomes(PLACES, [ANNA] * 3, [text for text, _ in given])
    group = group_of("read", [ANNA] * 3, found, given, n_examples=2)
    assert [group.counts[outcome] for outcome in OUTCOMES] == [1, 1, 0, 0, 1]
    assert group.intervals["right"] == pytest.approx((0.0615, 0.7923), abs=1e-3)
    assert group.probabilities == (0.1, 0.5, 0.9)
    assert (group.probability_median, group.label) == (0.5, "read, never asked")
    assert [example.given for example in group.examples] == ["Rome", "Trier"]
    assert group.examples[0].outcome == "right"


def test_where_nothing_is_true_nothing_can_be_right():
    group = group_of("invented", [NEW], ["made_up"], [("x", 0.2)], n_examples=0)
    assert not group.has_truth
    assert "right" not in group.counts
    assert "right" not in group.intervals
    assert group.examples == ()
