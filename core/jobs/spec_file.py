"""job.json to a spec: every key known, none missing, every value of its type."""

from dataclasses import fields
from pathlib import Path
from typing import Any, cast, get_type_hints

from core.files import read_json
from core.jobs.bench_spec import VERB, BenchJob, bench_from_dict
from core.jobs.folder import JOB
from core.jobs.spec import VERBS, Limits, Overrides, TrainSpec
from core.training.recipe import recipe_from_dict

NESTED = ("overrides", "recipe", "limits")


def read_spec(folder: Path) -> TrainSpec:
    """The spec of a job's folder. Raises ValueError in one sentence.

    What it asks for is not checked: a server whose limits have changed still lists its old jobs.
    """
    return spec_from_dict(read_json(folder / JOB))


def read_job(folder: Path) -> TrainSpec | BenchJob:
    """The spec of a job of either verb. Raises ValueError in one sentence."""
    data = read_json(folder / JOB)
    if data.get("verb") != VERB:
        return spec_from_dict(data)
    try:
        return bench_from_dict(data)
    except ValueError as error:
        raise ValueError(f"{JOB}: {error}") from None


def spec_from_dict(data: dict[str, Any]) -> TrainSpec:
    """The inverse of `TrainSpec.to_dict`."""
    if data.get("verb") not in VERBS:
        known = ", ".join(VERBS)
        raise ValueError(f"{JOB}: unknown verb {data.get('verb')!r}; this version knows {known}")
    data = {"start_from": None, **data}  # older files have no such key
    names = [field.name for field in fields(TrainSpec)]
    _refuse_keys(data, [*names, "arguments"], needed=names)
    for key in NESTED:
        if not isinstance(data[key], dict):
            raise ValueError(f"{JOB}: {key} is {data[key]!r}, an object is needed")
    plain = {name: data[name] for name in names if name not in NESTED}
    _check_types(TrainSpec, plain)
    try:
        recipe = recipe_from_dict(data["recipe"])
    except ValueError as error:
        raise ValueError(f"{JOB}: {error}") from None
    overrides = _typed(Overrides, data["overrides"], needed=[])
    limits = _typed(Limits, data["limits"], needed=[field.name for field in fields(Limits)])
    return TrainSpec(
        **plain, overrides=Overrides(**overrides), recipe=recipe, limits=Limits(**limits)
    )


def _typed(kind: type[Overrides] | type[Limits], value: object, *, needed: list[str]) -> Any:
    data = cast(dict[str, Any], value)
    _refuse_keys(data, [field.name for field in fields(kind)], needed=needed)
    _check_types(kind, data)
    return data


def _refuse_keys(data: dict[str, Any], known: list[str], *, needed: list[str]) -> None:
    if extra := sorted(set(data) - set(known)):
        raise ValueError(f"{JOB}: unknown keys: {', '.join(extra)}")
    if missing := [key for key in needed if key not in data]:
        raise ValueError(f"{JOB}: missing keys: {', '.join(missing)}")


def _check_types(kind: type, data: dict[str, Any]) -> None:
    hints = get_type_hints(kind)
    for key, value in data.items():
        allowed = hints[key] | int if hints[key] in (float, float | None) else hints[key]
        if isinstance(value, bool) or not isinstance(value, allowed):
            wanted = getattr(hints[key], "__name__", hints[key])
            raise ValueError(f"{JOB}: {key} is {value!r}, {wanted} is needed")
