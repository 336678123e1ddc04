"""The page Look: maps of networks, heads and filters; recorded sweeps; what may be missing."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.pictures.networks import PATCHES, POOLING, STRIDES
from tests.pages.look.seen import N_CHARTS, Shelf, alts, images, right_of
from tests.pictures.sweeps import made_up

Open = Callable[..., AppTest]
Said = Callable[[AppTest], str]


def test_maps_follow_the_network_the_head_and_the_filter(open_look: Open, said: Said):
    app = open_look()
    before = images(app)
    assert sum("After max-pooling" in alt for alt in before) == 2
    app.segmented_control(key="look-convolution").set_value(STRIDES).run()
    assert not any("After max-pooling" in alt for alt in images(app))
    app.selectbox(key="look-covered").set_value(PATCHES).run()
    assert any(alt.startswith("Occlusion map of attention over patches") for alt in images(app))
    app.selectbox(key="look-head").set_value("L1·H3").run()
    assert "Weights of the class token in L1·H3, over the picture" in images(app)
    assert "In L1·H3 the class token gives most" in said(app)
    app.selectbox(key="look-offset-head").set_value("L0·H2").run()
    assert "L0·H2 gives most to the patch" in said(app)
    app.selectbox(key="look-filter").set_value("Filter 5").run()
    assert "Filter 5: its weights by offset" in images(app)
    assert not app.exception
    assert "no rollout" in app.selectbox(key="look-head").help
    assert any("Logits replayed through these weights" in one.value for one in app.caption)


def test_untrained_heads_look_at_no_fixed_offset(open_look: Open, said: Said):
    app = open_look()
    assert "No head looks at a fixed offset: the highest score is 0.0" in said(app)
    app.session_state["look-offset-table"] = True
    app.run()
    assert not app.exception
    assert len(app.dataframe[0].value) == 12


def test_pooling_has_its_answer_with_an_interval_and_curves_by_rate(open_look: Open, said: Said):
    app = open_look()
    found = made_up(right_of)
    assert "Does pooling help?" in said(app)
    assert f"Student's t over {found.spec.seeds} seeds" in said(app)
    rates = app.segmented_control(key="look-rate")
    assert list(rates.options) == [f"{rate:g}" for rate in found.spec.rates]
    other = next(rate for rate in found.spec.rates if rate != rates.value)
    rates.set_value(other).run()
    assert any(alt.endswith(f"on validation pictures at rate {other:g}") for alt in alts(app))
    assert "224,892" in said(app)


def test_without_networks_what_is_recorded_is_shown(
    open_look: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: Said
):
    monkeypatch.setattr("pages.look.data.PICTURE_NETWORKS", tmp_path / "none")
    app = open_look()
    assert "No network is shipped yet that could say what it is" in said(app)
    assert len(alts(app)) == N_CHARTS - 2
    assert "#### Wrong answers" in said(app)


def test_with_nothing_at_all_a_drawn_digit_is_still_seen(
    open_look: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: Said
):
    for name in ("data.PICTURE_NETWORKS", "data.SAMPLE", "data.LOOK"):
        monkeypatch.setattr(f"pages.look.{name}", tmp_path / "none.json")
    app = open_look()
    assert any(alt.endswith("of drawn: a 9") for alt in images(app))
    assert alts(app) == []
    assert app.segmented_control(key="look-from").options == ["test", "draw", "file"]


def test_a_network_of_other_weights_than_its_card_is_said(
    open_look: Open, look: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    shutil.copytree(look.networks, tmp_path / "networks")
    path = tmp_path / "networks" / f"{POOLING}.safetensors"
    path.write_bytes(path.read_bytes()[:-2] + b"\0\1")
    monkeypatch.setattr("pages.look.data.PICTURE_NETWORKS", tmp_path / "networks")
    monkeypatch.setattr("pages.look.looking.PICTURE_NETWORKS", tmp_path / "networks")
    app = open_look()
    assert "is not the file that its card describes" in app.text[0].value
