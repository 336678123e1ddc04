"""Measurements as lines of the pictures: colours by what a pair does, shapes by names."""

from collections.abc import Mapping, Sequence

from core import mechanisms
from core.figures.memory import Line, Point
from core.figures.palette import FADES, FAMILIES, MASKED, TAKES_AWAY
from core.figures.runtime import SHAPES
from core.memory import mqar
from core.memory.capacity import Capacity
from core.memory.generation import MODELS, Kept, bytes_text
from core.memory.names import FORMS, Kind, label
from core.memory.spec import METHODS
from pages.shared.text import percent

EXACT, MAP, SPARSE = (
    FAMILIES[mechanisms.FAMILIES.index(family)] for family in ("exact", "feature map", "sparse")
)
COLOURS: Mapping[Kind, str] = {
    "keeps all": EXACT,
    "adds up": MAP,
    "keeps the last": SPARSE,
    "adds up, keeps the last": MAP,
    "fades": FADES,
    "takes away": TAKES_AWAY,
    "fades, takes away": TAKES_AWAY,
}


def recalled(found: Capacity, methods: Sequence[str]) -> list[Line]:
    """A line a mechanism, with its theory."""
    return [
        Line(
            label(method),
            COLOURS[FORMS[method].kind],
            SHAPES[METHODS.index(method)],
            [
                Point(n, rate.value, rate.low, rate.high, _share(rate.value, rate.low, rate.high))
                for n, rate in zip(found.pairs, found.recalled[method], strict=True)
            ],
            list(zip(found.pairs, found.theory[method] or (), strict=False)),
        )
        for method in methods
    ]


def trained(record: mqar.Recall, models: Sequence[str]) -> list[Line]:
    """A line a model that was trained, its mean over seeds with the interval."""
    return [_trained(record, found) for found in record.of(models)]


def _trained(record: mqar.Recall, found: mqar.Found) -> Line:
    alone = found.model == mqar.ALONE
    method = "softmax" if alone else found.model
    rates = [(n, found.at(n)) for n in record.pairs]
    points = [
        Point(n, rate.value, rate.low, rate.high, _share(rate.value, rate.low, rate.high))
        for n, rate in rates
    ]
    return Line(
        mqar.label(found.model),
        MASKED if alone else COLOURS[FORMS[method].kind],
        SHAPES[METHODS.index(method)],
        points,
    )


def of_heads(kept: Kept, methods: Sequence[str]) -> list[Line]:
    """Bytes of one head of each mechanism."""
    return [
        Line(
            label(method),
            COLOURS[FORMS[method].kind],
            SHAPES[METHODS.index(method)],
            _counted(kept, method),
        )
        for method in methods
    ]


def of_models(kept: Kept) -> list[Line]:
    """Bytes of each named model."""
    return [
        Line(model.name, COLOURS[model.kind], SHAPES[index], _counted(kept, model.name))
        for index, model in enumerate(MODELS)
    ]


def _counted(kept: Kept, name: str) -> list[Point]:
    return [
        Point(length, n, n, n, bytes_text(n))
        for length, n in zip(kept.lengths, kept.n_bytes[name], strict=True)
    ]


def _share(value: float, low: float, high: float) -> str:
    return f"{percent(value)} (95 %: {percent(low)} to {percent(high)})"
