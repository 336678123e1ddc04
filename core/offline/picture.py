"""Vega-Lite specifications as SVG that still says what a mark stands for.

A chart's tooltips are written into the description that Vega gives each mark, and from there into
`data-t`, which the script in the file shows. A line has one mark for all its points: invisible
points beside it say what each is.
"""

import copy
import hashlib
import json
import re
import textwrap
from html import escape
from typing import Any, cast

MARK = "\u2063"  # begins each line of a tooltip; no text has it, for it cannot be seen
MOST_POINTS = 400  # rows of a line that get points
LETTER = 9  # pixels of one in a title, about
UNDER_POINTER = 80  # area of an invisible point
# What Streamlit's own theme does in a browser, as far as it matters on paper.
CONFIG: dict[str, Any] = {
    "background": None,
    "font": "sans-serif",
    "view": {"continuousWidth": 300, "continuousHeight": 300, "stroke": None},
    "title": {"anchor": "start", "fontSize": 16, "fontWeight": 600, "color": "#1D1B26"},
    "axis": {
        "labelFontSize": 13,
        "titleFontSize": 13,
        "titleFontWeight": "normal",
        "gridColor": "#E4E2EC",
        "domain": False,
    },
    "axisX": {"labelColor": "#1D1B26", "titleColor": "#1D1B26"},
    "axisY": {"labelColor": "#1D1B26", "titleColor": "#1D1B26"},
    "legend": {"labelFontSize": 13, "titleFontSize": 13, "labelLimit": 400},
    "range": {
        "category": ["#8A5CF0", "#3B8FD9", "#D97E0F", "#1FA37A", "#8D939B"],
        "ramp": "#F5F1FE #E7DEFC #D6C8FA #C3AEF6 #AE92F2 #9A76EE #875BE6 #7243D3 #44248A".split(),
        "diverging": (
            "#0B4F8A #2A74B8 #5E9BD2 #9BC3E4 #E6EEF5 #F7EDE0 #F0C48D #E09A45 #BE6F12 #8C4A00"
        ).split(),
    },
}
_TAG = re.compile(r'<[a-zA-Z](?:[^<>"]|"[^"]*")*>')
_ATTRIBUTE = re.compile(r'\s+([\w:-]+)="([^"]*)"')
_DIGITS = re.compile(r"(\.\d\d)\d+")
_DROPPED = {"class", "role", "aria-roledescription", "aria-hidden", "aria-label", "pointer-events"}


def vega_picture(spec: dict[str, Any], *, alt: str, width: int) -> str:
    """SVG of a specification that holds its data; what is as wide as its place gets `width`.

    Cost: 0.1 to 0.5 s; the renderer is 90 MB, so only who keeps a page loads it.
    """
    import vl_convert  # noqa: PLC0415 # pyright: ignore[reportMissingTypeStubs]

    told = _told(spec, spec.get("datasets", {}))
    if told.get("width") == "container":
        told["width"] = width
    if "title" in told:
        across = told["width"] if isinstance(told.get("width"), int | float) else width
        told["title"] = _wrapped(told["title"], int(across / LETTER))
    told["config"] = CONFIG | told.get("config", {})
    return labelled(tidied(vl_convert.vegalite_to_svg(told)), alt)


def labelled(svg: str, alt: str) -> str:
    """One picture for screen readers; the keyboard reaches it if marks in it have more to say."""
    more = ' tabindex="0"' if "data-t=" in svg or "data-z=" in svg else ""
    return svg.replace("<svg", f'<svg role="img" aria-label="{escape(alt)}"{more}', 1)


def tidied(svg: str) -> str:
    """What Vega wrote, with tooltips as `data-t`, shorter, its names no other picture's."""
    own = "p" + hashlib.sha256(svg.encode()).hexdigest()[:8]

    def attribute(found: re.Match[str]) -> str:
        name, value = found[1], found[2]
        if name == "aria-label" and value.startswith(MARK):
            return f' data-t="{value[1:]}"'
        if name in _DROPPED or (name == "opacity" and value == "1"):
            return ""
        if name == "style":  # the file allows none; Vega says in it alone that dots stay sharp
            return ' image-rendering="pixelated"' if "pixelated" in value else ""
        if name in ("d", "transform"):
            value = _DIGITS.sub(r"\1", value)
        elif name == "id":
            value = own + value
        elif value.startswith("url(#") or (name.endswith("href") and value.startswith("#")):
            value = value.replace("#", f"#{own}", 1)
        return f' {name}="{value}"'

    return _TAG.sub(lambda tag: _ATTRIBUTE.sub(attribute, tag[0]), svg)


