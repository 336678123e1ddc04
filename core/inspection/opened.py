"""A trace from a file of either kind, by its name's end: FILE.trace, or the JSON of `trace --out`.

No torch here. The name is used for nothing else.
"""

from pathlib import Path
from typing import Any, cast

import numpy as np

from core.inspection.recomputed import recompute, refuse_contradictions
from core.inspection.trace_file import MOST_WEIGHTS, read_trace_file
from core.inspection.trace_format import SUFFIX, Origin, TraceFile
from core.inspection.trace_json import trace_from_dict
from core.inspection.trace_said import read_said
from core.inspection.traced import ARRAYS, Array, AttentionTrace
from core.reading import MOST_JSON_BYTES, parse_json

JSON_SUFFIX = ".json"
BESIDE = ("axes", "seen", *ARRAYS)  # what the JSON of a trace holds beside what it says


def trace_names(folder: Path) -> list[str]:
    """The names of what may be traces in a folder, sorted; none where there is no folder."""
    if not folder.is_dir():
        return []
    endings = (SUFFIX, JSON_SUFFIX)
    return sorted(
        path.name for path in folder.iterdir() if path.suffix.lower() in endings and path.is_file()
    )


def open_trace(name: str, data: bytes, *, most_weights: int = MOST_WEIGHTS) -> TraceFile:
    """A trace, checked as `read_trace_file` does. Raises ValueError in one sentence."""
    if not name.lower().endswith(JSON_SUFFIX):
        return read_trace_file(data, most_weights=most_weights)
    if len(data) > MOST_JSON_BYTES:
        raise ValueError(f"{len(data):,} bytes of JSON; at most {MOST_JSON_BYTES:,} are read")
    trace_data = parse_json(data, "the file")
    if not isinstance(trace_data, dict):
        raise ValueError("not a stored trace: a JSON object is needed")
    values = cast(dict[str, Any], trace_data)
    with np.errstate(over="ignore"):
        trace = trace_from_dict(values)
    _refuse_odd_arrays(trace)
    said = {key: value for key, value in values.items() if key not in BESIDE}
    read_said(said, trace.n_layers, trace.n_heads)
    found = recompute(trace)
    refuse_contradictions(trace, found, "JSON")
    return TraceFile(trace=trace, origin=Origin(), precision="JSON", recomputed=found)


def _refuse_odd_arrays(trace: AttentionTrace) -> None:
    if not trace.weights.size:
        raise ValueError(f"not a stored trace: weights of shape {trace.weights.shape}")
    for name in ARRAYS:
        values: Array | None = getattr(trace, name)
        if values is not None and bool(np.isposinf(values).any() or np.isnan(values).any()):
            raise ValueError(f"{name} holds numbers that are not finite")
        if name != "scores" and values is not None and bool(np.isneginf(values).any()):
            raise ValueError(f"{name} holds numbers that are not finite")
    if bool((trace.value_norm < 0).any()):
        raise ValueError("value_norm holds negative numbers; a norm is 0 or more")
