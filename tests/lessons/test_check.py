"""Claims against what is computed: when they hold, and what is computed once for all of them."""

from typing import Any

import pytest

from core.lessons.check import check, check_claim
from core.lessons.computed import answers
from core.lessons.computed.once import Once
from core.lessons.lesson import Claim, Lesson, Step

HALF: dict[str, Any] = {"scores": (1.0, 1.0), "beta": 3.0, "key": 1}
ASKED = {"checkpoint": "notable-pretrained", "question": "Where was Ada Lovelace born?"}


def claim(**changes: Any) -> Claim:
    values: dict[str, Any] = {
        "name": "half",
        "text": "lies on key 1",
        "stated": 50,
        "tolerance": 0.5,
        "unit": "%",
        "call": "softmax_weight",
        "with_": HALF,
    }
    return Claim(**{**values, **changes})


def lesson(*claims: Claim) -> Lesson:
    step = Step(title="One", text="Text.", page="", claims=claims)
    return Lesson(name="one", title="One", minutes=1, order=1, learns="It.", steps=(step, step))


@pytest.mark.parametrize(
    ("stated", "holds"), [(50, True), (50.5, True), (50.51, False), (49, False)]
)
def test_a_claim_holds_within_its_tolerance(stated: float, holds: bool):
    found = check_claim(claim(stated=stated), Once())
    assert (found.computed, found.holds) == (pytest.approx(50), holds)
    assert found.text == f"{stated} % lies on key 1"


def test_a_number_without_a_unit_is_taken_as_it_is():
    assert check_claim(claim(stated=0.5, tolerance=0, unit=""), Once()).holds


def test_every_claim_of_every_step_is_checked():
    found = check(lesson(claim(), claim(name="other", stated=60)))
    assert [one.holds for one in found] == [True, False, True, False]


def test_what_cannot_be_computed_is_told_with_its_place():
    with pytest.raises(ValueError, match="one, step 1, claim 'half': key 3: there are keys 1 to 2"):
        check(lesson(claim(with_={**HALF, "key": 3})))


def test_one_trace_serves_all_claims_about_a_question(monkeypatch: pytest.MonkeyPatch):
    asked: list[str] = []
    whole = answers.trace

    def counted(stored: Any, question: str) -> Any:
        asked.append(question)
        return whole(stored, question)

    monkeypatch.setattr(answers, "trace", counted)
    share = claim(call="weight_on_name", with_={**ASKED, "head": "L1·H0"}, stated=97.9)
    sure = claim(
        name="sure", call="answer_probability", with_={**ASKED, "answer": "London"}, stated=98.8
    )
    assert [found.holds for found in check(lesson(share, sure))] == [True] * 4
    assert len(asked) == 1
