"""The attention page opens on every variant and offers only what the variant has."""

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest


@pytest.mark.parametrize(
    ("sizes", "views", "note"),
    [
        ({"attention": "synthesizer"}, ["map", "arcs"], "do not depend on pairs of tokens"),
        (
            {"n_latents": 40},
            ["map", "arcs", "q·k parts"],
            "latents at latents, each at its position.",
        ),
        ({"n_latents": 4}, ["map", "arcs", "q·k parts"], "behind position 3 reach only themselves"),
        ({}, ["map", "arcs", "q·k parts"], ""),
    ],
)
def test_every_variant_shows_what_it_has_and_says_what_its_maps_mean(
    store: Callable,
    open_page: Callable,
    shown: Callable[[AppTest], str],
    sizes: dict[str, Any],
    views: list[str],
    note: str,
):
    store(**sizes)
    app = open_page()
    assert app.button_group(key="view").options == views
    assert len(app.get("vega_lite_chart")) == 3
    assert note in shown(app)
    assert ("Synthesizer" in shown(app) or "Perceiver" in shown(app)) == bool(note)
