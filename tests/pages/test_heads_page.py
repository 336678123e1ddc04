"""All heads in one table: recorded or measured now, sorted, linked, and told in sentences."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.checkpoints.shelf import list_checkpoints
from core.checkpoints.store import write_card
from core.data.task import COURSE
from core.inspection.head_record import HeadRecord, heads_file
from core.paths import CHECKPOINTS
from pages.heads.controls import ONE, PATCH
from pages.heads.overview import CHOOSE_SET

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = list_checkpoints(CHECKPOINTS)
# One of each kind: pieces, characters, latents, no queries.
KINDS = ("notable-pretrained", "notable-char", "course-perceiver", "course-synthesizer")
Record = Callable[..., HeadRecord]


def cells(app: AppTest) -> list[list[str]]:
    """The lines of the table, without its head."""
    (table,) = [m.value for m in app.main.markdown if m.value.startswith("| head |")]
    return [line.replace("\u00a0", " ").strip("| ").split(" | ") for line in table.splitlines()[2:]]


def heads_of(app: AppTest) -> list[str]:
    return [line[0].split("]")[0].removeprefix("[") for line in cells(app)]


def test_the_table_is_the_recorded_one(
    store: Callable, record_heads: Record, open_heads: Callable, said: Callable
):
    store()
    table = record_heads().tables["zero"]
    app = open_heads()
    assert len(app.get("vega_lite_chart")) == 1
    assert heads_of(app) == [row.name for row in table.by_importance]
    first = table.by_importance[0]
    assert cells(app)[0][1] == first.caption
    assert f"Without {first.name} alone" in said(app)
    assert "Rank agreement (Spearman" in said(app).replace("*", "")
    assert "The 3 heads that matter most, off together" in said(app)


def test_the_mode_changes_the_numbers(
    store: Callable, record_heads: Record, open_heads: Callable, said: Callable
):
    store()
    tables = record_heads().tables
    app = open_heads()
    assert "a head that is off gives zero." in said(app)
    app.button_group(key="heads-mode").set_value("mean").run()
    assert not app.exception
    assert "a head that is off gives its mean." in said(app)
    assert heads_of(app) == [row.name for row in tables["mean"].by_importance]


@pytest.mark.parametrize("measure", ["", "weight_on_name", "attribution", "accuracy_lost"])
def test_the_table_is_sorted_as_chosen(
    store: Callable, record_heads: Record, open_heads: Callable, measure: str
):
    store()
    table = record_heads().tables["zero"]
    app = open_heads()
    app.selectbox(key="heads-sort").set_value(measure).run()
    expected = table.sorted_by(measure) if measure else table.rows
    assert heads_of(app) == [row.name for row in expected]


def test_every_head_links_to_its_map(store: Callable, record_heads: Record, open_heads: Callable):
    store("a b")
    record_heads("a b")
    link = cells(open_heads())[0][0]
    name = link.split("]")[0].removeprefix("[")
    assert link == f"[{name}](attention?checkpoint=a%20b&head={name.replace('·', '%C2%B7')})"


def test_a_click_on_a_point_picks_its_head(
    store: Callable, record_heads: Record, open_heads: Callable, click: Callable, said: Callable
):
    store()
    record_heads()
    app = open_heads(**{"heads-head": "L0·H1"})
    assert "L0·H1 " in said(app)
    click(app, "heads-chart", "head", layer=1, head=0)
    assert app.selectbox(key="heads-head").value == "L1·H0"


def test_the_axes_are_in_the_link(store: Callable, record_heads: Record, open_heads: Callable):
    store()
    record_heads()
    app = open_heads(**{"heads-x": "weight on the name", "heads-y": "accuracy lost without it"})
    assert app.get("vega_lite_chart")[0].proto.alt == (
        "Accuracy lost without it against weight on the name, head by head"
    )


def test_a_table_of_other_weights_is_not_shown(
    store: Callable, record_heads: Record, open_heads: Callable
):
    store()
    record_heads(weights="of other weights")
    app = open_heads()
    assert "No table of these weights is recorded" in app.info[0].value
    assert "--checkpoint tiny --split dev --record" in app.code[0].value
    assert not app.get("vega_lite_chart")


def test_a_broken_table_is_named(store: Callable, record_heads: Record, open_heads: Callable):
    heads_file(store(), "dev").write_text('{"weights_sha256": 3', encoding="utf-8")
    app = open_heads()
    assert "The recorded table cannot be used: " in app.caption[0].value
    assert "not JSON" in app.caption[0].value


@pytest.mark.parametrize("mode", ["zero", "its mean"])
def test_what_is_not_recorded_is_measured_when_asked(
    store: Callable, record_heads: Record, open_heads: Callable, mode: str
):
    store("one")
    store("two")
    table = record_heads("one").tables["zero" if mode == "zero" else "mean"]
    app = open_heads(**{"heads-checkpoint": "two", "heads-mode": mode})
    app.button(key="heads-measure").click().run()
    assert not app.exception
    assert not app.error
    assert heads_of(app) == [row.name for row in table.by_importance]
    app.selectbox(key="heads-sort").set_value("").run()  # it stays, though the button is up again
    assert heads_of(app) == [row.name for row in table.rows]


def test_heads_without_a_measure_are_named_with_the_reason(
    store: Callable, record_heads: Record, open_heads: Callable
):
    store(n_latents=30, n_layers=3)
    record_heads()
    app = open_heads(**{"heads-x": "contribution of the name"})
    _, caption = [c.value.replace("\\", "") for c in app.main.caption]
    assert "Without contribution of the name: L1·H0, L1·H1, L2·H0, L2·H1" in caption
    assert "their layer looks at latents" in caption
    app.selectbox(key="heads-x").set_value("attribution").run()
    meaning, caption = [c.value.replace("\\", "") for c in app.main.caption]
    assert "**direct attribution (logits)**: what the head adds directly" in meaning
    assert "L0·H0, L0·H1, L1·H0, L1·H1 (their layer writes to latents" in caption


def test_a_moment_of_training_has_a_table_of_its_own(
    store: Callable, record_heads: Record, open_heads: Callable
):
    store(n_snapshots=2)
    record_heads()
    app = open_heads(**{"heads-moment": "20"})
    assert "tiny at step 20" in app.main.markdown[0].value
    assert not app.code  # the command records the end of a training only
    app.button(key="heads-measure").click().run()
    assert cells(app)[0][0].startswith("[L")
    assert "moment=20" in cells(app)[0][0]


def test_a_course_checkpoint_without_its_questions_says_what_is_missing(
    store: Callable, open_heads: Callable, monkeypatch: pytest.MonkeyPatch
):
    folder = store()
    monkeypatch.delenv("A5_DATA", raising=False)
    monkeypatch.setattr("pages.heads.controls.checkpoint_task", lambda name: COURSE)
    app = open_heads()
    assert 'tiny --corpus "$A5_DATA" --split dev --record' in app.code[0].value
    app.button(key="heads-measure").click().run()
    assert "name the folder of its files in A5_DATA" in app.text[0].value
    assert folder.is_dir()


def test_a_checkpoint_without_a_task_is_to_be_given_a_question_set(
    store: Callable, open_heads: Callable
):
    write_card(store(), {"name": "tiny"})
    app = open_heads()
    assert [info.value for info in app.info] == [CHOOSE_SET]
    assert "heads-measure" not in [button.key for button in app.button]


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("part", [ONE, PATCH])
def test_every_kind_of_shipped_checkpoint_shows_one_question_and_patching(
    name: str, part: str, open_heads: Callable, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("A5_DATA", raising=False)
    app = open_heads(**{"heads-checkpoint": name, "heads-part": part})
    assert not app.error
    assert len(app.get("vega_lite_chart")) >= 1 or app.info
    said = [element.value for element in (*app.main.markdown, *app.info)]
    assert "Ada Lovelace" in "".join(said)


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_checkpoint_has_a_table_or_says_how_to_get_one(
    name: str, open_heads: Callable, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("A5_DATA", raising=False)
    app = open_heads(**{"heads-checkpoint": name})
    assert not app.error
    recorded: Any = heads_file(CHECKPOINTS / name, "dev").exists()
    assert len(app.get("vega_lite_chart")) == int(recorded)
    assert len(app.code) == int(not recorded)
