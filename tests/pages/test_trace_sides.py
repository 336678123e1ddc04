"""A trace from a file on the pages Heads and Compare: alone, beside a model, beside another one."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.checkpoints.store import load_checkpoint
from core.inspection.heads import Head, parse_head
from core.inspection.readings import named_scores, read_trace
from core.inspection.recording import Recording, record
from core.inspection.sinks import sinks_apart
from core.inspection.trace_file import read_trace_file
from pages.shared.choosing import TRACE
from pages.shared.text import plain
from pages.shared.trace_files import UPLOAD

QUESTION, OTHER = "Where was Ada Arden born?", "Where was Bo Bello born?"
Open = Callable[..., AppTest]
Said = Callable[[AppTest], str]
SIDE = {"compare-what": "two checkpoints", "compare-first-checkpoint": TRACE}
BOTH = {**SIDE, "compare-second-checkpoint": TRACE}


@pytest.fixture
def recordings(
    store: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Recording]:
    """What the files a, b and few hold; the model of all is on the shelf."""
    folder = tmp_path / "traces"
    folder.mkdir()
    monkeypatch.setenv("EXPLORER_TRACES", str(folder))
    stored = load_checkpoint(store())
    found = {name: record(stored, text=text) for name, text in (("a", QUESTION), ("b", OTHER))}
    for name, recording in found.items():
        recording.save(folder / f"{name}.trace")
    found["a"].save(folder / "few.trace", heads=["L0H1", "L1H0"])
    return found


def specs(app: AppTest) -> list[dict[str, Any]]:
    return [json.loads(chart.proto.spec) for chart in app.get("vega_lite_chart")]


@pytest.mark.parametrize(
    ("part", "lacking"),
    [
        (
            "all heads",
            "The table over many questions, and what each head is worth: needs the model",
        ),
        (
            "one question",
            "What changes with a head off, direct attribution and the logit lens: needs",
        ),
        (
            "patching",
            "Patching, which runs the model once for every site: needs the model",
        ),
    ],
)
def test_heads_shows_the_scores_of_one_example_and_says_what_needs_the_model(
    recordings: dict[str, Recording], open_heads: Open, said: Said, part: str, lacking: str
):
    query = {"heads-checkpoint": TRACE, "heads-trace": "a.trace", "heads-part": part}
    app = open_heads(**query)
    assert lacking in "\n".join(caption.value for caption in app.caption)
    assert app.markdown[0].value.startswith(f"#### {plain(QUESTION)} → ")
    trace = recordings["a"].trace
    scores = named_scores(read_trace(trace), apart=sinks_apart(trace))
    assert scores.sentence(*app_head(app)) in said(app)
    assert "Recomputed here" in said(app)
    (chart,) = specs(app)
    assert len(app.get("vega_lite_chart")) == 1
    assert "weight on the name" in json.dumps(chart)
    app.session_state["heads-trace-table"] = True
    (table,) = [frame.value for frame in app.run().dataframe]
    assert list(table.index) == ["L0·H0", "L0·H1", "L1·H0", "L1·H1"]
    assert table["distance looked back (tokens)"].to_numpy() == pytest.approx(
        scores.heads["distance"].ravel()
    )


def app_head(app: AppTest) -> Head:
    return parse_head(str(app.selectbox(key="heads-head-trace").value))


def test_heads_leaves_the_first_token_of_a_trace_out(
    recordings: dict[str, Recording], open_heads: Open, said: Said
):
    query = {"heads-checkpoint": TRACE, "heads-trace": "a.trace"}
    app = open_heads(**query, **{"heads-no-first": "true"})
    without = named_scores(read_trace(recordings["a"].trace)).without_first
    assert without is not None
    assert without.sentence(*app_head(app)) in said(app)
    app.session_state["heads-trace-table"] = True
    (table,) = [frame.value for frame in app.run().dataframe]
    assert table["distance looked back (tokens)"].to_numpy() == pytest.approx(
        without.heads["distance"].ravel()
    )


def test_heads_offers_recorded_heads_alone(recordings: dict[str, Recording], open_heads: Open):
    app = open_heads(**{"heads-checkpoint": TRACE, "heads-trace": "few.trace"})
    assert app.selectbox(key="heads-head-trace").options == ["L0·H1", "L1·H0"]
    app.selectbox(key="heads-measure-trace").set_value("contribution").run()
    assert not app.exception
    drawn = json.dumps(specs(app), ensure_ascii=False)
    assert "L0·H1" in drawn
    assert "L0·H0" not in drawn


def test_two_traces_stand_side_by_side(
    recordings: dict[str, Recording], open_compare: Open, said: Said
):
    names = {"compare-first-trace": "a.trace", "compare-second-trace": "b.trace"}
    app = open_compare(**BOTH, **names)
    assert "A · a.trace" in said(app).replace("*", "")
    assert "B · b.trace" in said(app).replace("*", "")
    assert len(specs(app)) == 4
    assert said(app).count("Recomputed here") == 2
    assert not app.error


def test_a_trace_stands_beside_the_model_that_is_asked_the_same(
    recordings: dict[str, Recording], open_compare: Open, said: Said
):
    query = {"compare-first-trace": "a.trace", "compare-second-checkpoint": "tiny"}
    app = open_compare(**SIDE, **query)
    answer = recordings["a"].trace.answer
    assert said(app).replace("*", "").count(f"→ {' '.join(answer.split())}") == 2
    assert "does the same in A and in B" in said(app)
    assert said(app).count("Recomputed here") == 1
    assert not [box for box in app.selectbox if box.key == "compare-source"]


def test_heads_that_one_side_lacks_are_not_compared(
    recordings: dict[str, Recording], open_compare: Open, said: Said
):
    names = {"compare-first-trace": "few.trace", "compare-second-trace": "a.trace"}
    app = open_compare(**BOTH, **names)
    assert app.selectbox(key="compare-head").options == ["L0·H1", "L1·H0"]
    assert len(app.selectbox(key="compare-head-b").options) == 4
    assert "none puts any weight elsewhere" in said(app)
    app.session_state["compare-table"] = True
    apart = app.run().dataframe[1].value
    assert apart.isna().to_numpy().tolist() == [[True, False], [False, True]]
    assert apart.loc["L1", "H0"] == 0


def test_compare_asks_for_an_upload_where_no_trace_is_chosen(
    recordings: dict[str, Recording], open_compare: Open, tmp_path: Path
):
    app = open_compare(**SIDE, **{"compare-first-trace": UPLOAD})
    assert "Upload a trace" in app.info[0].value
    data = (tmp_path / "traces" / "b.trace").read_bytes()
    app.file_uploader(key="compare-first-trace-upload").set_value(("mine.trace", data, ""))
    app.run()
    assert not app.exception
    assert "mine" in app.markdown[1].value or "mine" in app.markdown[0].value
    assert read_trace_file(tmp_path / "traces" / "b.trace").trace.question == OTHER
