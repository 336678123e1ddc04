"""Classes on the disk: who answers when, what is refused, what is forgotten."""

from pathlib import Path

import pytest

from core.classroom import store
from core.classroom.codes import new_pupil
from core.classroom.counts import standing
from core.classroom.file import FILE
from core.classroom.session import Teacher
from core.classroom.store import (
    DAY_SECONDS,
    MOST_A_MINUTE,
    Opened,
    answer,
    close,
    delete,
    enter,
    explain,
    open_session,
    own_answers,
    reveal,
    session,
)


def test_a_class_is_found_by_its_code_however_it_is_typed(tmp_path: Path, opened: Opened, now):
    found = session(tmp_path, f" {opened.code.lower()} ", now=now)
    assert (found.code, found.lesson, found.is_closed) == (opened.code, "peaked", False)
    assert found.expires == now + 7 * DAY_SECONDS
    with pytest.raises(ValueError, match="there is no class BBBBBB here"):
        session(tmp_path, "BBBBBB", now=now)


def test_without_a_file_there_is_no_class_and_none_is_made(tmp_path: Path, now):
    with pytest.raises(ValueError, match="there is no class BBBBBB here"):
        session(tmp_path / "nowhere", "BBBBBB", now=now)
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("days", [0, 61])
def test_how_long_answers_are_kept_has_limits(tmp_path: Path, days: int):
    with pytest.raises(ValueError, match=f"{days} days: answers are kept for 1 to 60"):
        open_session(tmp_path, "peaked", keep_days=days)


def test_a_lesson_is_named_by_its_file(tmp_path: Path):
    with pytest.raises(ValueError, match="is no name of a lesson"):
        open_session(tmp_path, "../peaked")


def test_a_new_answer_replaces_the_old_one_until_the_step_is_revealed(
    tmp_path: Path, opened: Opened, pupil: str, now
):
    assert answer(tmp_path, opened.code, pupil, 1, "about half", now=now) == "before"
    assert answer(tmp_path, opened.code, pupil, 1, "nearly all", now=now) == "before"
    reveal(tmp_path, opened.teacher, 1, now=now)
    assert answer(tmp_path, opened.code, pupil, 1, "next to none", now=now) == "after"
    assert answer(tmp_path, opened.code, pupil, 2, "42", now=now) == "before"
    assert own_answers(tmp_path, opened.code, pupil, now=now) == {
        (1, "before"): "nearly all",
        (1, "after"): "next to none",
        (2, "before"): "42",
    }
    assert own_answers(tmp_path, opened.code, new_pupil(), now=now) == {}


def test_what_is_no_answer_is_refused(tmp_path: Path, opened: Opened, pupil: str, now):
    for step, text, why in [
        (0, "yes", "step 0: 1 to 100 are answered"),
        (1, " \n", "there is nothing to keep"),
        (1, "x" * 501, "501 characters: at most 500 are kept"),
    ]:
        with pytest.raises(ValueError, match=why):
            answer(tmp_path, opened.code, pupil, step, text, now=now)
    with pytest.raises(ValueError, match="holds no token of a pupil"):
        answer(tmp_path, opened.code, "me", 1, "yes", now=now)


def test_explanations_are_kept_before_and_after_with_line_breaks_as_spaces(
    tmp_path: Path, opened: Opened, pupil: str, now
):
    explain(tmp_path, opened.code, pupil, "before", "it\nthinks\x00", now=now)
    reveal(tmp_path, opened.teacher, 1, now=now)
    explain(tmp_path, opened.code, pupil, "after", "x" * 500, now=now)
    own = own_answers(tmp_path, opened.code, pupil, now=now)
    assert own == {(0, "before"): "it thinks", (0, "after"): "x" * 500}
    with pytest.raises(ValueError, match="a step is revealed already"):
        explain(tmp_path, opened.code, pupil, "before", "no", now=now)
    with pytest.raises(ValueError, match="phase 'later': before or after is needed"):
        explain(tmp_path, opened.code, pupil, "later", "no", now=now)  # pyright: ignore[reportArgumentType]


def test_a_closed_class_refuses_and_keeps_what_it_has(
    tmp_path: Path, opened: Opened, pupil: str, now
):
    answer(tmp_path, opened.code, pupil, 1, "yes", now=now)
    close(tmp_path, opened.teacher, now=now)
    for act in (
        lambda: answer(tmp_path, opened.code, pupil, 1, "no", now=now),
        lambda: explain(tmp_path, opened.code, pupil, "before", "no", now=now),
        lambda: reveal(tmp_path, opened.teacher, 1, now=now),
    ):
        with pytest.raises(ValueError, match="is closed: nothing more is taken"):
            act()
    assert own_answers(tmp_path, opened.code, pupil, now=now) == {(1, "before"): "yes"}
    assert session(tmp_path, opened.code, now=now).is_closed


