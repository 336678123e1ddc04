"""The table of calls and the functions behind it say the same."""

import inspect
from typing import Any

import pytest

from core.lessons.calls import CALLS, arguments_of
from core.lessons.check import functions


@pytest.mark.parametrize("name", CALLS)
def test_a_call_and_its_function_take_the_same(name: str):
    _, *parameters = inspect.signature(functions()[name], eval_str=True).parameters.values()
    assert {p.kind for p in parameters} <= {inspect.Parameter.KEYWORD_ONLY}
    row = CALLS[name]
    needed = {p.name: p.annotation for p in parameters if p.default is p.empty}
    others = {p.name: p.annotation for p in parameters if p.default is not p.empty}
    assert (row.needs, row.may) == (needed, others)
    assert row.gives


def test_arguments_have_the_types_of_the_call():
    told: dict[str, Any] = {"scores": [1, 2.5], "beta": 8, "key": 1}
    found = arguments_of("softmax_weight", told)
    assert found == {"scores": (1.0, 2.5), "beta": 8.0, "key": 1}
    assert isinstance(found["beta"], float)


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"scores": [1], "beta": 1}, "softmax_weight is not told key"),
        ({"scores": [1], "beta": 1, "key": 1, "seed": 0}, "is told seed; it takes scores, beta"),
        ({"scores": [1], "beta": "1", "key": 1}, "beta is '1' .*float"),
        ({"scores": [1], "beta": True, "key": 1}, "beta is True"),
        ({"scores": ["a"], "beta": 1, "key": 1}, "scores is"),
    ],
)
def test_other_arguments_are_refused(told: dict[str, Any], why: str):
    with pytest.raises(ValueError, match=why):
        arguments_of("softmax_weight", told)
