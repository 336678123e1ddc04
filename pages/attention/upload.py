"""Bring your own: a .params file of the course and its wiki.txt, kept in the server's memory.

The bytes stay in the session. The model stays in a small cache of the whole server, by their
content. Nothing here writes to disk; while a file of more than 1 MB arrives, Streamlit holds it in
a temporary file, which is gone before this code sees the bytes. A file's name is shown and used for
nothing. What the file cannot say has a control, once the file is there.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from core.checkpoints.course_import import Hints, import_course
from core.checkpoints.store import Checkpoint, CheckpointError
from core.data.characters import split_lines
from core.data.course import WIKI
from core.data.task import COURSE
from core.models.config import VARIANTS, GPTConfig
from core.paths import course_folder
from pages.shared import bound
from pages.shared.choosing import UPLOADED
from pages.shared.text import plain
from pages.shared.uploads import File, choose_file

MOST_MEGABYTES = 32  # server.maxUploadSize in .streamlit/config.toml is no less
MOST_BYTES = MOST_MEGABYTES * 2**20
MOST_HEADS, MOST_WEIGHTS = 256, 2**24  # of all layers; of all heads at the longest input
AS_FILE = "as the file says"
PARAMS_KEY, WIKI_KEY = "upload-params", "upload-wiki"
ASK = (
    "**Upload the model. A link cannot carry it: behind a shared link, too, the "
    "file must be uploaded again.**  \n"
    f"It is a `.params` state dict of the course's minGPT, at most {MOST_MEGABYTES} MB, with the "
    "`wiki.txt` that it was trained on: the characters of that text are its vocabulary. "
    "Nothing in the file is run, and no copy of it is kept on disk.  \n"
    "The server keeps both files in its memory until you take them away or your session ends, and "
    "the model made of them, with its answers, until newer ones take their place or it stops."
)


@dataclass(frozen=True, slots=True)
class Upload:
    """A model to be loaded, and the value under which what is made of it may be cached."""

    digest: str
    load: Callable[[], Checkpoint]


def choose_upload() -> Upload | None:
    """The controls of the side bar; None while a file is missing."""
    params = choose_file("State dict (.params)", PARAMS_KEY, MOST_BYTES)
    wiki = choose_file("Its wiki.txt", WIKI_KEY, MOST_BYTES) or _wiki_at_hand()
    if params is None or wiki is None:
        return None
    hints = _choose_hints()
    try:
        stored = _load(params, wiki, hints)
    except CheckpointError:  # it is said where the answer would stand
        return Upload(_digest(params, wiki, hints), partial(_load, params, wiki, hints))
    if stored.card["variant"] == "perceiver":
        hints = _choose_wiring(hints)
        stored = _load(params, wiki, hints)
    st.caption(f"{plain(stored.card['said'])}")
    return Upload(_digest(params, wiki, hints), partial(_load, params, wiki, hints))


def _wiki_at_hand() -> File | None:
    """That of the course, where its folder is known."""
    folder = course_folder()
    if folder is None or not (folder / WIKI).is_file():
        return None
    size = (folder / WIKI).stat().st_size
    data = (folder / WIKI).read_bytes() if size <= MOST_BYTES else b""
    st.caption("Read with the wiki.txt of A5\\_DATA.")
    return File(WIKI, size, data, hashlib.sha256(data).hexdigest())


def _choose_hints() -> Hints:
    variant = bound.selectbox("Kind of model", [AS_FILE, *VARIANTS], key="upload-variant")
    left, right = st.columns(2)
    with left:
        heads = bound.number_input(
            "Heads",
            min_value=1,
            max_value=MOST_HEADS,
            value=None,
            placeholder="file, or 8",
            key="upload-heads",
            help="The state dict of a vanilla model or a Perceiver does not say how many.",
        )
    with right:
        block = bound.number_input(
            "Block",
            min_value=2,
            max_value=4096,
            value=None,
            placeholder="file",
            key="upload-block",
            help="The longest input. Needed where a rotary model's file has no cache of angles.",
        )
    return Hints(variant=None if variant == AS_FILE else variant, heads=heads, block=block)


def _choose_wiring(hints: Hints) -> Hints:
    """What the file of a Perceiver cannot say about its projections."""
    residual = bound.toggle(
        "Residual paths around the projections",
        value=True,
        key="upload-residual",
        help="Whether the down and up projections of this Perceiver add to what they look from: "
        "the file cannot say.",
    )
    both = bound.toggle(
        "Norm before both sides of the projections",
        value=True,
        key="upload-norm",
        help="Off: layer norm before the latents' side alone, as the exercise's hints have it, and "
        "the tokens are read as they are. The file cannot say.",
    )
    return replace(hints, residual=residual, norm="both" if both else "latents")


def _load(params: File, wiki: File, hints: Hints) -> Checkpoint:
    return load_upload(params.digest, wiki.digest, hints, params, wiki)


def _digest(params: File, wiki: File, hints: Hints) -> str:
    return f"{params.digest} {wiki.digest} {hints}"


@st.cache_resource(max_entries=4, show_spinner="Reading the file")
def load_upload(
    params_digest: str, wiki_digest: str, hints: Hints, _params: File, _wiki: File
) -> Checkpoint:
    """The uploaded model. Raises CheckpointError in one sentence for whatever is wrong."""
    for what, file in (("the state dict", _params), ("the text", _wiki)):
        if file.size > MOST_BYTES:
            raise CheckpointError(
                f"{what} has {file.size:,} bytes, more than the {MOST_BYTES:,} that are read"
            )
    try:
        lines = split_lines(_wiki.data, name="the text")
        imported = import_course(_params.data, "".join(f"{line}\n" for line in lines), hints)
    except ValueError as error:
        raise CheckpointError(str(error)) from None
    _refuse_too_many_pictures(imported.model.config)
    size = f"{imported.variant}, {imported.model.n_parameters:,} parameters"
    said = "; ".join([size, *imported.notes])
    card = {"variant": imported.variant, "said": said}
    return Checkpoint(imported.model, imported.vocabulary, COURSE, UPLOADED, card)


def _refuse_too_many_pictures(config: GPTConfig) -> None:
    n_heads = config.n_layers * config.n_heads
    n_weights = n_heads * config.longest_input**2
    if n_heads > MOST_HEADS or n_weights > MOST_WEIGHTS:
        raise CheckpointError(
            f"{config.n_layers} layers of {config.n_heads} heads that read up to "
            f"{config.longest_input} tokens have {n_weights:,} weights; this page draws up to "
            f"{MOST_HEADS} heads and {MOST_WEIGHTS:,} weights"
        )