def test_a_deleted_class_is_gone_at_once_with_every_byte(
    tmp_path: Path, opened: Opened, pupil: str, now
):
    answer(tmp_path, opened.code, pupil, 1, "rhinoceros", now=now)
    assert b"rhinoceros" in bytes_of(tmp_path)
    delete(tmp_path, opened.teacher, now=now)
    assert b"rhinoceros" not in bytes_of(tmp_path)
    with pytest.raises(ValueError, match="there is no class"):
        session(tmp_path, opened.code, now=now)


def test_whoever_opens_the_file_deletes_what_has_expired(
    tmp_path: Path, opened: Opened, pupil: str, now
):
    answer(tmp_path, opened.code, pupil, 1, "rhinoceros", now=now)
    later = now + 7 * DAY_SECONDS
    assert session(tmp_path, opened.code, now=later - 1).code == opened.code
    with pytest.raises(ValueError, match="there is no class BBBBBB"):
        session(tmp_path, "BBBBBB", now=later)
    assert b"rhinoceros" not in bytes_of(tmp_path)


def test_only_the_teachers_code_enters_and_it_is_nowhere_on_the_disk(
    tmp_path: Path, opened: Opened, now
):
    assert enter(tmp_path, opened.code, opened.teacher_code.lower(), now=now) == opened.teacher
    with pytest.raises(ValueError, match="this is not the teacher's code"):
        enter(tmp_path, opened.code, "BCDF-GHJK-MNPR", now=now)
    stored = bytes_of(tmp_path)
    assert opened.teacher_code.encode() not in stored
    assert opened.teacher.key not in stored
    assert opened.teacher_code not in repr(opened)
    assert repr(opened.teacher.key) not in repr(opened)


def test_after_five_wrong_codes_a_minute_the_right_one_is_refused_too(
    tmp_path: Path, opened: Opened, now
):
    other = open_session(tmp_path, "copying", now=now)
    for _ in range(5):
        with pytest.raises(ValueError, match="this is not the teacher's code"):
            enter(tmp_path, opened.code, "wrong", now=now)
    with pytest.raises(ValueError, match="5 wrong codes within a minute: wait a minute"):
        enter(tmp_path, opened.code, opened.teacher_code, now=now + 59)
    assert enter(tmp_path, other.code, other.teacher_code, now=now) == other.teacher
    reveal(tmp_path, opened.teacher, 1, now=now)  # who is in already stays in
    assert enter(tmp_path, opened.code, opened.teacher_code, now=now + 60) == opened.teacher


def test_a_teacher_of_one_class_is_none_of_another(tmp_path: Path, opened: Opened, now):
    other = open_session(tmp_path, "copying", now=now)
    stranger = Teacher(code=opened.code, key=other.teacher.key)
    for act in (
        lambda: reveal(tmp_path, stranger, 1, now=now),
        lambda: close(tmp_path, stranger, now=now),
        lambda: delete(tmp_path, stranger, now=now),
        lambda: standing(tmp_path, stranger, now=now),
    ):
        with pytest.raises(ValueError, match="this is not the teacher's code"):
            act()
    assert not session(tmp_path, opened.code, now=now).revealed


def test_a_pupil_answers_thirty_times_a_minute_at_most(
    tmp_path: Path, opened: Opened, pupil: str, now
):
    for n in range(MOST_A_MINUTE):
        answer(tmp_path, opened.code, pupil, 1, str(n), now=now)
    with pytest.raises(ValueError, match="30 answers within a minute"):
        answer(tmp_path, opened.code, pupil, 1, "one more", now=now)
    answer(tmp_path, opened.code, new_pupil(), 1, "another's", now=now)
    assert answer(tmp_path, opened.code, pupil, 1, "later", now=now + 60) == "before"


def test_a_class_has_so_many_pupils_and_answers(
    tmp_path: Path, opened: Opened, pupil: str, now, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(store, "MOST_PUPILS", 2)
    monkeypatch.setattr(store, "MOST_ANSWERS", 3)
    second = new_pupil()
    for who, step in ((pupil, 1), (second, 1), (second, 2)):
        answer(tmp_path, opened.code, who, step, "yes", now=now)
    with pytest.raises(ValueError, match="has its 2 pupils; no more can answer"):
        answer(tmp_path, opened.code, new_pupil(), 1, "yes", now=now)
    with pytest.raises(ValueError, match="has its 3 answers; no more are kept"):
        answer(tmp_path, opened.code, second, 3, "yes", now=now)
    answer(tmp_path, opened.code, second, 2, "no", now=now)  # takes the place of another


def test_a_server_keeps_so_many_classes(
    tmp_path: Path, opened: Opened, now, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(store, "MOST_SESSIONS", 2)
    open_session(tmp_path, "copying", now=now)
    with pytest.raises(ValueError, match="2 classes are kept here already"):
        open_session(tmp_path, "copying", now=now)


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.glob(f"{FILE}*"))
