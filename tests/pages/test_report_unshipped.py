"""A row of the report card whose weights are not shipped."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.checkpoints.shelf import CARD, WEIGHTS
from core.files import sha256

Put = Callable[..., Path]
Open = Callable[..., AppTest]
Said = Callable[[AppTest], str]


@pytest.fixture
def unshipped(card_tables: Path, put_course: Put) -> Path:
    """A card and its evaluation without weights, beside a whole checkpoint."""
    put_course("whole", 400)
    folder = put_course("unshipped", 100, vocabulary="char")
    card = json.loads((folder / CARD).read_text(encoding="utf-8"))
    card["files"] = {WEIGHTS: sha256(folder / WEIGHTS)}
    (folder / CARD).write_text(json.dumps(card), encoding="utf-8")
    (folder / WEIGHTS).unlink()
    return folder


def test_its_figures_stand_without_a_way_to_its_heads(unshipped: Path, open_card: Open, said: Said):
    app = open_card()
    (line,) = [line for line in said(app).split("\n") if line.startswith("| rotary, characters")]
    mark = line.split(" | ")[0].removeprefix("| rotary, characters").strip()
    assert "**20.0 %** (16.0–24.0)" in line
    assert f"{mark} weights not shipped; the command trains them again." in said(app)
    assert "checkpoint=whole" in said(app)
    assert "checkpoint=unshipped" not in said(app)
    assert not app.warning
    assert "rotary, characters  20.0 %" in app.get("vega_lite_chart")[0].proto.alt


def rows_of(app: AppTest, said: Said, variant: str) -> list[str]:
    return [line for line in said(app).split("\n") if line.startswith(f"| {variant} ")]


def test_the_recipe_of_the_course_is_not_run_until_its_result_is_there(
    card_tables: Path, put_course: Put, open_card: Open, said: Said
):
    put_course("whole", 400)
    app = open_card()
    (line,) = [row for row in rows_of(app, said, "vanilla") if "31.8" in row]
    assert "| not run: needs a GPU\u202f" in line
    assert "650 epochs of span corruption" in said(app)
    changes = {"vocabulary": "char", "config": {"positions": "learned"}}
    folder = put_course("course-recipe", 100, **changes)
    card = json.loads((folder / CARD).read_text(encoding="utf-8"))
    card["files"] = {WEIGHTS: sha256(folder / WEIGHTS)}
    (folder / CARD).write_text(json.dumps(card), encoding="utf-8")
    (folder / WEIGHTS).unlink()
    app = open_card()
    assert "not run" not in said(app)
    (line,) = [row for row in said(app).split("\n") if row.startswith("| vanilla, characters")]
    assert "**20.0 %** (16.0–24.0)" in line
    assert "31.8" in line
    assert "weights not shipped" in said(app)


def test_its_command_is_shown_and_nobody_asks_it(
    unshipped: Path, open_card: Open, said: Said, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("A5_DATA", "nowhere")
    app = open_card(**{"card-row": "unshipped"})
    assert app.main.code[0].value == "python -m core train --preset unshipped"
    assert "Its weights are not shipped. The same training from a terminal:" in said(app)
    assert not app.main.get("page_link")
    app.session_state["card-examples"] = True
    app.run()
    assert not app.exception
    assert "Its weights are not shipped, so that it cannot be asked; the command" in said(app)
    app.selectbox(key="card-row").set_value("whole").run()
    assert app.main.get("page_link")
    assert "not shipped, so" not in said(app)


def test_an_evaluation_of_other_weights_is_mended_by_training_first(
    unshipped: Path, open_card: Open
):
    path = unshipped / "evaluation-dev.json"
    changed = {**json.loads(path.read_text(encoding="utf-8")), "weights_sha256": "of others"}
    path.write_text(json.dumps(changed), encoding="utf-8")
    app = open_card()
    assert "The evaluation of unshipped is not shown" in app.warning[0].value
    train, evaluate = app.main.code[0].value.split("\n")
    assert train == "python -m core train --preset unshipped"
    assert evaluate.startswith("python -m core evaluate --checkpoint unshipped")
