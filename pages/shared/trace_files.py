"""Traces that came in a file: chosen by name or uploaded, read once, and what is said of them.

No torch: nothing here needs the model. An uploaded file's name is shown and tells its kind, and is
used for nothing else; names of the server's folder come from its own list.
"""

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from core.inspection.opened import open_trace, trace_names
from core.inspection.scores import FIRST_ROW
from core.inspection.trace_file import MOST_BYTES
from core.inspection.trace_format import TraceFile
from core.inspection.traced import AttentionTrace, unwritable
from core.paths import TRACES_VARIABLE, traces_folder
from core.reading import read_bytes
from pages.shared import bound
from pages.shared.text import plain, shortened, target_badge
from pages.shared.uploads import File, choose_file

MOST_MEGABYTES = 64  # server.maxUploadSize in .streamlit/config.toml says the same
MOST_UPLOAD = MOST_MEGABYTES * 2**20
MOST_UPLOADED_WEIGHTS = 2**25  # of all heads: as many as fit into such a file in half precision
UPLOAD = "uploaded file"
ASK = (
    f"**Upload a trace: a `.trace` of at most {MOST_MEGABYTES} MB, or the JSON "
    "that this page saves.** A link cannot carry it.  \n"
    "Any Python process writes one, without a browser and wherever its model runs:"
)
HOW = 'from core import record\nrecord(model, tokenizer, text).save("x.trace")'
KEPT_WHERE = (
    "Nothing in the file is run and no model is loaded. The server keeps it in its memory until "
    "you take it away or your session ends."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedTrace:
    """A chosen file by its name, and what was in it or why it cannot be used."""

    name: str
    in_folder: bool
    file: TraceFile | None
    problem: str = ""


def choose_trace(*, prefix: str = "", label: str = "Trace") -> OpenedTrace | None:
    """The controls of the side bar; None while nothing is uploaded."""
    folder = traces_folder()
    names = [] if folder is None else trace_names(folder)
    name = UPLOAD
    if names:
        name = bound.selectbox(label, [*names, UPLOAD], key=f"{prefix}trace")
    elif folder is not None:
        st.caption(f"The folder of {plain(TRACES_VARIABLE)} holds no trace.")
    if folder is not None and name != UPLOAD:
        return _opened_by(name, in_folder=True)
    file = choose_file(f"{label} (.trace or .json)", f"{prefix}trace-upload", MOST_UPLOAD)
    return None if file is None else _opened_by(file.name, in_folder=False, file=file)


def _opened_by(name: str, *, in_folder: bool, file: File | None = None) -> OpenedTrace:
    try:
        found = _of_folder(name) if file is None else _of_upload(file)
    except ValueError as error:
        return OpenedTrace(name=name, in_folder=in_folder, file=None, problem=str(error))
    n_tokens = found.trace.n_tokens
    if n_tokens <= FIRST_ROW:
        problem = f"{n_tokens} tokens: too few to draw"
        return OpenedTrace(name=name, in_folder=in_folder, file=None, problem=problem)
    return OpenedTrace(name=name, in_folder=in_folder, file=found)


def _of_upload(file: File) -> TraceFile:
    if file.size > len(file.data):
        raise ValueError(f"{file.size:,} bytes, more than the {MOST_UPLOAD:,} that are read")
    return _uploaded(file.digest, file.name[-8:], file)


def _of_folder(name: str) -> TraceFile:
    """A name of the folder's list; where it lies on the server is not said."""
    folder = traces_folder()
    if folder is None or name not in trace_names(folder):
        raise ValueError("it lies in the folder of the traces no more")
    path = folder / name
    try:
        status = path.stat()
        return _stored(str(folder), name, status.st_mtime_ns, status.st_size)
    except OSError as error:
        raise ValueError(f"it cannot be read ({error.strerror})") from None
    except ValueError as error:
        raise ValueError(str(error).removeprefix(f"{path}: ")) from None


@st.cache_resource(max_entries=4, show_spinner="Reading the trace")
def _uploaded(digest: str, ending: str, _file: File) -> TraceFile:
    return _unwritable(open_trace(ending, _file.data, most_weights=MOST_UPLOADED_WEIGHTS))


@st.cache_resource(max_entries=4, show_spinner="Reading the trace")
def _stored(folder: str, name: str, modified: int, size: int) -> TraceFile:
    return _unwritable(open_trace(name, read_bytes(Path(folder) / name, MOST_BYTES)))


def _unwritable(found: TraceFile) -> TraceFile:
    unwritable(found.trace)
    return found


def show_lacking(opened: OpenedTrace | None) -> None:
    """In the place of a trace that is not there: how to write one, or what is wrong with it."""
    if opened is None:
        st.subheader("A trace from a file")
        st.info(ASK, icon=":material/upload:")
        st.code(HOW, language="python")
        st.caption(KEPT_WHERE)
        return
    st.error("", icon=":material/block:")
    st.text(f"This trace cannot be used: {opened.problem}")
    st.caption(f"{plain(opened.name[:60])}. Another one may be uploaded in its place.")


def show_proof(found: TraceFile) -> None:
    """Which numbers of the proof were recomputed here, and which are the writer's."""
    st.markdown(
        f":material/calculate: {recomputed_line(found)}  \n"
        f":material/edit_note: {claimed_line(found)}"
    )


def show_origin(opened: OpenedTrace, found: TraceFile) -> None:
    """Where a trace is from."""
    st.markdown(f":material/description: {origin_line(opened, found)}")


def origin_line(opened: OpenedTrace, found: TraceFile) -> str:
    """File, model, digest and versions, as the writer says; and the precision."""
    origin, trace = found.origin, found.trace
    model = " ".join(filter(None, [origin.model, origin.family and f"({origin.family})"]))
    versions = ", ".join(f"{name} {number}" for name, number in sorted(origin.versions.items()))
    parts = [
        f"**{plain(opened.name[:60])}**",
        f"written of {plain(model)}" if model else "its writer names no model",
        plain(_short(origin.weights)) if origin.weights else "",
        plain(versions[:200]),
        f"numbers stored as {found.precision}" + _rounded(found.precision),
    ]
    if trace.recorded:
        n_heads = trace.n_layers * trace.n_heads
        parts.append(f"{len(trace.recorded)} of {n_heads} heads recorded")
    return " · ".join(filter(None, parts))


def _short(digest: str) -> str:
    """The beginning of a long digest."""
    return " ".join(f"{word[:12]}…" if len(word) > 20 else word for word in digest.split(" "))


def _rounded(precision: str) -> str:
    return {"float16": " (within 2⁻¹¹)", "JSON": " with six digits"}.get(precision, "")


def recomputed_line(found: TraceFile) -> str:
    """What this server computed from the file's numbers."""
    again = found.recomputed
    masked = "exactly 0" if again.masked_exactly_zero else "NOT 0"
    outputs = again.output_max_difference
    said = "" if outputs is None else f", outputs are weights · values {_within(outputs)}"
    sums = f"rows sum to 1 {_within(again.row_sum_max_error)}"
    if not found.trace.is_normalised:
        sums = f"rows need not sum to 1 (one is {again.row_sum_max_error:.2g} from it)"
    return (
        f"**Recomputed here**: {sums}, what is masked is "
        f"{masked}{said}; each contribution is its weight · its norm."
    )


def claimed_line(found: TraceFile) -> str:
    """What would need the model to be checked."""
    proof = found.trace.proof
    same = "" if proof.same_argmax else ", ANOTHER token is likeliest"
    heads = proof.head_sum_max_error
    parts = f", heads and bias sum to the projection {_within(heads)}" if heads is not None else ""
    return (
        f"**Its writer says** (needs the model): replayed through these weights, logits differ by "
        f"at most {proof.replay_max_difference:.0e}{same}{parts}, {plain(proof.dtype)}; and the "
        "norms."
    )


def _within(difference: float) -> str:
    return f"within {difference:.0e}" if difference else "exactly"


def asked_line(trace: AttentionTrace) -> str:
    """The text and what was written behind it, if anything was."""
    question = plain(shortened(trace.question))
    if not trace.steps:
        return f"{question} (nothing is written)"
    badge = target_badge(given=trace.teacher_forced)
    return f"{question} → **{plain(trace.answer) or '(nothing)'}**{badge}"


def needs_model(what: str) -> None:
    """In the place of something that a trace alone cannot give."""
    st.caption(f":material/memory: {what}: needs the model, and a trace does not hold it.")
