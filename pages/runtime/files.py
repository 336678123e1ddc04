"""Every picture as SVG, every number as CSV, JSON and as a table."""

import json
from collections.abc import Mapping, Sequence
from functools import partial

import pandas as pd

from core.bench.record import Bench, Record, Setting
from core.bench.summary import report_of
from core.figures.template import Figure
from pages.shared import jobs as job_kit
from pages.shared.files import download

TABLES_KEY = "rt-tables"


def show_files(
    bench: Bench, setting: Setting, records: Sequence[Record], charts: Mapping[str, Figure]
) -> None:
    """The files of one picture, and the report of its setting."""

    def offer_report() -> None:
        make = partial(report, bench, setting)
        download("Report (JSON)", make, "bench.json", "application/json")

    job_kit.show_files(
        "As table and files", charts, lambda: _table(records), key=TABLES_KEY, more=offer_report
    )


def _table(records: Sequence[Record]) -> pd.DataFrame:
    """One line a record; its flags as one text."""
    return pd.DataFrame([{**r.to_dict(whole=False), "flags": "; ".join(r.flags)} for r in records])


def report(bench: Bench, setting: Setting) -> bytes:
    """The JSON that `python -m core bench --json` prints, of one setting."""
    one = Bench(
        machine=bench.machine, environment=bench.environment, records=tuple(bench.of(setting))
    )
    return json.dumps(report_of(one), ensure_ascii=False, indent=1).encode()
