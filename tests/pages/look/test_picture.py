"""The page Look: a picture chosen, drawn or uploaded, and what each network says of it."""

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw
from streamlit.testing.v1 import AppTest

from core.pictures.networks import NETWORKS
from core.pictures.sample import write_sample
from core.pictures.strokes import parse_strokes
from pages.look.canvas import DRAWN
from pages.look.controls import FILE, SHIPPED
from pages.shared.uploads import KEPT, File
from tests.pages.look.seen import (
    N_CHARTS,
    N_SAMPLED,
    Shelf,
    alts,
    images,
    likely,
    rows_of,
)
from tests.pictures.hostile import UPLOADS

Open = Callable[..., AppTest]
Said = Callable[[AppTest], str]
SEVEN = [[60, 50, 220, 50, 120, 240]]


def test_the_page_opens_on_a_shipped_digit_with_every_picture(open_look: Open, said: Said):
    app = open_look()
    assert len(alts(app)) == N_CHARTS
    text = said(app)
    for heading in (
        "What does a convolution make of it?",
        "Where does it look?",
        "What if it is moved?",
        "Does attention learn a convolution?",
        "Wrong answers",
        "Does pooling help?",
    ):
        assert f"#### {heading}" in text
    assert app.selectbox(key="look-set").options == [SHIPPED, "drawn"]
    assert app.selectbox(key="look-class").value == "9"
    assert any(
        alt.startswith("No. 1") and alt.endswith("of shipped digits: a 9") for alt in images(app)
    )
    assert "it is a 9" in alts(app)[0] or "which is right" in alts(app)[0]


def test_recorded_answers_are_those_of_the_networks(open_look: Open, look: Shelf, said: Said):
    app = open_look()
    at = int(np.flatnonzero(look.sample.labels == 9)[0])
    recorded = np.stack(list(look.sample.said(at).values()))
    assert likely(app) == pytest.approx(recorded, abs=1e-4)
    app.slider(key="look-right").set_value(2).run()
    moved = likely(app)
    assert np.abs(moved - recorded).max() > 1e-4
    app.slider(key="look-right").set_value(0).run()
    assert likely(app) == pytest.approx(recorded, abs=1e-4)


