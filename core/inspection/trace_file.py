"""A trace as one file that travels: written wherever a model runs, read without it. No torch here.

A safetensors file. Under `attention_trace` of its metadata stands JSON: the version of the format,
the precision, where the trace comes from, sizes, and what `trace_to_dict` says beside its arrays.
The arrays hold the n recorded heads alone, layer by layer:

weights (n, L, L) · value_norm (n, L) · sink (n, L), where heads have one
query, key, value, output (n, L, d) · scores (n, L, L), with `with_vectors`; 0 where masked
seen (m, L, L): the masks; `seen_of` says which of them is that of each layer
"""

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import safetensors.numpy
from numpy.typing import NDArray

from core.files import write_whole
from core.inspection.heads import Head, check_head
from core.inspection.recomputed import recompute, refuse_contradictions
from core.inspection.tensor_bytes import read_arrays
from core.inspection.trace_format import (
    ARRAYS,
    KEY,
    LARGEST,
    SUFFIX,
    VECTORS,
    VERSION,
    Description,
    Origin,
    Precision,
    TraceFile,
    read_description,
)
from core.inspection.trace_json import said_of, trace_from_dict
from core.inspection.trace_said import Said, read_said
from core.inspection.traced import AttentionTrace, no_scores
from core.reading import read_bytes

MOST_BYTES = 1_000_000_000
MOST_WEIGHTS = 80_000_000  # of all layers and heads, recorded or not: what is laid out in memory


def save_trace(
    path: Path | str,
    trace: AttentionTrace,
    *,
    heads: Collection[Head] | None = None,
    precision: Precision = "float32",
    with_vectors: bool = False,
    origin: Origin | None = None,
) -> None:
    """Write a trace as a whole file; `heads` are those that are kept (all that are recorded).

    In float16 a number is within 2⁻¹¹ of itself, and below 6e-5 within 3e-8; norms stay float32.
    `with_vectors` keeps queries, keys, values, outputs and scores, too. Raises ValueError for
    another name than FILE.trace, a head that is not there, and what the precision cannot hold.
    """
    path = Path(path)
    if path.suffix != SUFFIX:
        raise ValueError(f"{path}: a trace file is named FILE{SUFFIX}")
    if precision not in LARGEST:
        raise ValueError(f"precision {precision!r}; allowed: {', '.join(LARGEST)}")
    kept = _checked_heads(trace, heads)
    masks, seen_of = np.unique(trace.visible, axis=0, return_inverse=True)
    arrays = {
        name: _stored(name, values, precision)
        for name, values in _kept_arrays(trace, kept, with_vectors=with_vectors).items()
    }
    head = Description(
        version=VERSION,
        precision=precision,
        origin=origin or Origin(),
        n_layers=trace.n_layers,
        n_heads=trace.n_heads,
        seen_of=tuple(np.ravel(seen_of).tolist()),
        said=_said(trace, kept),
    )
    metadata = {KEY: msgspec.json.encode(head).decode()}

    def write(part: Path) -> None:
        safetensors.numpy.save_file({**arrays, "seen": masks}, part, metadata)

    write_whole(path, write)


def _said(trace: AttentionTrace, kept: tuple[Head, ...]) -> dict[str, Any]:
    """What stands beside the arrays of some heads. Raises ValueError for what could not be read."""
    every = len(kept) == trace.n_layers * trace.n_heads
    said = said_of(replace(trace, recorded=() if every else kept))
    read_said(said, trace.n_layers, trace.n_heads)
    return said


def _checked_heads(trace: AttentionTrace, heads: Collection[Head] | None) -> tuple[Head, ...]:
    if heads is None:
        return trace.heads
    for layer, head in heads:
        check_head(trace, layer, head)
        if (layer, head) not in trace.heads:
            raise ValueError(f"L{layer}·H{head} is not recorded in this trace")
    if not heads:
        raise ValueError("no heads: name at least one")
    return tuple(sorted(set(heads)))


def _kept_arrays(
    trace: AttentionTrace, kept: tuple[Head, ...], *, with_vectors: bool
) -> dict[str, NDArray[Any]]:
    names = ("weights", "value_norm", "sink", *(("scores", *VECTORS) if with_vectors else ()))
    found = {name: getattr(trace, name) for name in names}
    layers, heads = zip(*kept, strict=True)
    return {
        name: values[layers, heads]
        for name, values in found.items()
        if values is not None and values.size
    }


