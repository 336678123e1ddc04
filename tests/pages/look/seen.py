"""What is put there for the page, and what it shows of it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from streamlit.testing.v1 import AppTest

from core.pictures.networks import PATCHES, POOLING, STRIDES
from core.pictures.pictures import Pictures
from core.pictures.sample import Sample
from core.pictures.sweep_spec import Case

N_CHARTS, N_SAMPLED = 6, 40


def right_of(case: Case) -> int:
    """Pooling is better by 4 to 6 of 200, the middle rate best."""
    best = {POOLING: 190, STRIDES: 185, PATCHES: 180}[case.network]
    return best - (5 if case.rate == 0.1 else 0) - case.seed * (1 + (case.network == STRIDES)) // 2


@dataclass(frozen=True, slots=True)
class Shelf:
    """Where the page finds what it shows, and what was put there."""

    networks: Path
    sample_path: Path
    sweep_path: Path
    sample: Sample
    drawn: Pictures


def alts(app: AppTest) -> list[str]:
    return [chart.proto.alt.replace("\u00a0", " ") for chart in app.get("vega_lite_chart")]


def images(app: AppTest) -> list[str]:
    return [one.alt for found in app.get("image") for one in found.proto.imgs]


def rows_of(app: AppTest, chart: int, table: str) -> list[dict[str, Any]]:
    """The rows of a chart's table."""
    found = {one.name: one for one in app.get("vega_lite_chart")[chart].proto.datasets}
    return pa.ipc.open_stream(found[table].data.data).read_all().to_pylist()


def likely(app: AppTest) -> np.ndarray:
    """(networks, classes) as the bars have it."""
    return np.array([row["probability"] for row in rows_of(app, 0, "bars")]).reshape(-1, 10)
