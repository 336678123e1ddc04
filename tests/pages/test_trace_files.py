"""Traces from files on the pages: without the model, without torch, and with their proof."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from core.checkpoints.store import load_checkpoint
from core.inspection.recording import record
from core.inspection.trace_file import read_trace_file, save_trace
from core.inspection.trace_json import trace_to_dict
from core.inspection.traced import no_scores
from pages.shared.choosing import TRACE
from pages.shared.text import plain
from pages.shared.trace_files import MOST_MEGABYTES, UPLOAD

QUESTION = "Where was Ada Arden born?"
BROKEN: dict[str, dict[str, str]] = {
    "attention": {"checkpoint": TRACE, "trace": "broken.trace"},
    "heads": {"heads-checkpoint": TRACE, "heads-trace": "broken.trace"},
    "compare": {
        "compare-what": "two checkpoints",
        "compare-first-checkpoint": TRACE,
        "compare-first-trace": "broken.trace",
        "compare-second-checkpoint": TRACE,
        "compare-second-trace": "broken.trace",
    },
}
Open = Callable[..., AppTest]
Shown = Callable[[AppTest], str]


@pytest.fixture
def traces(store: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with traces of the tiny model that is on the shelf; pages are told of it."""
    folder = tmp_path / "traces"
    folder.mkdir()
    found = record(load_checkpoint(store()), text=QUESTION)
    found.save(folder / "all.trace", with_vectors=True)
    found.save(folder / "few.trace", heads=["L0H1", "L1H0"], precision="float16")
    (folder / "old.json").write_text(json.dumps(trace_to_dict(found.trace)))
    (folder / "broken.trace").write_bytes((folder / "all.trace").read_bytes()[:-1])
    (folder / "notes.txt").write_text("no trace")
    monkeypatch.setenv("EXPLORER_TRACES", str(folder))
    return folder


def charts(app: AppTest) -> list[Any]:
    return list(app.get("vega_lite_chart"))


def test_the_attention_page_shows_a_trace_of_the_folder_like_an_answer(
    traces: Path, open_page: Open, shown: Shown, said: Callable[[AppTest], str]
):
    app = open_page(checkpoint=TRACE, trace="all.trace")
    assert app.selectbox(key="trace").options == [
        "all.trace",
        "broken.trace",
        "few.trace",
        "old.json",
        UPLOAD,
    ]
    direct = open_page(checkpoint="tiny", question=QUESTION, source="type freely")
    assert app.markdown[0].value.startswith(f"#### {plain(QUESTION)} → **")
    assert app.markdown[0].value.split("**")[1] == direct.markdown[0].value.split("**")[1]
    assert len(charts(app)) == 3
    assert [c.proto.spec for c in charts(app)] == [c.proto.spec for c in charts(direct)]
    text = said(app)
    assert "Recomputed here: rows sum to 1 within" in text.replace("*", "")
    assert "outputs are weights · values within" in text
    assert "Its writer says (needs the model): replayed" in text.replace("*", "")
    assert "all.trace" in text
    assert "written of tiny (GPT) · sha256 of the state dict" in text
    assert "numbers stored as float32" in text
    assert "Another question, heads off" in shown(app)
    assert not [button for button in app.button if str(button.key).startswith("off-")]
    assert app.segmented_control(key="view").set_value("q·k parts").run()
    assert not app.exception


def test_heads_that_are_not_recorded_cannot_be_chosen(
    traces: Path, open_page: Open, said: Callable[[AppTest], str], click: Callable[..., None]
):
    app = open_page(checkpoint=TRACE, trace="few.trace")
    assert app.selectbox(key="head").options == ["L0·H1", "L1·H0"]
    assert "2 of 4 heads recorded" in said(app)
    assert "numbers stored as float16 (within 2⁻¹¹)" in said(app)
    assert "No q·k parts: this trace has no queries and keys." in [c.value for c in app.caption]
    app.selectbox(key="head").set_value("L0·H1").run()
    assert charts(app)[0].proto.alt.endswith("L0·H1 is chosen")
    click(app, "heads-chart-L0·H1", "head", layer=0, head=0)
    assert app.selectbox(key="head").value == "L0·H1"
    click(app, "heads-chart-L0·H1", "head", layer=1, head=0)
    assert app.selectbox(key="head").value == "L1·H0"
    named = open_page(checkpoint=TRACE, trace="few.trace", head="L0·H0")
    assert named.selectbox(key="head").value in ("L0·H1", "L1·H0")
    assert "which cannot be had here" in named.warning[0].value


def test_a_json_trace_opens_by_the_same_entry(
    traces: Path, open_page: Open, said: Callable[[AppTest], str]
):
    app = open_page(checkpoint=TRACE, trace="old.json")
    assert len(charts(app)) == 3
    assert "numbers stored as JSON with six digits" in said(app)
    assert "its writer names no model" in said(app)


@pytest.mark.parametrize("page", ["attention", "heads", "compare"])
def test_a_broken_trace_is_one_sentence_without_the_servers_folder(
    traces: Path, open_by_link: Open, page: str, shown: Shown
):
    app = open_by_link(page, **BROKEN[page])
    assert "This trace cannot be used: its arrays have" in shown(app)
    assert str(traces) not in shown(app)
    assert not charts(app)


def uploading(app: AppTest, data: bytes, name: str, key: str = "trace-upload") -> AppTest:
    app.file_uploader(key=key).set_value((name, data, ""))
    app.run()
    assert not app.exception, app.exception[0].value
    return app


