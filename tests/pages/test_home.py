"""The home page shows a real answer before torch is loaded."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.files import write_json
from pages.shared.text import percent

ROOT = Path(__file__).resolve().parents[2]
STORED = json.loads((ROOT / "assets" / "home_trace.json").read_text(encoding="utf-8"))


def test_home_shows_an_answered_question_its_head_and_the_way_on(
    shown: Callable[[AppTest], str],
):
    app = AppTest.from_file(ROOT / "app.py", default_timeout=60).run()
    assert not app.exception
    assert app.markdown[0].value.startswith("### Attention Explorer")
    heading = app.markdown[1].value
    assert STORED["question"] in heading
    assert f"**{STORED['answer']}**" in heading
    first, row = app.get("vega_lite_chart")
    assert "looks at “Ada”" in first.proto.alt  # its pieces are a word
    assert "when it writes “London”" in first.proto.alt
    assert "row 6" in row.proto.alt
    links = [link.proto.page for link in app.get("page_link")]
    assert links == [
        "lessons",
        *("attention", "heads", "knowledge", "compare"),
        *("listen", "look", "monte_carlo", "attention_by_hand"),
        *("memory", "runtime", "training", "report_card"),
    ]
    assert percent(STORED["probability"]) in shown(app)


def test_the_report_card_has_a_picture_as_soon_as_something_is_recorded(
    put_course: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    shown: Callable[[AppTest], str],
):
    monkeypatch.setattr("pages.home.cards.CHECKPOINTS", tmp_path / "checkpoints")
    monkeypatch.setattr("pages.home.cards.BENCHMARKS", tmp_path)
    app = AppTest.from_file(ROOT / "app.py", default_timeout=60).run()
    assert len(app.get("image")) == 6
    assert "No variant of the course's task is recorded yet" in shown(app)
    put_course()
    app.run()
    assert not app.exception
    assert len(app.get("image")) == 7
    assert "No variant of the course's task" not in shown(app)


def test_a_shelf_without_tables_and_snapshots_is_told_in_the_cards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shown: Callable[[AppTest], str]
):
    monkeypatch.setattr("pages.home.cards.CHECKPOINTS", tmp_path)
    app = AppTest.from_file(ROOT / "app.py", default_timeout=60).run()
    assert not app.exception
    assert "No table of heads is recorded yet" in shown(app)
    assert "Nothing is recorded yet of what a model knows" in shown(app)
    assert "No training with snapshots is here yet" in shown(app)
    assert "Start, watch and compare short trainings" in shown(app)


def test_without_digits_and_with_broken_ones_their_card_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shown: Callable[[AppTest], str]
):
    monkeypatch.setattr("pages.home.cards.SAMPLE", tmp_path / "digits.json")
    for text in ("", "{}"):
        if text:
            (tmp_path / "digits.json").write_text(text, encoding="utf-8")
        app = AppTest.from_file(ROOT / "app.py", default_timeout=60).run()
        assert not app.exception
        assert "No digits are shipped yet" in shown(app)


def test_the_card_of_times_has_a_picture_of_the_first_stored_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shown: Callable[[AppTest], str]
):
    monkeypatch.setattr("pages.home.cards.CHECKPOINTS", tmp_path / "checkpoints")
    monkeypatch.setattr("pages.home.cards.BENCHMARKS", tmp_path)
    base = {"causal": False, "pass": "forward", "head_dim": 32}
    records = [
        {**base, "method": method, "seq_len": n, "median_seconds": n * scale}
        for method, scale in (("sdpa", 2e-3), ("elu", 1e-3))
        for n in (128, 256)
    ]
    bench = {"machine": {}, "environment": {}, "records": records}
    (tmp_path / "a.json").write_text(json.dumps(bench), encoding="utf-8")
    app = AppTest.from_file(ROOT / "app.py", default_timeout=60).run()
    assert not app.exception
    assert len(app.get("image")) == 7
    (tmp_path / "a.json").write_text("{", encoding="utf-8")
    app.run()
    assert not app.exception
    assert "No machine's times are stored yet" in shown(app)


def test_a_damaged_stored_trace_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "home_trace.json"
    path.write_text('{"question": "Where"}', encoding="utf-8")
    monkeypatch.setattr("core.paths.ASSETS", tmp_path)
    app = AppTest.from_file(ROOT / "app.py", default_timeout=60).run()
    assert "not a stored trace: 'answer'" in app.exception[0].value


def test_what_a_model_from_elsewhere_knows_is_said_as_it_was_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    measured = {
        "model": "theirs",
        "birthplaces": {"right": 7, "total": 63},
        "ours": "mine",
        "birthplaces_ours": {"right": 60, "total": 63},
        "first_token_share": {"128": 0.512},
    }
    path = tmp_path / "own_model.json"
    monkeypatch.setattr("pages.home.cards.OWN_MODEL", path)
    write_json(path, measured)
    said = [text.value for text in AppTest.from_file(str(ROOT / "app.py")).run(timeout=60).markdown]
    assert any(
        "of 63 birthplaces theirs names 7, mine 60, and 51.2 % of all" in text for text in said
    )
    write_json(path, {"model": "theirs"})
    app = AppTest.from_file(str(ROOT / "app.py")).run(timeout=60)
    assert not app.exception
    assert not any("can be opened too" in text.value for text in app.markdown)