def test_answers_recorded_of_other_networks_are_computed_anew(
    open_look: Open, look: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    flat = {name: np.full((N_SAMPLED, 10), 0.1) for name in NETWORKS}
    other = replace(look.sample, weights=dict.fromkeys(NETWORKS, "f" * 64), probabilities=flat)
    write_sample(tmp_path / "other.json", other)
    monkeypatch.setattr("pages.look.data.SAMPLE", tmp_path / "other.json")
    at = int(np.flatnonzero(look.sample.labels == 9)[0])
    computed = np.stack(list(look.sample.said(at).values()))
    assert likely(open_look()) == pytest.approx(computed, abs=1e-4)


def test_another_digit_and_another_set_are_chosen(open_look: Open):
    app = open_look()
    app.selectbox(key="look-class").set_value("7").run()
    picture = app.selectbox(key="look-picture")
    assert len(picture.options) == N_SAMPLED // 10
    picture.set_value(picture.options[-1]).run()
    assert any(alt.startswith(picture.options[-1]) for alt in images(app))
    app.selectbox(key="look-set").set_value("drawn").run()
    assert not app.exception
    assert len(app.selectbox(key="look-picture").options) == 200
    assert any(alt.endswith("of drawn: a 7") for alt in images(app))


def test_a_link_names_the_picture_and_how_it_is_moved(open_look: Open):
    app = open_look(set="drawn", **{"class": "3", "right": "-2", "down": "1"})
    assert any(alt.endswith("of drawn, moved 1 down and 2 left: a 3") for alt in images(app))


def test_a_set_of_other_classes_is_shown_without_a_right_answer(
    open_look: Open, tmp_path: Path, said: Said
):
    pictures = np.random.default_rng(0).integers(0, 256, (4, 28, 28), np.uint8)
    arrays: dict[str, Any] = {}
    for part in ("train", "val", "test"):
        arrays |= {f"{part}_images": pictures, f"{part}_labels": np.array([0, 1, 2, 3])}
    np.savez(tmp_path / "octmnist.npz", **arrays)
    app = open_look(set="octmnist")
    assert "The networks know digits alone" in " ".join(one.value for one in app.caption)
    assert app.selectbox(key="look-class").options == ["0", "1", "2", "3"]
    assert "it is a" not in alts(app)[0]
    assert not any(row["right"] for row in rows_of(app, 0, "bars"))


def test_a_broken_set_is_said_and_what_is_recorded_stays(open_look: Open, tmp_path: Path):
    (tmp_path / "broken.npz").write_bytes(b"PK")
    app = open_look(set="broken")
    assert app.error[0].value == "This picture cannot be looked at."
    assert "broken.npz: not an .npz file" in app.text[0].value
    assert len(alts(app)) == N_CHARTS - 2  # neither bars nor this picture moved


def test_wrong_answers_are_listed_and_looked_into(open_look: Open, look: Shelf, said: Said):
    app = open_look(**{"from": "wrong"})
    chooser = app.selectbox(key="look-wrong")
    assert len(chooser.options) == len(look.sample.wrong)
    at = look.sample.wrong[0]
    assert str(chooser.value).startswith(
        f"{look.sample.labels[at]} (No. {look.sample.numbers[at]}): "
    )
    assert f"Of 2,000 test pictures {len(look.sample.wrong)} are answered wrong" in said(app)
    chooser.set_value(chooser.options[3]).run()
    at = look.sample.wrong[3]
    expected = np.stack(list(look.sample.said(at).values()))
    assert likely(app) == pytest.approx(expected, abs=1e-4)


def test_nothing_is_said_before_something_is_drawn_and_then_it_is(open_look: Open, said: Said):
    app = open_look(**{"from": "draw"})
    assert app.info[0].value.startswith("Draw a digit")
    assert len(app.get("bidi_component")) == 1
    assert len(alts(app)) == N_CHARTS - 2
    app.session_state[DRAWN] = parse_strokes(SEVEN)
    app.run()
    assert not app.exception
    assert len(alts(app)) == N_CHARTS
    assert "The drawing, as the networks get it" in images(app)
    assert "a 7" not in alts(app)[0]  # what was meant is nobody's to know
    data = json.loads(app.get("bidi_component")[0].proto.json)
    assert data["strokes"] == SEVEN


@pytest.mark.parametrize("told", [None, {}, [[1, 2, 3]], [["x", "y"]], [[1, 2]] * 900, [[1e9, 0]]])
def test_what_a_browser_says_is_drawn_is_checked(told: Any, monkeypatch: pytest.MonkeyPatch):
    from pages.look import canvas

    state: dict[str, Any] = {canvas.KEY: {"strokes": told}, DRAWN: ((0, 0),)}
    monkeypatch.setattr(canvas.st, "session_state", state)
    canvas._keep()
    assert state[DRAWN] == ()
    state[canvas.KEY] = {"strokes": SEVEN}
    canvas._keep()
    assert state[DRAWN] == parse_strokes(SEVEN)


def upload(app: AppTest, data: bytes, size: int | None = None) -> AppTest:
    size = len(data) if size is None else size
    app.session_state[KEPT + FILE] = File("../../evil.png", size, data, str(hash(data)))
    app.run()
    assert not app.exception
    return app


def png() -> bytes:
    image = Image.new("L", (90, 90), 255)
    ImageDraw.Draw(image).line([(45, 15), (45, 75)], fill=0, width=8)
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def test_an_uploaded_picture_is_looked_at(open_look: Open):
    app = open_look(**{"from": "file"})
    assert app.info[0].value == "Choose a file with a picture of a digit."
    upload(app, png())
    assert "The uploaded picture, as the networks get it" in images(app)
    assert len(alts(app)) == N_CHARTS


@pytest.mark.parametrize("case", ["nothing", "JPEG of endless scans", "PNG of 9,000 x 9,000"])
def test_a_hostile_upload_is_refused_in_a_sentence(open_look: Open, case: str):
    data, words = UPLOADS[case]
    app = upload(open_look(**{"from": "file"}), data)
    assert app.error[0].value == "This picture cannot be looked at."
    assert words in app.text[0].value
    assert "\n" not in app.text[0].value


def test_a_large_upload_is_refused_by_its_size(open_look: Open):
    app = upload(open_look(**{"from": "file"}), b"", size=9_000_000)
    assert app.text[0].value == "the file has 9,000,000 bytes; at most 8,000,000 are read"
