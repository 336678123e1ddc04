"""What a teacher sees: counts, explanations, CSV."""

import csv
import io
from pathlib import Path

from core.classroom.codes import new_pupil
from core.classroom.counts import COLUMNS, Counts, as_csv, standing
from core.classroom.store import Opened, answer, explain, open_session, reveal


def test_counts_are_apart_before_and_after_and_of_each_class(tmp_path: Path, opened: Opened, now):
    pupils = [new_pupil() for _ in range(3)]
    for who, text in zip(pupils, ("all", "half", "all"), strict=True):
        answer(tmp_path, opened.code, who, 1, text, now=now)
    reveal(tmp_path, opened.teacher, 1, now=now)
    answer(tmp_path, opened.code, pupils[1], 1, "all", now=now)
    other = open_session(tmp_path, "peaked", now=now)
    answer(tmp_path, other.code, pupils[0], 1, "none", now=now)
    found = standing(tmp_path, opened.teacher, now=now)
    assert found.counts(1) == Counts(step=1, before={"all": 2, "half": 1}, after={"all": 1})
    assert found.counts(2) == Counts(step=2, before={}, after={})
    assert (found.n_pupils, found.n_answers) == (3, 4)
    assert found.session.revealed == {1}


def test_explanations_stand_in_the_order_of_the_pupils(tmp_path: Path, opened: Opened, now):
    first, second = new_pupil(), new_pupil()
    explain(tmp_path, opened.code, first, "before", "it knows", now=now)
    explain(tmp_path, opened.code, second, "before", "it counts", now=now)
    explain(tmp_path, opened.code, first, "after", "it counts, too", now=now)
    found = standing(tmp_path, opened.teacher, now=now)
    assert found.explained_before == ("it knows", "it counts")
    assert found.explained_after == ("it counts, too",)
    assert found.steps == ()


def test_the_table_has_a_line_an_answer_numbers_for_pupils_and_no_formulas(
    tmp_path: Path, opened: Opened, now
):
    first, second = new_pupil(), new_pupil()
    answer(tmp_path, opened.code, second, 2, "-5.5", now=now)
    answer(tmp_path, opened.code, first, 1, '=HYPERLINK("x")', now=now)
    explain(tmp_path, opened.code, first, "before", 'a, "b"', now=now)
    text = as_csv(tmp_path, opened.teacher, now=now)
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[0] == list(COLUMNS)
    when = "2023-11-14T22:13+00:00"
    assert rows[1:] == [
        ["peaked", "explanation", "", "before", "2", 'a, "b"', when],
        ["peaked", "prediction", "1", "before", "2", '\'=HYPERLINK("x")', when],
        ["peaked", "prediction", "2", "before", "1", "-5.5", when],
    ]
    assert first not in text
