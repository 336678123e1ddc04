"""Plotly's figures as plain values: what is dense or three-dimensional.

Nothing here imports Plotly: whoever draws knows how. Numbers travel as typed arrays in base64, a
third longer than their bytes and a quarter as long as their digits.
"""

import base64
import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.figures.palette import FONT_SIZE

CODES = {"float32": "f4", "uint8": "u1", "int8": "i1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """Traces, layout and how the figure may be handled; `note` says what it cannot show."""

    data: list[dict[str, Any]]
    layout: dict[str, Any]
    config: dict[str, Any]
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """What Plotly is given."""
        return {"data": self.data, "layout": self.layout}


def typed(values: NDArray[Any]) -> dict[str, Any]:
    """An array as Plotly takes it without digits. Raises KeyError for a type that it is not sent
    in.
    """
    shape = {"shape": ", ".join(map(str, values.shape))} if values.ndim > 1 else {}
    data = base64.b64encode(np.ascontiguousarray(values).tobytes()).decode()
    return {"dtype": CODES[values.dtype.name], "bdata": data, **shape}


def written(labels: Sequence[str], positions: Sequence[int]) -> list[str]:
    """Each position and its token: names that do not repeat, and that Plotly reads as no markup."""
    return [f"{position} {html.escape(labels[position], quote=False)}" for position in positions]


def tinted(colour: str, alpha: float) -> str:
    """A colour of the palette, more or less of it, so that both themes have it on their ground."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha:g})"


def layout(**more: Any) -> dict[str, Any]:
    """What every figure has: letters for the back row, the page's own ground, little margin."""
    return {
        "font": {"size": FONT_SIZE},
        "hoverlabel": {"font": {"size": FONT_SIZE}},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "margin": {"l": 4, "r": 4, "t": 8, "b": 4},
        **more,
    }


def config(name: str) -> dict[str, Any]:
    """What the bar above a figure offers: its camera saves an SVG of that name."""
    return {
        "displaylogo": False,
        "scrollZoom": True,
        "toImageButtonOptions": {"format": "svg", "filename": name},
    }
