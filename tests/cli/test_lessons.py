"""`lesson`: the JSON of the list and of a check, and the exit status."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from core.cli.main import main
from core.lessons.reading import list_lessons


@pytest.fixture
def lesson(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """One lesson with one claim, in place of those that are shipped."""

    def put(stated: float) -> None:
        (tmp_path / "averages.toml").write_text(
            f"""
title = "Averages"
minutes = 5
order = 1
learns = "How weights are shared."
[[steps]]
title = "Two keys"
text = "Half each: {{half}}."
page = "attention_by_hand"
[[steps.claims]]
name = "half"
text = "of the weight lies on the first key"
stated = {stated}
tolerance = 0.5
unit = "%"
call = "softmax_weight"
with = {{ scores = [1, 1], beta = 3, key = 1 }}
""",
            encoding="utf-8",
        )
        monkeypatch.setattr("core.cli.lessons.LESSONS", tmp_path)

    return put


def test_the_list_has_counts_of_steps_and_claims(capsys: pytest.CaptureFixture[str]):
    assert main(["lesson", "--list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["lessons"]
    known = list_lessons()
    assert [row["name"] for row in rows] == [lesson.name for lesson in known]
    assert [set(row) for row in rows] == [{"name", "title", "minutes", "steps", "claims"}] * len(
        rows
    )
    assert rows[0]["steps"] == len(known[0].steps)
    assert rows[0]["claims"] == len(known[0].claims)


def test_a_claim_that_holds_ends_with_0(
    lesson: Callable[..., None], capsys: pytest.CaptureFixture[str]
):
    lesson(50.2)
    assert main(["lesson", "averages", "--check", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "claims": [
            {
                "text": "50.2 % of the weight lies on the first key",
                "stated": 50.2,
                "computed": 50.0,
                "tolerance": 0.5,
                "holds": True,
            }
        ]
    }
    assert main(["lesson", "averages", "--check"]) == 0
    assert "1 of 1 claims hold" in capsys.readouterr().out


def test_a_claim_that_does_not_hold_ends_with_1(
    lesson: Callable[..., None], capsys: pytest.CaptureFixture[str]
):
    lesson(51)
    assert main(["lesson", "averages", "--check"]) == 1
    out = capsys.readouterr().out
    assert "DOES NOT HOLD: 51 % of the weight" in out
    assert "0 of 1 claims hold" in out
    assert main(["lesson", "averages", "--check", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["claims"][0]["holds"] is False


def test_the_list_is_also_told_in_lines(
    lesson: Callable[..., None], capsys: pytest.CaptureFixture[str]
):
    lesson(50)
    assert main(["lesson", "--list"]) == 0
    assert capsys.readouterr().out == "averages: Averages (5 min, 1 step, 1 claim)\n"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["nothing", "--check"], "no lesson is called 'nothing'; lessons: averages"),
        (["--check"], "which lesson?"),
        (["averages", "--list"], "leave NAME out"),
        (["--out", "a.html"], "which lesson?"),
        (["averages", "--out", "no/such/folder/a.html"], "there is no folder no/such/folder"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    lesson: Callable[..., None],
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    why: str,
):
    lesson(50)
    assert main(["lesson", *arguments]) == 2
    assert why in capsys.readouterr().err
