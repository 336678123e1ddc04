"""Charts as templates: Altair builds one for its kind and options, once; a view fills in the rest.

Building, copying and checking a chart of schema objects takes Altair 10 to 60 ms, filling in a
plain specification less than one. What follows from the data (tables, labels, ends of scales,
heights, titles) stands in a template as a hole; what changes its form is an option of the function
that builds it, and so a key of its cache. No chart is checked while the app runs: the tests hold
every filled one against Vega-Lite's own schema.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Lock
from typing import Any, ParamSpec, TypeVar, cast

import altair as alt
import pandas as pd
from altair.utils.schemapi import debug_mode

from core.figures.palette import FONT_SIZE

Built = alt.Chart | alt.LayerChart | alt.HConcatChart | alt.VConcatChart
Drawn = TypeVar("Drawn", alt.Chart, alt.LayerChart, alt.HConcatChart, alt.VConcatChart)
Options = ParamSpec("Options")
MOST_TEMPLATES = 32  # of one kind; options are few, so this bounds what never happens
# White ground, and the size of a plot that names none.
SVG_CONFIG: dict[str, Any] = {
    "background": "white",
    "view": {"continuousWidth": 300, "continuousHeight": 300},
}
_building = Lock()  # Altair counts names and switches its checks in globals


class Hole(str):
    """A name in the place of a value that is not known yet."""

    __slots__ = ()


def hole(name: str) -> Any:
    """A place that `fill` gives a value; it stands where Altair takes a text, number or list."""
    return Hole(name)


def table(name: str) -> alt.Chart:
    """A chart of a table that `fill` gives; every field in it names its type."""
    return alt.Chart(alt.NamedData(name=name))


def laid_out(chart: Drawn, **properties: Any) -> Drawn:
    """Altair's `properties`, for values that may be holes: it would check each."""
    for name, value in properties.items():
        chart[name] = value
    return chart


@dataclass(frozen=True, slots=True)
class Figure:
    """A Vega-Lite specification and the tables that it names."""

    spec: dict[str, Any]
    tables: Mapping[str, pd.DataFrame]

    def titled(self, text: str) -> "Figure":
        """The same picture under a title of its own, as one that leaves the page has it."""
        above = {"text": text, "anchor": "start", "fontSize": FONT_SIZE}
        return replace(self, spec=self.spec | {"title": above})

    def to_dict(self) -> dict[str, Any]:
        """One specification that holds the rows themselves; numbers that are none become null."""
        rows = {name: alt.to_values(frame)["values"] for name, frame in self.tables.items()}
        return self.spec | {"datasets": rows}


def to_svg(figure: Figure) -> bytes:
    """SVG of a figure on a white ground, drawn without a browser.

    Cost: 0.3 s for a map of 35 tokens, 3 s and 3 MB for 128.
    """
    # Its renderer is 90 MB: only who saves a picture loads it.
    import vl_convert  # noqa: PLC0415 # pyright: ignore[reportMissingTypeStubs]

    return vl_convert.vegalite_to_svg(figure.to_dict() | {"config": SVG_CONFIG}).encode()


@dataclass(frozen=True, slots=True)
class Template:
    """A specification with holes."""

    spec: dict[str, Any]

    def fill(self, tables: Mapping[str, pd.DataFrame], **values: Any) -> Figure:
        """The figure of these tables. Raises KeyError for a hole without a value."""
        return Figure(cast("dict[str, Any]", _filled(self.spec, values)), tables)


def template(build: Callable[Options, Built]) -> Callable[Options, Template]:
    """Make a function that builds a chart give its template, built once for each set of options."""

    @lru_cache(maxsize=MOST_TEMPLATES)
    def built(*args: Options.args, **kwargs: Options.kwargs) -> Template:
        with _building, debug_mode(arg=False):  # a hole is no number: the schema would refuse it
            spec = build(*args, **kwargs).to_dict(validate=False)
        del spec["config"]  # Altair's default size; whoever draws has a theme
        return Template(spec)

    return cast("Callable[Options, Template]", built)


def _filled(part: Any, values: Mapping[str, Any]) -> Any:
    """A copy of a part of a specification with values in the place of its holes."""
    if isinstance(part, dict):
        inside = cast("dict[str, Any]", part)
        return {key: _filled(inner, values) for key, inner in inside.items()}
    if isinstance(part, list):
        return [_filled(inner, values) for inner in cast("list[Any]", part)]
    return values[part] if isinstance(part, Hole) else part