def test_a_trace_is_uploaded_kept_and_its_name_is_no_path(
    traces: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch, shown: Shown
):
    data = (traces / "few.trace").read_bytes()
    monkeypatch.delenv("EXPLORER_TRACES")
    app = open_page(checkpoint=TRACE)
    assert f"at most {MOST_MEGABYTES} MB" in app.info[0].value
    assert 'record(model, tokenizer, text).save("x.trace")' in app.code[0].value
    assert {u.proto.max_upload_size_mb for u in app.file_uploader} == {MOST_MEGABYTES}
    uploading(app, data, "../../etc/<b>evil</b>.trace")
    assert app.selectbox(key="head").options == ["L0·H1", "L1·H0"]
    assert plain("../../etc/<b>evil</b>.trace") in shown(app)
    app.switch_page("pages/home/page.py").run()
    app.switch_page("pages/attention/page.py").run()
    app.selectbox(key="checkpoint").set_value(TRACE).run()
    assert app.selectbox(key="head").options == ["L0·H1", "L1·H0"]
    assert "In memory: " in shown(app)


def test_an_uploaded_file_that_is_no_trace_is_one_sentence(
    traces: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch, shown: Shown
):
    app = open_page(checkpoint=TRACE, trace=UPLOAD)
    uploading(app, b"\xff" * 99, "x.trace")
    assert "This trace cannot be used: not a whole trace file" in shown(app)
    uploading(app, b"[]", "x.json")
    assert "This trace cannot be used: not a stored trace: a JSON object is needed" in shown(app)
    data = (traces / "few.trace").read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr("pages.shared.trace_files.MOST_UPLOAD", len(data) - 1)
        app = uploading(open_page(checkpoint=TRACE, trace=UPLOAD), data, "x.trace")
        assert f"{len(data):,} bytes, more than the {len(data) - 1:,} that are read" in shown(app)
    with monkeypatch.context() as patch:
        patch.setattr("pages.shared.trace_files.MOST_UPLOADED_WEIGHTS", 10)
        app = uploading(open_page(checkpoint=TRACE, trace=UPLOAD), data, "x.trace")
        assert "numbers a kind; at most 10 are laid out" in shown(app)


def test_a_trace_of_two_tokens_is_too_short_to_draw(
    traces: Path, open_page: Open, shown: Shown, tmp_path: Path
):
    whole = read_trace_file(traces / "few.trace").trace
    short = replace(
        whole,
        labels=whole.labels[:2],
        word_starts=(True, True),
        special=(),
        name_positions=(),
        recorded=(),
        steps=(replace(whole.steps[0], row=1, position=2),),
        weights=np.array([[[[1, 0], [0.5, 0.5]]] * 2] * 2, np.float32),
        value_norm=np.ones((2, 2, 2), np.float32),
        value=np.zeros((2, 2, 2, 0), np.float32),
        output=np.zeros((2, 2, 2, 0), np.float32),
        scores=no_scores(),
        seen=np.broadcast_to(np.tri(2, dtype=bool), (2, 2, 2)),
    )
    save_trace(traces / "short.trace", short)
    app = open_page(checkpoint=TRACE, trace="short.trace")
    assert "2 tokens: too few to draw" in shown(app)


@pytest.mark.parametrize("page", ["attention", "heads", "compare"])
def test_a_trace_of_a_text_behind_which_nothing_is_written_is_shown(
    traces: Path, open_by_link: Open, page: str, said: Callable[[AppTest], str]
):
    whole = read_trace_file(traces / "all.trace").trace
    silent = replace(whole, steps=(), answer="", probability=0.0)
    save_trace(traces / "silent.trace", silent)
    app = open_by_link(page, **{k: v.replace("broken", "silent") for k, v in BROKEN[page].items()})
    assert not app.error
    assert charts(app)
    if page != "compare":
        assert "(nothing is written)" in said(app)


def test_a_name_that_is_not_in_the_list_opens_nothing(traces: Path, open_page: Open, shown: Shown):
    app = open_page(checkpoint=TRACE, trace="../checkpoints/tiny/card.json")
    assert app.selectbox(key="trace").value == "all.trace"
    assert "cannot be had here" in app.warning[0].value


def test_a_folder_without_traces_says_so(
    traces: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("EXPLORER_TRACES", str(tmp_path / "nowhere"))
    app = open_page(checkpoint=TRACE)
    assert "holds no trace" in "".join(c.value for c in app.caption)
    assert app.info


TORCHLESS = """
import os, sys
sys.path.insert(0, ".")
from streamlit.testing.v1 import AppTest
home = AppTest.from_file("app.py", default_timeout=60).run()
for page, query in {pages!r}:
    app = AppTest.from_file("app.py", default_timeout=60)
    app._registered_pages = home._registered_pages
    app.switch_page(f"pages/{{page}}/page.py")
    app.query_params.update(query)
    app.run()
    assert not app.exception, app.exception
    print(page, len(app.get("vega_lite_chart")) > 0, "torch" in sys.modules)
"""


def test_pages_with_a_trace_load_no_torch(traces: Path, alone: Callable[[str], list[str]]):
    pages = [
        ("attention", {"checkpoint": TRACE, "trace": "all.trace"}),
        ("heads", {"heads-checkpoint": TRACE, "heads-trace": "all.trace"}),
        (
            "compare",
            {
                "compare-what": "two checkpoints",
                "compare-first-checkpoint": TRACE,
                "compare-first-trace": "all.trace",
                "compare-second-checkpoint": TRACE,
                "compare-second-trace": "few.trace",
            },
        ),
    ]
    assert alone(TORCHLESS.format(pages=pages)) == [
        *("attention", "True", "False"),
        *("heads", "True", "False"),
        *("compare", "True", "False"),
    ]