def _wrapped(title: Any, most: int) -> Any:
    """A title in lines: one that is wider than its picture would be cut off."""
    if isinstance(title, dict):
        parts = cast("dict[str, Any]", title)
        return parts | {"text": _wrapped(parts.get("text", ""), most)}
    return textwrap.wrap(title, most) if isinstance(title, str) and len(title) > most else title


def _told(spec: dict[str, Any], rows: dict[str, list[Any]]) -> dict[str, Any]:
    """A copy in which every mark describes itself as its tooltip does, or not at all."""
    told = copy.copy(spec)
    for name in ("layer", "hconcat", "vconcat", "concat"):
        if name in told:
            parts = [_told(part, rows) for part in told[name]]
            told[name] = [*parts, *_points(parts, told, rows)] if name == "layer" else parts
    if "spec" in told:  # repeated or in facets
        told["spec"] = _told(told["spec"], rows)
    if "mark" in told:
        encoding = cast("dict[str, Any]", told.get("encoding", {}))
        told["encoding"] = encoding | {"description": {"value": {"expr": _said(encoding)}}}
        if _kind(told) == "line" and "layer" not in spec and "tooltip" in encoding:
            return _layered(told, rows)
    return told


def _said(encoding: dict[str, Any]) -> str:
    """The expression that gives the text of a tooltip, a line a field."""
    tooltip: Any = encoding.get("tooltip") or []
    given: list[Any] = [tooltip] if isinstance(tooltip, dict) else tooltip
    told = [_field(one) for one in given if "field" in one]
    return " + ".join(told) or "''"


def _field(one: dict[str, Any]) -> str:
    value = f"datum[{json.dumps(one['field'])}]"
    if "format" in one:
        shown = f"(isValid({value}) ? format({value}, {json.dumps(one['format'])}) : 'none')"
    else:
        shown = f"(isValid({value}) ? '' + {value} : 'none')"
    return f"{json.dumps(MARK + str(one.get('title') or one['field']) + ': ')} + {shown}"


def _kind(part: dict[str, Any]) -> str:
    mark: Any = part["mark"]
    return mark if isinstance(mark, str) else str(mark["type"])


def _points(
    parts: list[dict[str, Any]], above: dict[str, Any], rows: dict[str, list[Any]]
) -> list[dict[str, Any]]:
    """Invisible points of every line among these layers whose rows are few."""
    lines = [part for part in parts if "mark" in part and _kind(part) == "line"]
    return [
        _point(part)
        for part in lines
        if _said(part["encoding"]) != "''"
        and len(_rows(part.get("data", above.get("data", {})), rows)) <= MOST_POINTS
    ]


def _rows(data: dict[str, Any], rows: dict[str, list[Any]]) -> list[Any]:
    return data.get("values") or rows.get(data.get("name", ""), [])


def _point(line: dict[str, Any]) -> dict[str, Any]:
    kept = ("x", "y", "detail", "description", "xOffset", "yOffset")
    encoding = {name: line["encoding"][name] for name in kept if name in line["encoding"]}
    unseen = {"type": "point", "filled": True, "opacity": 0, "size": UNDER_POINTER, "clip": True}
    rest = {name: line[name] for name in ("data", "transform") if name in line}
    return rest | {"mark": unseen, "encoding": encoding}


def _layered(line: dict[str, Any], rows: dict[str, list[Any]]) -> dict[str, Any]:
    """A single line as a layer, so that its points have a place."""
    moved = ("mark", "encoding", "params", "transform")
    first = {name: line[name] for name in moved if name in line}
    rest = {name: value for name, value in line.items() if name not in moved}
    return rest | {"layer": [first, *_points([first], line, rows)]}
