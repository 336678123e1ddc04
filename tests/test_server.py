"""A server's mode and limits: what is read, and who may do what."""

from pathlib import Path

import pytest

from core.server import (
    ACTIONS,
    ANYBODYS,
    OWNERS,
    SHOWS,
    Server,
    is_code,
    read_server,
    refusal,
)

CLASS = Server(mode="class", teacher_code="open sesame")


@pytest.fixture
def named(tmp_path: Path):
    """An environment that names a file with this text."""

    def named_(text: str) -> dict[str, str]:
        path = tmp_path / "server.toml"
        path.write_text(text, encoding="utf-8")
        return {"EXPLORER_SERVER": str(path)}

    return named_


def test_without_anything_set_the_mode_is_the_usual_one():
    assert read_server({}) == Server()
    assert read_server({}, usual="class").mode == "class"
    assert read_server({"EXPLORER_MODE": " show "}, usual="class").mode == "show"


def test_a_file_sets_all_and_the_environment_has_the_last_word(named):
    text = """
    mode = "class"
    teacher_code = "open sesame"
    address = "http://10.0.0.5:8501"
    keep_days = 3
    waiting_jobs = 1
    minutes = 5
    teachers = ["ada@example.org"]
    """
    found = read_server(named(text))
    assert (found.mode, found.keep_days, found.waiting_jobs, found.minutes) == ("class", 3, 1, 5)
    assert found.teachers == ("ada@example.org",)
    assert "sesame" not in repr(found)
    assert read_server({**named(text), "EXPLORER_MODE": "show"}).mode == "show"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("mode = ", "not TOML"),
        ('mode = "closed"', "mode is 'closed', one of open, class, show is needed"),
        ("colour = 1", "unknown keys: colour"),
        ("minutes = true", "minutes is True, float is needed"),
        ("minutes = nan", "minutes is nan: 0 to 720 are possible"),
        ("keep_days = 0", "keep_days is 0: 1 to 60 are possible"),
        ("waiting_jobs = 21", "waiting_jobs is 21: 0 to 20 are possible"),
        ('teacher_code = "short"', "teacher_code has fewer than 8 characters"),
        ('teachers = "ada"', "teachers is 'ada', a list of addresses is needed"),
        ("teachers = [1]", "a list of addresses is needed"),
    ],
)
def test_what_is_wrong_with_the_file_is_said_in_one_sentence(named, text: str, why: str):
    with pytest.raises(ValueError, match=why) as error:
        read_server(named(text))
    assert "server.toml" in str(error.value)


def test_a_wrong_mode_and_a_missing_file_are_said(tmp_path: Path):
    with pytest.raises(ValueError, match="EXPLORER_MODE is 'free'; modes: open, class, show"):
        read_server({"EXPLORER_MODE": "free"})
    with pytest.raises(ValueError, match=r"nowhere\.toml: cannot be read"):
        read_server({"EXPLORER_SERVER": str(tmp_path / "nowhere.toml")})


@pytest.mark.parametrize("action", ACTIONS)
def test_what_may_be_done_depends_on_the_mode(action):
    assert refusal(Server(), action, is_teacher=False) == ""
    assert refusal(Server(mode="show"), action, is_teacher=True, owns=True) == SHOWS
    assert refusal(CLASS, action, is_teacher=True) == ""
    strangers = refusal(CLASS, action, is_teacher=False)
    assert (strangers == "") == (action in ANYBODYS)
    assert strangers == "" or "only with the teacher's code" in strangers
    owners = refusal(CLASS, action, is_teacher=False, owns=True)
    assert (owners == "") == (action in (*ANYBODYS, *OWNERS))


def test_a_server_without_a_code_says_that_it_has_none():
    assert "this server has none" in refusal(Server(mode="class"), "upload", is_teacher=False)
    assert "this server has none" not in refusal(CLASS, "upload", is_teacher=False)


def test_a_code_is_right_or_wrong_and_none_is_never_right():
    assert is_code(CLASS, "open sesame")
    assert not is_code(CLASS, "Open sesame")
    assert not is_code(Server(mode="class"), "")
