"""Frozen dataclasses from JSON objects: every key known, none missing, each value of its type."""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

import msgspec

Made = TypeVar("Made")


def dataclass_from_dict(
    kind: type[Made],
    data: Mapping[str, Any],
    *,
    doors: Mapping[str, Callable[[dict[str, Any]], Any]] | None = None,
    passes_over_others: bool = False,
    needed: str | None = None,
) -> Made:
    """An instance of a dataclass, the inverse of `dataclasses.asdict`; dataclasses inside it too.

    `doors` make the values of fields that have a reader of their own. Keys that no field has are
    refused, or passed over. Raises ValueError naming keys, value and what is `needed` instead.

    msgspec checks types (a whole number is a float, true is no number), but values are taken as
    they stand: it would make 24.0 of a float's 24, which would not be written again as it was.
    """
    doors = doors or {}
    _refuse_keys(kind, data, extra_too=not passes_over_others)
    hints = get_type_hints(kind)
    values: dict[str, Any] = {}
    for field in _fields(kind):
        if (name := field.name) in data:
            values[name] = _value(name, data[name], hints[name], doors.get(name), needed)
    return kind(**values)


def _value(
    name: str,
    value: Any,
    hint: Any,
    door: Callable[[dict[str, Any]], Any] | None,
    needed: str | None,
) -> Any:
    is_object = door is not None or is_dataclass(hint)
    try:
        msgspec.convert(value, dict[str, Any] if is_object else hint)
    except msgspec.ValidationError:
        wanted = needed or _in_words(dict if is_object else hint)
        raise ValueError(f"{name} is {value!r:.80}, {wanted} is needed") from None
    if not is_object:
        return value
    inner: Any = dataclass_from_dict(cast(type[Any], hint), value) if door is None else door(value)
    return inner


def _in_words(hint: Any) -> str:
    """What a value of this type is called where another was found."""
    if get_origin(hint) is Literal:
        return f"one of {', '.join(get_args(hint))}"
    kinds = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    return " | ".join(map(_name, kinds))


def _name(kind: Any) -> str:
    if kind is NoneType:
        return "None"
    return "an object" if dict in (kind, get_origin(kind)) else getattr(kind, "__name__", str(kind))


def _refuse_keys(kind: type, data: Mapping[str, Any], *, extra_too: bool) -> None:
    extra = sorted(set(data) - {field.name for field in _fields(kind)})
    if extra and extra_too:
        raise ValueError(f"unknown keys: {', '.join(extra)}")
    if missing := [f.name for f in _fields(kind) if f.name not in data and not _may_lack(f)]:
        raise ValueError(f"missing keys: {', '.join(missing)}")


def _fields(kind: type) -> tuple[Field[Any], ...]:
    return fields(cast(Any, kind))


def _may_lack(field: Field[Any]) -> bool:
    return field.default is not MISSING or field.default_factory is not MISSING
