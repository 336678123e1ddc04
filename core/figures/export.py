"""A chart as an SVG file, drawn without a browser."""

from typing import Any

import vl_convert  # pyright: ignore[reportMissingTypeStubs]

from core.figures.template import Figure

# White ground, and the size of a plot that names none.
CONFIG: dict[str, Any] = {
    "background": "white",
    "view": {"continuousWidth": 300, "continuousHeight": 300},
}


def to_svg(figure: Figure) -> bytes:
    """SVG of a figure on a white ground.

    Cost: 0.3 s for a map of 35 tokens, 3 s and 3 MB for 128.
    """
    return vl_convert.vegalite_to_svg(figure.to_dict() | {"config": CONFIG}).encode()
