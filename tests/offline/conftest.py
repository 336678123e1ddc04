"""What a file is made of, small."""

from collections.abc import Callable
from typing import Any

import pytest

from core.offline.parts import Document, Part


@pytest.fixture
def spec() -> Callable[..., dict[str, Any]]:
    """A chart of three points with a tooltip."""

    def make(mark: str = "circle", **more: Any) -> dict[str, Any]:
        rows = [{"x": x, "y": x * x, "name": name} for x, name in enumerate(('"a"', "<b>", "c"))]
        return {
            "data": {"values": rows},
            "mark": mark,
            "width": 200,
            "encoding": {
                "x": {"field": "x", "type": "quantitative"},
                "y": {"field": "y", "type": "quantitative"},
                "tooltip": [
                    {"field": "name", "type": "nominal", "title": "who"},
                    {"field": "y", "type": "quantitative", "format": ".1f"},
                ],
            },
            **more,
        }

    return make


@pytest.fixture
def document() -> Callable[..., Document]:
    """A file with these parts."""

    def make(*parts: Part) -> Document:
        return Document(title="A page <1>", origin=(("Address", "/a?b=<c>"),), parts=parts)

    return make
