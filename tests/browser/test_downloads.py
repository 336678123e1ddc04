"""The three files that the page offers."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.inspection.trace_json import trace_from_dict


def download(page: Any, label: str, folder: Path) -> tuple[str, Path]:
    with page.expect_download() as started:
        page.get_by_role("button", name=label).click()
    path = folder / "file"
    started.value.save_as(path)
    return started.value.suggested_filename, path


def test_the_downloads_are_a_picture_a_table_and_a_trace(
    open_page: Callable, asked: dict[str, str], tmp_path: Path
):
    page = open_page(**asked, head="L1·H1", fold="false")

    name, path = download(page, "Weights (CSV)", tmp_path)
    rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
    n_tokens = len(rows) - 1
    assert name == "L1·H1.csv"
    assert rows[0][1:] == [row[0] for row in rows[1:]]
    assert rows[1][0].startswith("0 ")
    for index, row in enumerate(rows[1:]):
        assert sum(map(float, row[1 : index + 2])) == pytest.approx(1, abs=1e-5)
        assert row[index + 2 :] == [""] * (n_tokens - 1 - index)  # masked is empty, not zero

    name, path = download(page, "Trace (JSON)", tmp_path)
    trace = trace_from_dict(json.loads(path.read_text(encoding="utf-8")))
    assert name == "trace.json"
    assert trace.question == asked["question"]
    assert trace.n_tokens == n_tokens
    shown = np.array([[float(cell or 0) for cell in row[1:]] for row in rows[1:]])
    assert trace.weights[1, 1] == pytest.approx(shown, abs=1e-5)

    name, path = download(page, "Picture (SVG)", tmp_path)
    picture = path.read_text(encoding="utf-8")
    assert name == "L1·H1 picture.svg"
    assert picture.startswith("<svg")
    assert "L1·H1" in picture
    assert "query (looks)" in picture
