"""Altair builds a chart once for its options; a view fills in tables and values."""

import json
from collections.abc import Callable
from threading import Barrier, Thread

import altair as alt
import numpy as np
import pandas as pd
import pytest
from altair.utils.schemapi import SchemaValidationError
from jsonschema import ValidationError

from core.figures import attention as figures
from core.figures.attention import Matrix
from core.figures.elements import axis
from core.figures.template import Template, hole, laid_out, table, template

FRAME = pd.DataFrame({"x": [1.0, float("nan")]})


def points(calls: list[str], dashed: str) -> alt.Chart:
    calls.append(dashed)
    x = alt.X("x:Q", axis=axis(values=hole("ticks")), scale=alt.Scale(domain=[0, hole("end")]))
    marks = table("points").mark_point(strokeDash=[4, 4] if dashed else [1, 0]).encode(x=x)
    return laid_out(marks, width=hole("width"))


@pytest.fixture
def calls() -> list[str]:
    return []


@pytest.fixture
def dotted(calls: list[str]) -> Callable[[str], Template]:
    return template(lambda dashed: points(calls, dashed))


def test_a_chart_is_built_once_for_each_set_of_options(
    dotted: Callable[[str], Template], calls: list[str]
):
    for dashed in ("", "yes", "", "yes", ""):
        dotted(dashed).fill({"points": FRAME}, ticks=[0], end=1, width=10)
    assert calls == ["", "yes"]


def test_every_hole_gets_its_value_whatever_it_is(dotted: Callable[[str], Template]):
    spec = dotted("").fill({"points": FRAME}, ticks=[1, 2], end=7.5, width=120).to_dict()
    x = spec["encoding"]["x"]
    assert (x["axis"]["values"], x["scale"]["domain"], spec["width"]) == ([1, 2], [0, 7.5], 120)
    assert spec["data"] == {"name": "points"}
    assert spec["datasets"] == {"points": [{"x": 1.0}, {"x": None}]}
    json.dumps(spec, allow_nan=False)


def test_filling_leaves_the_template_as_it_was(dotted: Callable[[str], Template]):
    first = dotted("").fill({"points": FRAME}, ticks=[1], end=1, width=1)
    first.spec["encoding"]["x"]["axis"]["values"] = "spoiled"
    second = dotted("").fill({"points": FRAME}, ticks=[2], end=2, width=2)
    assert second.spec["encoding"]["x"]["axis"]["values"] == [2]


def test_a_hole_without_a_value_is_an_error_that_names_it(dotted: Callable[[str], Template]):
    with pytest.raises(KeyError, match="width"):
        dotted("").fill({"points": FRAME}, ticks=[0], end=1)


def test_the_tests_refuse_a_filled_chart_that_vega_lite_would_not_draw(
    dotted: Callable[[str], Template],
):
    with pytest.raises(ValidationError, match="'wide' is not of type 'number'"):
        dotted("").fill({"points": FRAME}, ticks=[0], end=1, width="wide")


def test_another_title_is_that_of_a_copy(dotted: Callable[[str], Template]):
    plain = dotted("").fill({"points": FRAME}, ticks=[0], end=1, width=1)
    assert plain.titled("above").to_dict()["title"]["text"] == "above"
    assert "title" not in plain.spec


def test_a_second_view_asks_nothing_of_altair(
    causal: Callable[[int], Matrix], monkeypatch: pytest.MonkeyPatch
):
    figures.attention_map(causal(5), causal(5), list("abcde"), 2)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a view must not build a chart")

    monkeypatch.setattr(alt.LayerChart, "to_dict", refuse)
    other = figures.attention_map(causal(9), causal(9), list("abcdefghi"), 4, title="more")
    assert len(other.tables["cells"]) == np.tri(9).sum()


def test_viewers_at_one_time_leave_altairs_checks_on():
    barrier = Barrier(8)

    def build(n: int) -> None:
        barrier.wait()
        template(lambda: points([], str(n)))()

    threads = [Thread(target=build, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with pytest.raises(SchemaValidationError):
        alt.Axis(labelAngle="steep")  # pyright: ignore[reportArgumentType]
