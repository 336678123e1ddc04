"""Dataclasses from JSON objects: keys and types are held, and values stay as they stand."""

import json
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import pytest

from core.from_json import dataclass_from_dict


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    width: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outer:
    name: str
    rate: float
    state: Literal["on", "off"] = "on"
    more: dict[str, Any] | None = None
    inner: Inner = field(default_factory=Inner)
    upper: str = ""


WHOLE: dict[str, Any] = {"name": "a", "rate": 24, "inner": {"width": 3}, "upper": "A"}


def test_a_dataclass_comes_back_as_it_was_written():
    read = dataclass_from_dict(Outer, WHOLE)
    assert read == Outer(name="a", rate=24, inner=Inner(width=3), upper="A")
    assert dataclass_from_dict(Outer, json.loads(json.dumps(asdict(read)))) == read


def test_a_whole_number_of_a_float_is_written_again_as_a_whole_number():
    assert json.dumps(dataclass_from_dict(Outer, WHOLE).rate) == "24"


def test_a_field_with_a_door_is_made_there_and_errors_go_through():
    doors = {"inner": lambda data: Inner(width=2 * data["width"])}
    assert dataclass_from_dict(Outer, WHOLE, doors=doors).inner.width == 6

    def refuse(_: dict[str, Any]) -> Any:
        raise ValueError("no recipe")

    with pytest.raises(ValueError, match="no recipe"):
        dataclass_from_dict(Outer, WHOLE, doors={"inner": refuse})
    with pytest.raises(ValueError, match="inner is 3, an object is needed"):
        dataclass_from_dict(Outer, {**WHOLE, "inner": 3}, doors=doors)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"zoo": 1, "age": 2}, "unknown keys: age, zoo"),
        ({"name": 7}, "name is 7, str is needed"),
        ({"rate": True}, "rate is True, float is needed"),
        ({"rate": "1"}, "rate is '1', float is needed"),
        ({"state": "up"}, "state is 'up', one of on, off is needed"),
        ({"name": None}, "name is None, str is needed"),
        ({"more": []}, r"more is \[\], an object \| None is needed"),
        ({"inner": []}, r"inner is \[\], an object is needed"),
        ({"inner": {"width": 1.0}}, r"width is 1.0, int \| None is needed"),
        ({"inner": {"depth": 1}}, "unknown keys: depth"),
    ],
)
def test_what_is_not_such_an_object_is_named(change: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        dataclass_from_dict(Outer, {**WHOLE, **change})


def test_missing_keys_are_named_and_those_with_a_default_may_lack():
    assert dataclass_from_dict(Outer, {"name": "a", "rate": 0.5}) == Outer(name="a", rate=0.5)
    with pytest.raises(ValueError, match="missing keys: name, rate"):
        dataclass_from_dict(Outer, {})


def test_unknown_keys_are_passed_over_where_that_is_told():
    assert dataclass_from_dict(Outer, {**WHOLE, "zoo": 1}, passes_over_others=True).name == "a"


def test_an_error_can_say_what_all_its_values_need():
    with pytest.raises(ValueError, match="name is 7, a text is needed"):
        dataclass_from_dict(Outer, {**WHOLE, "name": 7}, needed="a text")
