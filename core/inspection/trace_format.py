"""The format of a trace file: where a trace is from, how its numbers are stored. No torch here."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, cast

import msgspec
import numpy as np
from msgspec import Meta

from core.inspection.recomputed import Recomputed
from core.inspection.trace_said import MOST_HEADS, MOST_LABEL, MOST_LAYERS, refuse_half_characters
from core.inspection.traced import AttentionTrace
from core.reading import parse_json

SUFFIX, KEY, VERSION = ".trace", "attention_trace", 1
VECTORS = ("query", "key", "value", "output")
MOST_HEADS_TOGETHER = 2**14
ARRAYS = ("weights", "value_norm", "sink", *VECTORS, "scores", "seen")
Precision = Literal["float32", "float16"]
LARGEST = {name: float(np.finfo(name).max) for name in ("float32", "float16")}
Short = Annotated[str, Meta(max_length=MOST_LABEL)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Which model a trace is of: its name, its family, the digest of its weights, and the versions
    of the libraries that ran it. As its writer says; empty where nothing is said.
    """

    model: Short = ""
    family: Short = ""
    weights: Short = ""
    versions: Annotated[dict[Short, Short], Meta(max_length=50)] = field(
        default_factory=dict[str, str]
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceFile:
    """A trace that came in a file: where it is from, how its numbers were stored ("float32",
    "float16" or "JSON": six digits), and what of its proof was recomputed from them.
    """

    trace: AttentionTrace
    origin: Origin
    precision: str
    recomputed: Recomputed


class Description(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The JSON text; what the trace says has a reader of its own."""

    version: int
    precision: Precision
    origin: Origin
    n_layers: Annotated[int, Meta(ge=1, le=MOST_LAYERS)]
    n_heads: Annotated[int, Meta(ge=1, le=MOST_HEADS)]
    seen_of: Annotated[tuple[int, ...], Meta(max_length=MOST_LAYERS)]
    said: dict[str, Any]


def read_description(text: str) -> Description:
    """The JSON text of a file. Raises ValueError for another version and for odd values."""
    data = parse_json(text, "its description")
    version = cast(Mapping[str, Any], data).get("version") if isinstance(data, dict) else None
    if version != VERSION:
        raise ValueError(f"a trace of version {version!r:.20}; this program reads {VERSION}")
    refuse_half_characters(cast(object, data))
    try:
        found = msgspec.convert(data, Description)
    except msgspec.ValidationError as error:
        raise ValueError(f"its description: {error}"[:300]) from None
    if found.n_layers * found.n_heads > MOST_HEADS_TOGETHER:
        raise ValueError(
            f"{found.n_layers} layers of {found.n_heads} heads; at most {MOST_HEADS_TOGETHER:,} "
            "heads are read"
        )
    return found
