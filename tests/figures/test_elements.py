"""What several pictures share: sizes that can be read, dashes and points by name."""

import json

import altair as alt
import pytest

from core.figures import elements
from core.figures.palette import FONT_SIZE, KEY, QUERY
from core.figures.template import hole, table, template


def test_titles_axes_and_legends_have_the_size_for_the_back_row():
    assert elements.title("Weights").to_dict() == {
        "text": "Weights",
        "anchor": "start",
        "fontSize": FONT_SIZE,
    }
    assert elements.axis(grid=False).to_dict() == {
        "labelFontSize": FONT_SIZE,
        "titleFontSize": FONT_SIZE,
        "grid": False,
    }
    assert elements.legend(orient="top").to_dict()["labelFontSize"] == FONT_SIZE


def test_every_name_has_its_own_dashes():
    names = ["one", "two", "three", "four"]
    patterns = [[1, 0], [2, 2], [3, 3], [4, 4]]
    lines = table("lines").mark_line()
    chart = lines.encode(strokeDash=elements.dashes(names, patterns, columns=2)).to_dict()
    dashes = chart["encoding"]["strokeDash"]
    assert dashes["scale"] == {"domain": names, "range": patterns}
    assert (dashes["sort"], dashes["legend"]["columns"]) == (names, 2)


@pytest.mark.parametrize("names", [["one"], ["one", "two", "three", "four"]])
def test_every_named_line_has_its_own_dashes(names: list[str]):
    chart = elements.named_lines(
        "lines",
        alt.X("x:Q"),
        alt.Y("y:Q"),
        names,
        colour=KEY,
        tooltip=[alt.Tooltip("x:Q")],
    ).to_dict()
    scale = chart["encoding"]["strokeDash"]["scale"]
    assert scale["domain"] == names
    assert len({tuple(dash) for dash in scale["range"]}) == len(scale["range"]) >= len(names)
    assert chart["data"] == {"name": "lines"}
    assert [each["field"] for each in chart["encoding"]["tooltip"]] == ["name", "x"]


def test_every_named_point_has_its_shape_and_colour():
    chart = elements.named_points(
        "points",
        alt.X("x:Q"),
        alt.Y("y:Q"),
        ["here", "there"],
        ["cross", "diamond"],
        [QUERY, KEY],
        orient="top",
        tooltip=[alt.Tooltip("x:Q")],
    ).to_dict()
    encoding = chart["encoding"]
    assert encoding["shape"]["scale"] == {
        "domain": ["here", "there"],
        "range": ["cross", "diamond"],
    }
    assert encoding["stroke"]["scale"] == {"domain": ["here", "there"], "range": [QUERY, KEY]}
    assert chart["data"] == {"name": "points"}
    assert [each["field"] for each in encoding["tooltip"]] == ["name", "x"]


def test_the_names_of_lines_may_be_filled_in_later():
    @template
    def named() -> alt.Chart:
        x, y = alt.X("x:Q"), alt.Y("y:Q")
        return elements.named_lines("lines", x, y, hole("names"), colour=KEY, tooltip=[])

    for names in (["a"], ["b", "c"]):
        dash = named().fill({}, names=names).spec["encoding"]["strokeDash"]
        assert dash["scale"]["domain"] == dash["sort"] == names


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.3, 20.0], [0.1, 1, 10, 100]),
        ([1.0, 10.0], [1, 10]),
        ([0.0, 5.0], [1, 10]),
        ([], []),
    ],
)
def test_a_logarithmic_axis_has_a_tick_at_each_power_of_ten(
    values: list[float], expected: list[float]
):
    assert elements.decades(values) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("n", "room", "size", "every"),
    [(10, 330, 14, 1), (29, 330, 11, 1), (36, 330, 9, 1), (60, 330, 8, 2), (128, 330, 8, 4)],
)
def test_names_shrink_where_they_are_many_and_are_thinned_aloud_where_that_is_not_enough(
    n: int, room: float, size: int, every: int
):
    labels = [f"t{i}" for i in range(n)]
    found = elements.named_tokens("key", labels, room, "key")
    shown = json.loads(found["key_text"].removesuffix("[datum.value]"))
    assert (found["key_size"], [text for text in shown if text]) == (size, labels[::every])
    told = {1: "key", 2: "key · every 2nd is named", 4: "key · every 4th is named"}
    assert found["key_title"] == told[every]
    assert every * room / n >= size  # what is named has room for its name


def test_thinning_counts_the_tokens_that_are_shown():
    labels = [f"t{i}" for i in range(9)]
    found = elements.named_tokens("key", labels, 20, "key", at=[1, 4, 6, 8])
    shown = json.loads(found["key_text"].removesuffix("[datum.value]"))
    assert [shown[position] for position in (1, 4, 6, 8)] == ["t1", "", "t6", ""]


def test_names_are_spread_by_no_more_than_they_need():
    assert elements.spread([1.0, 5.0], 2.0, 0.0, 10.0) == [1.0, 5.0]
    assert elements.spread([5.0, 5.0, 1.0], 2.0, 0.0, 10.0) == [4.0, 6.0, 1.0]
    assert elements.spread([3.0, 5.0, 5.0], 2.0, 0.0, 10.0) == pytest.approx(
        [7 / 3, 13 / 3, 19 / 3]
    )
    assert elements.spread([0.0, 0.0, 10.0, 10.0], 2.0, 0.0, 10.0) == [0.0, 2.0, 8.0, 10.0]
    assert elements.spread([], 2.0, 0.0, 10.0) == []
