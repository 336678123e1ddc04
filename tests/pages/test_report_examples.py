"""One row of the report card: its command, the way to its heads, and its wrong answers."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
import torch
from streamlit.testing.v1 import AppTest

from core.checkpoints.shelf import WEIGHTS
from core.checkpoints.store import save_checkpoint
from core.data.course import DEV, TEST, TRAIN, WIKI
from core.data.vocabulary import Vocabulary
from core.models.gpt import GPT
from pages.report_card import examples

Put = Callable[..., Path]
Open = Callable[..., AppTest]
Said = Callable[[AppTest], str]


def ran(app: AppTest) -> AppTest:
    assert not app.exception, app.exception[0].value
    return app


def unfolded(app: AppTest) -> AppTest:
    """The page with the wrong answers opened."""
    app.session_state["card-examples"] = True
    return ran(app.run())


@pytest.fixture
def course(
    put_course: Put,
    record: Callable[..., dict[str, Any]],
    open_card: Open,
    tmp_path: Path,
    make_gpt: Callable[..., GPT],
    pieces: Vocabulary,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """A folder of the course's form that A5_DATA names; on the shelf lies a model that answers."""
    folder = put_course()
    card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    model = make_gpt(vocabulary_size=pieces.size, block_size=48)
    save_checkpoint(folder, model, pieces, card, dtype=torch.float32)
    content = record(folder / WEIGHTS)
    (folder / "evaluation-dev.json").write_text(json.dumps(content), encoding="utf-8")
    course = tmp_path / "course"
    course.mkdir()
    for name, text in {
        WIKI: "Ada.\nBo.\nDi.\n",
        TRAIN: "Where was Ada born?\tRome\n",
        DEV: "Where was Bo born?\tOslo\n",
        TEST: "Where was Di born?\n",
    }.items():
        (course / name).write_text(text, encoding="utf-8")
    monkeypatch.setenv("A5_DATA", str(course))
    monkeypatch.setattr(examples, "countries_of", lambda places: {"Oslo": "NO"})
    st.cache_resource.clear()
    return course


def test_train_it_yourself_prints_the_command_of_the_card(
    put_course: Put, open_card: Open, said: Said
):
    put_course()
    put_course("imported", 1, command=None)
    app = open_card()
    assert app.main.code[0].value == "python -m core train --preset course-pieces"
    app = ran(app.selectbox(key="card-row").set_value("imported").run())
    assert not app.main.code
    assert "trained elsewhere and imported" in said(app)


def test_the_chosen_row_leads_to_its_heads(put_course: Put, open_card: Open):
    put_course("course char", 1)
    (link,) = open_card().main.get("page_link")
    assert link.proto.page == "attention"
    assert link.proto.query_string == "checkpoint=course+char"


def test_a_link_names_the_row(put_course: Put, open_card: Open):
    put_course()
    put_course("other", 1)
    assert open_card(**{"card-row": "other"}).selectbox(key="card-row").value == "other"
    assert open_card(**{"card-row": "../x"}).selectbox(key="card-row").value == "course-pieces"


def test_without_the_course_s_files_the_page_says_what_to_set(
    put_course: Put, open_card: Open, said: Said
):
    put_course()
    app = open_card()
    assert "A5_DATA=FOLDER" not in said(app)
    assert "`A5_DATA=FOLDER streamlit run app.py`" in said(unfolded(app))


def test_with_the_course_s_files_wrong_answers_open_by_kind(
    course: Path, open_card: Open, said: Said
):
    app = unfolded(open_card())
    (frame,) = app.dataframe
    assert frame.value["question"].tolist() == ["Where was Bo born?"]
    assert frame.value["expected"].tolist() == ["Oslo"]
    assert frame.value["kind"].tolist() == ["a made-up place"]
    assert "not the questions that the record was made from" in said(app)
    app = ran(app.button_group(key="card-kind").set_value("right_country").run())
    assert app.dataframe[0].value.empty


def test_nothing_is_asked_before_somebody_opens_it(
    course: Path, open_card: Open, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(examples, "answer", None)
    assert not open_card().dataframe


def test_files_of_the_course_that_cannot_be_read_are_named(course: Path, open_card: Open):
    (course / DEV).unlink()
    app = unfolded(open_card())
    (error,) = app.error
    assert f"The course's files cannot be used: {course / DEV}" in error.value.replace("\\", "")
    assert not app.dataframe


def test_files_of_the_course_that_are_not_in_its_form_are_named(course: Path, open_card: Open):
    (course / DEV).write_text("Where was Bo born? Oslo\n", encoding="utf-8")
    (error,) = [error.value.replace("\\", "") for error in unfolded(open_card()).error]
    assert error.startswith(f"The course's files cannot be used: {course / DEV}, line 1: no tab")


def test_a_question_too_long_for_the_model_is_not_blamed_on_the_files(
    course: Path, open_card: Open
):
    name = "Bo " * 30
    (course / DEV).write_text(f"Where was {name}born?\tOslo\n", encoding="utf-8")
    app = unfolded(open_card())
    (error,) = [error.value.replace("\\", "") for error in app.error]
    assert error.startswith("This checkpoint cannot be asked the dev questions: the question has ")
    assert "fit into this model's block of 48" in error
    assert not app.dataframe


def test_a_character_that_an_imported_model_lacks_is_named(
    course: Path,
    tmp_path: Path,
    open_card: Open,
    make_gpt: Callable[..., GPT],
    characters: Vocabulary,
):
    folder = tmp_path / "checkpoints" / "course-pieces"
    card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    model = make_gpt(vocabulary_size=characters.size, block_size=48)
    save_checkpoint(folder, model, characters, card, dtype=torch.float32)
    (course / DEV).write_text("Where was Bł born?\tOslo\n", encoding="utf-8")
    (error,) = unfolded(open_card()).error
    assert "cannot be asked the dev questions: position 11:" in error.value.replace("\\", "")


def test_a_checkpoint_that_cannot_be_loaded_is_named(course: Path, tmp_path: Path, open_card: Open):
    (tmp_path / "checkpoints" / "course-pieces" / WEIGHTS).write_bytes(b"")
    (error,) = unfolded(open_card()).error
    assert "This checkpoint cannot be used" in error.value
