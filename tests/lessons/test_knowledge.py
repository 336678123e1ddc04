"""The calls that read what a model knows: against the records themselves, and what they refuse."""

import json
from typing import Any

import numpy as np
import pytest

from core.checkpoints.any import folder_of
from core.knowledge.file import knowledge_file
from core.knowledge.measures import calibration
from core.knowledge.record import ATTENTION, OUTCOMES
from core.lessons.check import functions
from core.lessons.computed.once import Once

UNREAD, SMALL = {"checkpoint": "notable-unread"}, {"checkpoint": "notable-small"}
LEFT_OUT: dict[str, Any] = {**UNREAD, "group": "unread"}
INVENTED: dict[str, Any] = {**UNREAD, "group": "invented"}
BY: dict[str, Any] = {**SMALL, "by": "by_continent", "row": "Europe"}


@pytest.fixture(scope="module")
def once() -> Once:
    """One for all tests here: a record is read once."""
    return Once()


def call(name: str, once: Once, /, **told: Any) -> float:
    return functions()[name](once, **told)


def recorded(checkpoint: str) -> dict[str, Any]:
    return json.loads(knowledge_file(folder_of(checkpoint)).read_text(encoding="utf-8"))


def test_the_outcomes_of_a_group_are_all_its_answers(once: Once):
    shares = [call("answers_of_group", once, **LEFT_OUT, outcomes=(one,)) for one in OUTCOMES]
    assert sum(shares) == pytest.approx(1)
    assert call("answers_of_group", once, **LEFT_OUT, outcomes=OUTCOMES) == pytest.approx(1)
    counts = recorded("notable-unread")["groups"]["unread"]
    assert [share * call("names_of_group", once, **LEFT_OUT) for share in shares] == pytest.approx(
        [counts[one] for one in OUTCOMES]
    )


def test_half_of_a_group_is_surer_than_its_median(once: Once):
    median, mean = (call("group_probability", once, **LEFT_OUT, of=of) for of in ("median", "mean"))
    assert call("group_probability", once, **LEFT_OUT) == median
    assert call("sure_share", once, **LEFT_OUT, above=median) == pytest.approx(0.5, abs=0.01)
    assert call("sure_share", once, **LEFT_OUT, above=0.0) == 1
    found = recorded("notable-unread")["groups"]["unread"]["probabilities"]
    assert mean == pytest.approx(np.mean(found), rel=1e-4)


def test_the_best_of_several_signals_is_told(once: Once):
    each = [call("auroc", once, **UNREAD, signals=(signal,)) for signal in ATTENTION]
    assert call("auroc", once, **UNREAD, signals=ATTENTION) == max(each)
    assert max(each) < call("auroc", once, **UNREAD, signals=("probability",))


def test_the_error_of_calibration_is_that_of_the_recorded_bins(once: Once):
    bins = recorded("notable-small")["calibration"]
    found = [
        (row["confidence"], i < row["right"]) for row in bins for i in range(row["n"]) if row["n"]
    ]
    _, error = calibration(*map(list, zip(*found, strict=True)))
    assert call("calibration_error", once, **SMALL) == pytest.approx(error, abs=1e-4)


def test_the_rows_of_a_breakdown_are_all_its_people(once: Once):
    rows = {row["name"]: row for row in recorded("notable-small")["by_continent"]}
    shares = {row: call("people_share_by", once, **{**BY, "row": row}) for row in rows}
    assert sum(shares.values()) == pytest.approx(1)
    each = {row: call("right_share_by", once, **{**BY, "row": row}) for row in rows}
    right = sum(share * each[row] for row, share in shares.items())
    whole = call("answers_of_group", once, **SMALL, group="read", outcomes=("right",))
    assert right == pytest.approx(whole)


@pytest.mark.parametrize(
    ("name", "told", "why"),
    [
        ("names_of_group", {**SMALL, "group": "unread"}, "no group 'unread'; groups: asked, read"),
        (
            "answers_of_group",
            {**INVENTED, "outcomes": ("right",)},
            "group invented has no 'right'; outcomes: nearest",
        ),
        ("group_probability", {**LEFT_OUT, "of": "mode"}, "'mode'; median or mean is allowed"),
        ("auroc", {**UNREAD, "signals": ("luck",)}, "'luck' is not recorded; signals: probability"),
        ("auroc", {**UNREAD, "signals": ()}, "no signal is named; signals: probability"),
        ("right_share_by", {**BY, "by": "by_luck"}, "'by_luck'; breakdowns: by_continent"),
        ("people_share_by", {**BY, "row": "Atlantis"}, "no row 'Atlantis'; rows: Africa, Asia"),
    ],
)
def test_what_cannot_be_told_is_refused(once: Once, name: str, told: dict[str, Any], why: str):
    with pytest.raises(ValueError, match=why):
        call(name, once, **told)


def test_a_checkpoint_without_a_record_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("core.lessons.computed.knowledge.load_knowledge", lambda *_: None)
    with pytest.raises(ValueError, match="what notable-small knows is not recorded"):
        call("calibration_error", Once(), **SMALL)
