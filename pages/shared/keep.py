"""Keep this page: one HTML file of what a whole run of it drew, for where there is no server.

The button asks; the run that follows is listened to, and its file is then there to be taken. What
was uploaded and what the session remembers is in it, for it is the very run that is seen.
"""

import platform
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.scriptrunner import StopException, get_script_run_ctx

from core.checkpoints.shelf import list_checkpoints
from core.lessons.kept import keep_lesson
from core.lessons.reading import find_lesson
from core.offline.parts import Document, Part
from core.paths import CHECKPOINTS, LESSONS
from pages.shared import hidden
from pages.shared.class_link import address_of
from pages.shared.frame import LESSON
from pages.shared.text import plain
from pages.shared.weights import short, shown

STATE = "keep"
BUTTON = "keep-page"
PRODUCT = "Attention Explorer"
HELP = "One HTML file with the pictures, tables and texts, to be opened without a server."
LESSON_HELP = "Every step in one HTML file, to be opened without a server. It takes a minute."
MEASURED = ("streamlit", "torch", "numpy", "transformers")  # whose versions the figures rest on


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the next run is listened to for: the file of the page, or its parts alone.

    `hidden` names what is left out (what the address hides unless told), `only` the controls that
    are in it (all unless told).
    """

    parts_alone: bool = False
    hidden: tuple[str, ...] = ()
    only: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A file and its name, or why there is none."""

    name: str = ""
    data: bytes = b""
    problem: str = ""


@dataclass(slots=True, kw_only=True)
class Keeping:
    """What a session remembers: what the next run is `asked` for, and what the last one gave."""

    asked: Asked | None = None
    kept: Kept | None = None
    parts: tuple[Part, ...] = ()
    weights: tuple[tuple[str, str], ...] = ()


@contextmanager
def offered(path: str, title: str) -> Generator[None]:
    """Around a whole run: at its end it may be asked for a file, or the file be taken.

    A run that another one takes the place of is not yet what is seen. One that stops at a message
    has nothing to be kept, and after it nothing can be drawn.
    """
    keeping = _keeping()
    keeping.kept, asked, messages = None, keeping.asked, list[ForwardMsg]()
    try:
        with nullcontext() if asked is None else _heard(messages):
            yield
    except StopException:
        keeping.asked = None
        raise
    keeping.asked = None
    if asked is not None:
        with st.spinner("Writing the file"):
            parts = run_parts(messages, asked)
            if asked.parts_alone:
                keeping.parts, keeping.weights = parts, shown_weights()
            else:
                keeping.kept = file_of_run(path, title, parts)
    if not st.context.is_embedded:  # a frame in another page has no place for it
        _offer(keeping)


def _keeping() -> Keeping:
    return st.session_state.setdefault(STATE, Keeping())


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


def _offer(keeping: Keeping) -> None:
    """At the end of the sidebar."""
    if keeping.kept is None:
        st.sidebar.button(
            "Keep this page", key=BUTTON, icon=":material/save:", on_click=_ask, help=HELP
        )
        lesson = st.query_params.get(LESSON)
        if lesson is not None and st.sidebar.button(
            "Keep this lesson", key=f"{BUTTON}-lesson", icon=":material/save:", help=LESSON_HELP
        ):
            keeping.kept = file_of_lesson(lesson)
    if keeping.kept is not None:
        _give(keeping.kept, st.sidebar)


def offer_lesson(name: str) -> None:
    """A lesson as a file, where its own pages hide the sidebar: asked for, drawn, taken."""
    if st.button(
        "Keep",
        key=f"{BUTTON}-{name}",
        icon=":material/save:",
        help=LESSON_HELP,
        width="stretch",
    ):
        _give(file_of_lesson(name), st.container())


def _give(kept: Kept, place: DeltaGenerator) -> None:
    if kept.problem:
        place.error(plain(kept.problem), icon=":material/block:")
        return
    place.download_button(
        f"Take the file ({len(kept.data) / 1e6:.2f} MB)",
        kept.data,
        kept.name,
        "text/html",
        key=f"{BUTTON}-file",
        on_click="ignore",
        icon=":material/download:",
    )


def file_of_lesson(name: str) -> Kept:
    """The file of a whole lesson, drawn anew where its text was changed."""
    try:
        lesson = find_lesson(name, LESSONS)
        with _one_at_a_time():
            changed = (LESSONS / f"{lesson.name}.toml").stat().st_mtime_ns
            return Kept(name=f"{lesson.name}.html", data=_drawn_lesson(lesson.name, changed))
    except (OSError, ValueError) as error:
        return Kept(problem=f"This lesson cannot be kept: {error}")


@st.cache_resource(max_entries=1, show_spinner=False)
def _one_at_a_time() -> Lock:
    """A process that draws lessons loads torch: the server's memory has room for one."""
    return Lock()


@st.cache_data(max_entries=16, show_spinner="Drawing every step of the lesson")
def _drawn_lesson(name: str, changed: int) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "lesson.html"
        keep_lesson(name, path)
        return path.read_bytes()


def _ask() -> None:
    _keeping().asked = Asked()


def file_of_run(path: str, title: str, parts: tuple[Part, ...]) -> Kept:
    """The file of these parts."""
    from core.offline.fitting import file_of  # noqa: PLC0415 - reads pictures, only when asked

    document = Document(
        title=f"{title} · {PRODUCT}",
        origin=origin(address_of(path, hidden.asked()), shown_weights()),
        parts=parts,
    )
    try:
        return Kept(name=f"{title.lower().replace(' ', '-')}.html", data=file_of(document))
    except ValueError as error:
        return Kept(problem=f"This page cannot be kept: {error}")


def run_parts(messages: Iterable[ForwardMsg], asked: Asked) -> tuple[Part, ...]:
    """What a run drew: first what was chosen beside the page, then the page."""
    from pages.shared.chosen import session_values  # noqa: PLC0415
    from pages.shared.drawn import MAIN, SIDEBAR, Node, tree  # noqa: PLC0415
    from pages.shared.kept_parts import Reader, parts_of  # noqa: PLC0415

    context: Any = get_script_run_ctx()
    reader = Reader(
        session_values(context),
        hidden=frozenset(asked.hidden or hidden.asked()),
        only=None if asked.only is None else frozenset(asked.only),
    )
    root = tree(messages)
    places = [MAIN] if hidden.SIDEBAR in reader.hidden else [SIDEBAR, MAIN]
    return tuple(p for place in places for p in parts_of(root.inside.get(place, Node()), reader))


def origin(where: str, shown: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Where a file comes from: its address, when it was made, weights by their names, versions."""
    versions = ", ".join(f"{name} {version(name)}" for name in MEASURED)
    return (
        ("Address", where),
        ("Kept", f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"),
        *((f"Weights of {name}", f"sha256 {digest}") for name, digest in dict(shown).items()),
        ("Versions", f"Python {platform.python_version()}, {versions}"),
    )


def shown_weights() -> tuple[tuple[str, str], ...]:
    """What the run has shown: names of the shelf with their digests, else the short digest alone.

    Cost: every checkpoint of the shelf is read once in the life of a server, 0.1 s each.
    """
    from pages.shared.records import weights_digest  # noqa: PLC0415

    found, known = shown(), dict[str, tuple[str, str]]()
    for name in list_checkpoints(CHECKPOINTS) if found else ():
        with suppress(ValueError):  # a broken one is not what is shown
            digest = weights_digest(name, None)
            known.setdefault(short(digest), (name, digest))
    return tuple(known.get(one, (f"{one}…", f"{one}…")) for one in found)
