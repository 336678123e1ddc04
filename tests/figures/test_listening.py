"""A sound and who listens to it, on one axis of time."""

import base64
import io
import json
import re

import numpy as np
import pytest
from PIL import Image

from core.figures.listening import BARS, GAP, SOUND, Heard, sound_map, sound_picture
from core.figures.listening_parts import diagonal_bars, letters, time_map
from core.figures.template import to_svg
from core.speech.features import band_hertz
from tests.fake_heard import along

FRAMES = np.random.default_rng(0).normal(size=(160, 40)).astype(np.float32)
LABELS = ["w", "·", '"', "\\", "⏎"]


def heard(chosen: int = 1, **changes: float) -> Heard:
    return Heard(
        weights=along(len(LABELS)),
        labels=LABELS,
        probabilities=[0.9] * len(LABELS),
        chosen=chosen,
        seconds_a_column=0.05,
        **changes,
    )


@pytest.fixture
def spec():
    return sound_map(FRAMES, band_hertz(), 0.0125, heard()).to_dict()


def pixels(uri: str) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2]))))


def test_sound_and_weights_share_the_axis_of_time(spec):
    sound, weights = spec["datasets"]["pictures"]
    assert (sound["left"], sound["right"]) == (0, 2)
    assert (weights["left"], weights["right"]) == (0, 2)
    assert sound["high"] == SOUND
    assert weights["low"] == SOUND + 2 * GAP + BARS
    domains = {json.dumps(layer["encoding"]["x"]["scale"]["domain"]) for layer in spec["layer"]}
    assert domains == {"[0.0, 2.0]"}


def test_a_dot_is_as_full_as_its_weight(spec):
    dots = pixels(spec["datasets"]["pictures"][1]["url"])
    assert dots.shape == (5, 40, 4)
    order = np.argsort(along(5).ravel())
    assert (np.diff(dots[..., 3].ravel()[order].astype(int)) >= 0).all()


def test_full_colour_is_the_weight_that_is_told():
    top = float(along(5).max())
    own = sound_map(FRAMES, band_hertz(), 0.0125, heard(top=top)).to_dict()
    assert pixels(own["datasets"]["pictures"][1]["url"])[..., 3].max() == 255


def test_a_louder_band_is_fuller_and_high_bands_stand_above(spec):
    frames = np.full((8, 40), -1.5, np.float32)
    frames[:, 39] = 2.5
    dots = pixels(
        sound_map(frames, band_hertz(), 0.0125).to_dict()["datasets"]["pictures"][0]["url"]
    )
    assert dots[0, :, 3].tolist() == [255] * 8
    assert dots[1:, :, 3].max() < 20


def test_the_chosen_character_is_framed_and_its_weights_are_bars(spec):
    (frame,) = spec["datasets"]["chosen"]
    assert frame["row"] == 1
    now = spec["datasets"]["now"]
    assert len(now) == 80
    np.testing.assert_allclose([one["weight"] for one in now[40:]], along(5)[1], rtol=1e-6)
    assert min(one["low"] for one in now[40:]) == SOUND + GAP
    assert {one["high"] for one in now[:40]} == {SOUND}


def test_rows_are_named_by_their_character_and_bands_in_hertz(spec):
    axis = spec["layer"][0]["encoding"]["y"]["axis"]
    names = json.loads(re.findall(r"\((.*)\)\[datum.value\]", axis["labelExpr"])[0])
    assert [names[str(place)] for place in axis["values"]] == [
        "250 Hz",
        "1,000 Hz",
        "3,000 Hz",
        *LABELS,
    ]
    assert axis["labelFontSize"] >= 8


def test_a_click_on_a_row_chooses_it(spec):
    (rows,) = [layer for layer in spec["layer"] if layer.get("params")] or [spec]
    assert [one["row"] for one in spec["datasets"]["rows"]] == [0, 1, 2, 3, 4]
    params = [*spec.get("params", []), *rows.get("params", [])]
    assert {one["name"] for one in params} == {"heard"}


@pytest.mark.parametrize("n_rows", [1, 100])
def test_one_character_and_a_hundred_have_room(n_rows: int):
    many = Heard(
        weights=along(n_rows),
        labels=["a"] * n_rows,
        probabilities=[1.0] * n_rows,
        chosen=n_rows - 1,
        seconds_a_column=0.05,
    )
    spec = sound_map(FRAMES, band_hertz(), 0.0125, many).to_dict()
    assert 170 < spec["height"] < 480
    places = spec["layer"][0]["encoding"]["y"]["axis"]["values"]
    assert len({*places}) == len(places)
    title = spec["layer"][0]["encoding"]["y"]["title"]
    assert ("one in 3 is named" in title) == (n_rows == 100)


def test_a_picture_leaves_the_page_with_its_dots():
    svg = to_svg(sound_map(FRAMES, band_hertz(), 0.0125, heard(), title="L0·H0"))
    assert svg.count(b"data:image/png") >= 2


def test_a_sound_alone_is_a_picture():
    assert len(sound_map(FRAMES, band_hertz(), 0.0125).to_dict()["layer"]) == 1
    assert Image.open(io.BytesIO(sound_picture(FRAMES))).size == (480, 120)


def test_a_head_of_the_encoder_has_time_on_both_axes():
    spec = time_map(along(40), 0.05, top=0.5).to_dict()
    (picture,) = spec["datasets"]["pictures"]
    assert (picture["right"], picture["high"]) == (2, 2)
    encoding = spec["layer"][0]["encoding"]
    assert encoding["x"]["title"] == "looked at (s)"
    assert encoding["y"]["scale"]["reverse"]


def test_every_letter_has_its_bar_and_what_else_it_may_have_been():
    spec = letters(LABELS, [0.1, 0.2, 0.3, 0.4, 0.5], ["x"] * 5).to_dict()
    rows = spec["datasets"]["letters"]
    assert [row["probability"] for row in rows] == [0.1, 0.2, 0.3, 0.4, 0.5]
    assert {row["others"] for row in rows} == {"x"}


def test_every_head_has_its_bar_beside_uniform():
    spec = diagonal_bars(["L3·H0", "L3·H1"], [0.2, 0.6], 0.19, [0.0, 0.9]).to_dict()
    assert [row["share"] for row in spec["datasets"]["heads"]] == [0.2, 0.6]
    assert {row["uniform"] for row in spec["datasets"]["heads"]} == {0.19}
