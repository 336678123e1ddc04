"""Tables of a page as text: with what its columns are called and how their numbers are written."""

import json
from typing import Any

import pandas as pd
import pyarrow as pa

from core.offline.parts import Part, Table

PERCENT = "percent"


def said_table(found: Any, _: object) -> Part | None:
    """A table whose cells are Markdown."""
    return _table(found, hide_index=found.hide_index, settings={}, markdown=True)


def data_table(found: Any, _: object) -> Part | None:
    """A table whose cells are values; what its columns are told stands beside it."""
    settings = json.loads(found.columns) if found.columns else {}
    hidden = bool(settings.get("_index", {}).get("hidden"))
    order = list(found.column_order) or None
    return _table(found, hide_index=hidden, settings=settings, order=order)


def _table(
    found: Any,
    *,
    hide_index: bool,
    settings: dict[str, dict[str, Any]],
    order: list[str] | None = None,
    markdown: bool = False,
) -> Part | None:
    frame = _read(found.arrow_data.data)
    shown = _read(found.arrow_data.styler.display_values) if _is_styled(found) else None
    names = [name for name in order or list(frame.columns) if name in frame.columns]
    names = [name for name in names if not settings.get(str(name), {}).get("hidden")]
    columns = [str(settings.get(str(name), {}).get("label") or name) for name in names]
    cells = [_column(frame, shown, name, settings.get(str(name), {})) for name in names]
    if not hide_index and not isinstance(frame.index, pd.RangeIndex):
        columns = [str(frame.index.name or ""), *columns]
        cells = [[_cell(value, "") for value in frame.index], *cells]
    if not columns:
        return None
    rows = tuple(zip(*cells, strict=True))
    return Table(columns=tuple(columns), rows=rows, alt=found.alt, markdown=markdown)


def _is_styled(found: Any) -> bool:
    return found.arrow_data.HasField("styler") and bool(found.arrow_data.styler.display_values)


def _read(data: bytes) -> pd.DataFrame:
    return pa.ipc.open_stream(data).read_pandas()


def _column(
    frame: pd.DataFrame, shown: pd.DataFrame | None, name: Any, setting: dict[str, Any]
) -> list[str]:
    if shown is not None:
        return [str(value) for value in shown.iloc[:, frame.columns.get_loc(name)]]
    form = (setting.get("type_config") or {}).get("format") or ""
    return [_cell(value, str(form)) for value in frame[name]]


def _cell(value: Any, form: str) -> str:
    """A value as text: what is no number or missing is empty."""
    if value is None or (isinstance(value, float) and value != value):
        return ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "yes" if value is True else "no" if value is False else str(value)
    if form == PERCENT:
        return f"{value:.2%}"
    if "%" in form:
        return form % value
    return f"{value:g}" if isinstance(value, float) else str(value)
