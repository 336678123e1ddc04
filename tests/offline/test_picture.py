"""Charts as SVG whose marks say what they stand for."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from core.figures import attention as figures
from core.offline.picture import tidied, vega_picture

Spec = Callable[..., dict[str, Any]]


def told(svg: str) -> list[list[str]]:
    """The lines of what each mark says; SVG that is not well-formed XML fails here."""
    marks = [
        element.attrib["data-t"]
        for element in ET.fromstring(svg).iter()
        if "data-t" in element.attrib
    ]
    return [said.split("\u2063") for said in marks]


def test_a_mark_says_what_its_tooltip_said(spec: Spec):
    svg = vega_picture(spec(), alt="Three points", width=300)

    assert told(svg) == [['who: "a"', "y: 0.0"], ["who: <b>", "y: 1.0"], ["who: c", "y: 4.0"]]
    assert "aria-roledescription" not in svg


def test_the_picture_is_one_image_with_its_words_that_the_keyboard_reaches(spec: Spec):
    svg = vega_picture(spec(), alt='Points "a" & <b>', width=300)

    root = ET.fromstring(svg)
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"] == 'Points "a" & <b>'
    assert root.attrib["tabindex"] == "0"


def test_without_tooltips_nothing_is_said_and_nothing_is_reached(spec: Spec):
    silent = spec()
    del silent["encoding"]["tooltip"]

    svg = vega_picture(silent, alt="Three points", width=300)

    assert told(svg) == []
    assert "tabindex" not in svg


def test_every_point_of_a_line_says_what_it_is(spec: Spec):
    svg = vega_picture(spec("line"), alt="A line", width=300)

    assert ["who: c", "y: 4.0"] in told(svg)
    assert len(told(svg)) >= 3


def test_a_line_of_many_rows_gets_no_points(spec: Spec):
    rows = [{"x": x, "y": x, "name": "a"} for x in range(401)]

    svg = vega_picture(spec("line", data={"values": rows}), alt="A line", width=300)

    assert len(told(svg)) <= 1


def test_what_is_as_wide_as_its_place_gets_the_width_of_the_place(spec: Spec):
    wide, narrow = (
        ET.fromstring(vega_picture(spec(width="container"), alt="a", width=width))
        for width in (600, 300)
    )

    assert float(wide.attrib["width"]) - float(narrow.attrib["width"]) == 300


def test_a_long_title_is_in_lines(spec: Spec):
    svg = vega_picture(spec(title="word " * 20), alt="a", width=300)

    assert len(re.findall(r">word", svg)) > 1


def test_names_inside_of_pictures_never_meet_in_one_file(spec: Spec):
    clipped = [
        vega_picture(spec(mark={"type": "circle", "clip": True}, title=title), alt="a", width=300)
        for title in ("one", "two")
    ]

    names = [set(re.findall(r' id="([^"]+)"', svg)) for svg in clipped]
    assert all(names)
    assert not names[0] & names[1]
    for svg, own in zip(clipped, names, strict=True):
        assert set(re.findall(r"url\(#([^)]+)\)", svg)) <= own


def test_colours_stay_and_text_that_looks_like_an_attribute_stays_text():
    svg = tidied('<svg><path class="a" stroke="#ccc" d="M1.23456,2"/><text> class="x"</text></svg>')

    assert svg == '<svg><path stroke="#ccc" d="M1.23,2"/><text> class="x"</text></svg>'


def test_a_map_says_every_weight_that_can_be_seen():
    weights = np.tril(np.full((5, 5), 0.2, dtype=np.float32))
    labels = ["A", "<b>", '"', "n", "n"]
    figure = figures.attention_map(weights, weights, labels, 3)

    svg = vega_picture(figure.to_dict(), alt="A map", width=400)

    said = told(svg)
    assert len(said) == 15
    assert any("key: 1 <b>" in "|".join(lines) for lines in said)
    assert all(any(line.startswith("weight: 0.200") for line in lines) for lines in said)


def test_missing_numbers_are_none_and_no_error(spec: Spec):
    frame = pd.DataFrame({"x": [1.0], "y": [1.0], "name": [None]})

    svg = vega_picture(spec(data={"values": frame.to_dict("records")}), alt="a", width=300)

    assert told(svg) == [["who: none", "y: 1.0"]]


def test_dots_stay_sharp_without_a_style():
    svg = tidied('<image style="image-rendering: pixelated;" width="3"/><g style="color: red"/>')
    assert svg == '<image image-rendering="pixelated" width="3"/><g/>'
