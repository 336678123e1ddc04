"""Present: a page's main picture alone, as large as the window; keys step, Esc leaves.

All is drawn as ever, so that every control keeps its value; a style sheet hides what is not the
main picture and enlarges the rest. Picture and letters grow by the browser's zoom, under which a
click or a hover on a mark still hits it; Plotly, which reckons with its own pixels, is drawn at
their true size with larger letters.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import streamlit as st

from core.figures.palette import FONT_SIZE
from core.figures.plot import Plot
from core.figures.template import Figure
from pages.shared import bound

KEY, PICTURE, BAR = "present", "main-picture", "present-bar"
# Letters of 14 pixels become 20; a window of 1280x720 is then one of 882x496.
ZOOM = 1.45
WIDTH, HEIGHT = 856, 470
# A window larger in both directions is filled as well; in a smaller one the picture shrinks.
LARGER = {1600: 900, 1900: 1060, 2500: 1400, 3800: 2100}
SMALLER = {1279: 1.0, 880: 0.72, 640: 0.41}
SHOWN = f".st-key-{PICTURE}, .st-key-{BAR}"
RULES = f"""
[data-testid=stSidebar], [data-testid=stExpandSidebarButton], [data-testid=stHeader] {{
  display: none !important;
}}
[data-testid=stMainBlockContainer] {{ padding: 8px 12px !important; max-width: none; }}
[data-testid=stMainBlockContainer]:has(.st-key-{PICTURE})
  *:not(:has({SHOWN})):not(:is({SHOWN})):not(:is({SHOWN}) *) {{
  display: none !important;
}}
[data-testid=stMainBlockContainer] :has(.st-key-{PICTURE}) {{
  width: 100% !important; max-width: none !important; flex: 1 1 100% !important;
  grid-column: 1 / -1 !important; padding: 0 !important; gap: 0 !important;
}}
[data-testid=stMain]:has(.st-key-{PICTURE}) {{ overflow: hidden; }}
.st-key-{BAR} {{ position: fixed; top: 2px; right: 8px; width: auto !important; z-index: 1; }}
.st-key-{BAR} :is(button, button *) {{ font-size: {FONT_SIZE}px !important; }}
"""


def on() -> bool:
    """Whether the page is presented. A link says so before the switch is drawn."""
    asked = st.query_params.get(KEY, "").lower() in ("true", "on")
    return bool(st.session_state.get(KEY, asked))


def apply_present() -> None:
    """Before a page is drawn: what hides and enlarges, and the way out."""
    if not on():
        return
    larger = [
        f"@media (min-width: {width}px) and (min-height: {height}px) {{ {_zoomed(height / 720)} }}"
        for width, height in LARGER.items()
    ]
    smaller = [
        f"@media (max-width: {width}px) {{ {_zoomed(zoom / ZOOM)} }}"
        for width, zoom in SMALLER.items()
    ]
    rules = "\n".join([RULES, _zoomed(1), *larger, *smaller])
    st.html(f"<style>{rules}</style>")
    with st.container(key=BAR):
        st.button("Leave", shortcut="Esc", key="present-leave", type="tertiary", on_click=_put_off)


def _zoomed(share: float) -> str:
    return (
        f"[data-testid=stMainBlockContainer] {{ zoom: {ZOOM * share:.3f}; }}\n"
        f"[data-testid=stPlotlyChart] {{ zoom: {1 / (ZOOM * share):.3f}; }}"
    )


def choose_present() -> None:
    """After a page was drawn: the switch at the end of the side bar, and its key."""
    with st.sidebar:
        bound.toggle(
            "Present",
            key=KEY,
            help="Only the picture, large, for a projector. Key P; arrows step, Esc leaves.",
        )
        if not on():
            st.button("Present", shortcut="P", key="present-now", on_click=_put_on)


def keys_step(
    key: str,
    options: Sequence[str],
    keys: tuple[str, str],
    what: str,
    *,
    then: Callable[[], None] | None = None,
) -> None:
    """Two keys of the keyboard that step a control through options, while a page is presented."""
    if not on() or len(options) < 2:
        return
    for name, shortcut, by in (("previous", keys[0], -1), ("next", keys[1], 1)):
        st.button(
            f"{what}: {name}",
            shortcut=shortcut,
            key=f"present-{what}-{name}",
            on_click=_step,
            args=(key, list(options), by, then),
        )


def enlarged(figure: Figure, title: str) -> Figure:
    """A figure for the whole window: its size, a title if it has none, and no small letter."""
    spec = cast("dict[str, Any]", _legible(figure.spec))
    above = {"anchor": "start", "fontSize": FONT_SIZE + 2, "limit": 780}
    held = spec.get("title")
    text = held.get("text") if isinstance(held, dict) else held
    # Told in numbers: Streamlit measures a place with its zoom, and draws in pixels without.
    size = {"width": WIDTH, "height": HEIGHT, "title": above | {"text": text or title}}
    fit = {"autosize": {"type": "fit", "contains": "padding"}}
    return replace(figure, spec=spec | size | fit)


def enlarged_plot(plot: Plot) -> Plot:
    """The same for a plot, in true pixels."""
    letters = {"font": {"size": round(FONT_SIZE * ZOOM)}, "height": round(HEIGHT * ZOOM)}
    return replace(plot, layout={**_legible(plot.layout), **letters})


def _legible(part: Any) -> Any:
    """A copy whose letters are at least as large as a page's; names that then overlap are left
    out.
    """
    if isinstance(part, list):
        return [_legible(inner) for inner in cast("list[Any]", part)]
    if not isinstance(part, dict):
        return part
    inside = cast("dict[str, Any]", part)
    small = {
        key: FONT_SIZE
        for key, value in inside.items()
        if key.lower().endswith("fontsize") and isinstance(value, int | float) and value < FONT_SIZE
    }
    thinned = {"labelOverlap": "greedy"} if "labelFontSize" in small else {}
    return {key: _legible(value) for key, value in inside.items()} | small | thinned


def _step(key: str, options: list[str], by: int, then: Callable[[], None] | None) -> None:
    held = st.session_state.get(key)
    place = options.index(held) if held in options else 0
    st.session_state[key] = options[(place + by) % len(options)]
    if then is not None:
        then()


def _put_on() -> None:
    st.session_state[KEY] = True


def _put_off() -> None:
    st.session_state[KEY] = False