def _stored(name: str, values: NDArray[Any], precision: Precision) -> NDArray[Any]:
    """In the precision; scores of what is masked, which are minus infinity, as 0."""
    if name == "scores":
        values = np.where(np.isneginf(values), np.float32(0), values)
    kind = "float32" if name == "value_norm" else precision
    largest = float(np.abs(values).max(initial=0))
    if not largest <= LARGEST[kind]:
        raise ValueError(
            f"{name} holds {largest:.3g}; {kind} ends at {LARGEST[kind]:.5g}"
            + (": save with precision='float32'" if kind == "float16" else "")
        )
    return np.ascontiguousarray(values, dtype=kind)


def read_trace_file(source: Path | str | bytes, *, most_weights: int = MOST_WEIGHTS) -> TraceFile:
    """A trace file, checked as far as that goes without its model: sizes before memory is taken,
    then shapes, numbers, places, row sums and what is masked.

    Raises ValueError in one sentence that names what is wrong. Cost: a pass over the weights.
    """
    if isinstance(source, bytes):
        return _read(source, most_weights)
    path = Path(source)
    data = read_bytes(path, MOST_BYTES)
    try:
        return _read(data, most_weights)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _read(data: bytes, most_weights: int) -> TraceFile:
    arrays, text = read_arrays(data, ARRAYS, KEY)
    head = read_description(text)
    said = read_said(head.said, head.n_layers, head.n_heads)
    d = max((values.shape[-1] for name, values in arrays.items() if name in VECTORS), default=0)
    n_weights = head.n_layers * head.n_heads * len(said.tokens) * max(d, len(said.tokens))
    if n_weights > most_weights:
        raise ValueError(
            f"{head.n_layers} layers of {head.n_heads} heads over {len(said.tokens)} tokens are "
            f"{n_weights:,} numbers a kind; at most {most_weights:,} are laid out"
        )
    _refuse_other_arrays(arrays, head, said)
    trace = trace_from_dict({**head.said, **_laid_out(arrays, head, said)})
    found = recompute(trace)
    refuse_contradictions(trace, found, head.precision)
    return TraceFile(trace=trace, origin=head.origin, precision=head.precision, recomputed=found)


def _refuse_other_arrays(arrays: dict[str, NDArray[Any]], head: Description, said: Said) -> None:
    """Names, dtypes and shapes against what is said; then every number must be finite."""
    n, length = len(said.recorded) or head.n_layers * head.n_heads, len(said.tokens)
    d = arrays["value"].shape[-1] if "value" in arrays and arrays["value"].ndim == 3 else 0
    n_masks = max(head.seen_of, default=-1) + 1
    shapes = {"value_norm": (n, length), "sink": (n, length), "seen": (n_masks, length, length)}
    shapes |= dict.fromkeys(("weights", "scores"), (n, length, length))
    for name in ("weights", "value_norm", "seen", *(VECTORS[2:] if _has_vectors(arrays) else ())):
        if name not in arrays:
            raise ValueError(f"the array {name} is missing")
    if len(head.seen_of) != head.n_layers or min(head.seen_of) < 0 or n_masks > head.n_layers:
        raise ValueError(f"seen_of has to name one mask for each of {head.n_layers} layers")
    for name, found in arrays.items():
        dtype = {"seen": "bool", "value_norm": "float32"}.get(name, head.precision)
        needed = shapes.get(name, (n, length, d))
        if found.dtype != dtype or found.shape != needed:
            raise ValueError(
                f"{name} is {found.dtype} {found.shape}; {dtype} {needed} is needed here"
            )
        if not bool(np.isfinite(found).all()):
            raise ValueError(f"{name} holds numbers that are not finite")
    if bool((arrays["value_norm"] < 0).any()):
        raise ValueError("value_norm holds negative numbers; a norm is 0 or more")


def _has_vectors(arrays: dict[str, NDArray[Any]]) -> bool:
    return any(name in arrays for name in (*VECTORS, "scores"))


def _laid_out(arrays: dict[str, NDArray[Any]], head: Description, said: Said) -> dict[str, Any]:
    """Every array over all layers and heads; 0 where nothing is recorded."""
    shape, length = (head.n_layers, head.n_heads), len(said.tokens)
    at = said.recorded or tuple(np.ndindex(shape))
    layers, heads = (np.array(side, dtype=np.intp) for side in zip(*at, strict=True))
    seen = arrays["seen"][list(head.seen_of)]
    found: dict[str, Any] = {"seen": seen, "scores": no_scores()}
    for name, values in arrays.items():
        if name != "seen":
            found[name] = np.zeros((*shape, *values.shape[1:]), dtype=np.float32)
            found[name][layers, heads] = values
    if "scores" in arrays:
        found["scores"] = np.where(seen[:, None], found["scores"], np.float32(-np.inf))
        found["seen"] = None
    nothing = np.zeros((*shape, length, 0), dtype=np.float32)
    return {**dict.fromkeys(VECTORS[:2]), **dict.fromkeys(VECTORS[2:], nothing), **found}
