"""Keep this page: one HTML file of what a whole run of it drew, for where there is no server.

The button asks; the run that follows is listened to, and its file is then there to be taken. What
was uploaded and what the session remembers is in it, for it is the very run that is seen.
"""

import platform
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from typing import Any

import streamlit as st
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.scriptrunner import StopException, get_script_run_ctx

from core.checkpoints.shelf import list_checkpoints
from core.offline.parts import Choice, Document, Part, Text
from core.paths import CHECKPOINTS
from pages.shared.text import plain

ASKED, KEPT, PARTS = "keep-asked", "keep-kept", "keep-parts"
BUTTON = "keep-page"
PRODUCT = "Attention Explorer"
SECRETS = ("pupil", "teacher")  # of an address: they say who somebody is
MEASURED = ("streamlit", "torch", "numpy", "transformers")  # whose versions the figures rest on


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the next run is listened to for: the file of the page, or its parts alone, without
    controls that are `hidden` (what the address hides unless told).
    """

    parts_alone: bool = False
    hidden: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A file and its name, or why there is none."""

    name: str = ""
    data: bytes = b""
    problem: str = ""


@contextmanager
def listened(path: str, title: str) -> Generator[None]:
    """Around a whole run: where it was asked for, the file of what the run draws is made.

    A run that another one takes the place of is not yet what is seen.
    """
    st.session_state.pop(KEPT, None)
    asked = st.session_state.get(ASKED)
    if asked is None:
        yield
        return
    messages: list[ForwardMsg] = []
    stopped = None
    with _heard(messages):
        try:
            yield
        except StopException as stop:  # a page may stop where it is
            stopped = stop
    del st.session_state[ASKED]
    with st.spinner("Writing the file"):
        parts = run_parts(messages, asked.hidden or st.query_params.get_all("hide"))
        if asked.parts_alone:
            st.session_state[PARTS] = parts
        else:
            st.session_state[KEPT] = file_of_run(path, title, parts)
    if stopped is not None:
        raise stopped


@contextmanager
def _heard(messages: list[ForwardMsg]) -> Generator[None]:
    """Every message to the browser is noted, too.

    Streamlit has no public way to learn what a page drew. `enqueue` of the run's context is where
    all elements pass, whole: behind it, what a browser has seen before is but a name. Streamlit is
    pinned, and a test keeps every page.
    """
    context: Any = get_script_run_ctx()
    send: Callable[[ForwardMsg], None] = context.enqueue

    def note_and_send(message: ForwardMsg) -> None:
        noted = ForwardMsg()
        noted.CopyFrom(message)
        messages.append(noted)
        send(message)

    context.enqueue = note_and_send
    try:
        yield
    finally:
        del context.enqueue  # the class has its own


def offer() -> None:
    """At the end of the sidebar: ask for the file, then take it."""
    kept = st.session_state.get(KEPT)
    if kept is None:
        st.sidebar.button(
            "Keep this page",
            key=BUTTON,
            icon=":material/save:",
            on_click=_ask,
            help="One HTML file with its pictures, tables and texts, to be opened without a server",
        )
        return
    if kept.problem:
        st.sidebar.error(plain(kept.problem), icon=":material/block:")
        return
    st.sidebar.download_button(
        f"Take the file ({len(kept.data) / 1e6:.2f} MB)",
        kept.data,
        kept.name,
        "text/html",
        key=f"{BUTTON}-file",
        on_click="ignore",
        icon=":material/download:",
    )


def _ask() -> None:
    st.session_state[ASKED] = Asked()


def file_of_run(path: str, title: str, parts: tuple[Part, ...]) -> Kept:
    """The file of these parts."""
    from core.offline.fitting import file_of  # noqa: PLC0415 - reads pictures, only when asked

    document = Document(
        title=f"{title} · {PRODUCT}", origin=origin(parts, address(path)), parts=parts
    )
    try:
        return Kept(name=f"{title.lower().replace(' ', '-')}.html", data=file_of(document))
    except ValueError as error:
        return Kept(problem=f"This page cannot be kept: {error}")


def run_parts(messages: Iterable[ForwardMsg], hidden: Iterable[str]) -> tuple[Part, ...]:
    """What a run drew: first what was chosen beside the page, then the page; nothing `hidden`."""
    from pages.shared.drawn import MAIN, SIDEBAR, Node, tree  # noqa: PLC0415
    from pages.shared.kept_parts import Reader, parts_of  # noqa: PLC0415

    context: Any = get_script_run_ctx()
    states = {state.id: state for state in context.session_state.get_widget_states()}
    names = frozenset(hidden)
    root, read = tree(messages), partial(parts_of, reader=Reader(states, names))
    shown = [MAIN] if "sidebar" in names else [SIDEBAR, MAIN]
    parts = [part for place in shown for part in read(root.inside.get(place, Node()))]
    return tuple(part for part in parts if "text" not in names or not isinstance(part, Text))


def origin(
    parts: Sequence[Part], where: str, names: Iterable[str] = ()
) -> tuple[tuple[str, str], ...]:
    """Where a file comes from: address, time, content of the checkpoints that `parts` or `names`
    name, versions.
    """
    from core.offline.fitting import walk  # noqa: PLC0415

    chosen = {part.value for part in walk(parts) if isinstance(part, Choice)}
    weights = [
        (f"Weights of {name}", f"sha256 {_digest(name)}") for name in shown_names({*chosen, *names})
    ]
    versions = ", ".join(f"{name} {version(name)}" for name in MEASURED)
    return (
        ("Address", where),
        ("Kept", f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"),
        *weights,
        ("Versions", f"Python {platform.python_version()}, {versions}"),
    )


def shown_names(chosen: set[str]) -> list[str]:
    """The checkpoints of the shelf that a control names."""
    return [name for name in list_checkpoints(CHECKPOINTS) if name in chosen]


def _digest(name: str) -> str:
    from pages.shared.records import weights_digest  # noqa: PLC0415

    return weights_digest(name, None)


def address(path: str) -> str:
    """The page's address with all that is chosen, without what says who somebody is."""
    from urllib.parse import urlencode  # noqa: PLC0415

    query = [
        (key, value)
        for key in st.query_params
        if key not in SECRETS
        for value in st.query_params.get_all(key)
    ]
    here = (st.context.url or f"/{path}").partition("?")[0]
    return f"{here}?{urlencode(query)}" if query else here
