"""Files of what is shown."""

import re
from collections.abc import Callable

import pytest

from core.figures.training import loss_chart
from pages.shared import charts


@pytest.mark.parametrize(("told", "width"), [(640, 640), (None, 300)])
def test_a_picture_that_fills_its_place_is_as_wide_in_a_file_as_told(
    told: int | None, width: int, monkeypatch: pytest.MonkeyPatch
):
    made: dict[str, bytes] = {}

    def download(label: str, data: Callable[[], bytes], file_name: str, mime: str) -> None:
        made[f"{label} {file_name} {mime}"] = data()

    monkeypatch.setattr(charts, "download", download)
    chart = loss_chart([("a", [(0.0, 1.0), (1.0, 0.5)])], axis="step")
    charts.download_svg("Loss", chart, "loss", width=told)
    ((told_of, picture),) = made.items()
    assert told_of == "Loss (SVG) loss.svg image/svg+xml"
    size = re.search(rb'<svg[^>]* width="(\d+)"', picture)
    assert size is not None
    assert int(size[1]) == width
    assert chart.spec["width"] == "container"
