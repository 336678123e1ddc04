"""Uploads, measuring and classes in each mode: what the control says; an action asks again, however
its control was drawn. Jobs have their own tests beside their pages.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.attention.upload import UPLOADED
from pages.listen.sounds import UPLOADED as UPLOADED_SOUND
from pages.shared.choosing import TRACE
from pages.shared.sets import UPLOAD

Open = Callable[..., AppTest]
MODES = ("open", "class", "teacher", "show")
# Page, its address, the uploader; what was taken lies in the session under kept-KEY.
UPLOADS: list[tuple[str, dict[str, Any], str]] = [
    ("attention", {"checkpoint": UPLOADED}, "upload-params"),
    ("attention", {"checkpoint": UPLOADED}, "upload-wiki"),
    ("attention", {"checkpoint": TRACE}, "trace-upload"),
    ("attention", {"set": UPLOAD}, "set-file"),
    ("listen", {"listen-source": UPLOADED_SOUND}, "listen-file"),
    ("heads", {"heads-checkpoint": TRACE}, "heads-trace-upload"),
    ("heads", {"heads-set": UPLOAD}, "set-file"),
    (
        "compare",
        {"compare-what": "two checkpoints", "compare-first-checkpoint": TRACE},
        "compare-first-trace-upload",
    ),
]
MEASURED = [
    ({}, "heads-measure", "heads-wanted"),
    ({"heads-part": "Tokens said twice"}, "heads-measure-twice", "heads-twice-wanted"),
]


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest, serve_as: Callable) -> str:
    """Each mode; in `teacher` the visitor types the code."""
    serve_as("class" if request.param == "teacher" else request.param)
    return request.param


@pytest.fixture
def drawn_before(mode: str, serve_as: Callable, open_by_link: Open) -> Open:
    """A page as it was drawn when everything was allowed; what is done comes later."""

    def open_(page: str, **query: Any) -> AppTest:
        serve_as("open")
        app = open_by_link(page, **query)
        serve_as("class" if mode == "teacher" else mode)
        return app

    return open_


@pytest.mark.parametrize(("page", "query", "key"), UPLOADS)
def test_files_are_uploaded_where_the_mode_allows_it(
    mode: str,
    page: str,
    query: dict[str, Any],
    key: str,
    store: Callable,
    open_by_link: Open,
    drawn_before: Open,
    as_teacher: Callable,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.delenv("A5_DATA", raising=False)
    store()
    app = open_by_link(page, **query)
    if mode == "teacher":
        as_teacher(app)
    allowed = mode in ("open", "teacher")
    assert app.file_uploader(key=key).proto.disabled is not allowed
    assert locked(app) == (not allowed)
    if not allowed:
        app = drawn_before(page, **query)
    app.file_uploader(key=key).set_value(("x.bin", b"nothing", "")).run()
    assert (f"kept-{key}" in app.session_state) == allowed


@pytest.mark.parametrize(("query", "key", "wanted"), MEASURED)
def test_heads_are_measured_unless_the_server_only_shows(
    mode: str,
    query: dict[str, Any],
    key: str,
    wanted: str,
    store: Callable,
    open_heads: Open,
    drawn_before: Open,
    as_teacher: Callable,
):
    store()
    app = open_heads(**{"heads-checkpoint": "tiny", **query})
    if mode == "teacher":
        as_teacher(app)
    assert app.button(key=key).disabled == (mode == "show")
    assert locked(app) == (mode == "show")
    if mode == "show":
        app = drawn_before("heads", **{"heads-checkpoint": "tiny", **query})
        app.button(key=key).click().run()
        assert wanted not in app.session_state
        assert app.button(key=key).disabled


def test_a_class_is_opened_by_a_teacher(
    mode: str,
    open_by_link: Open,
    drawn_before: Open,
    as_teacher: Callable,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("EXPLORER_CLASSROOM", str(tmp_path / "room"))
    app = open_by_link("lessons")
    if mode == "teacher":
        as_teacher(app)
    allowed = mode in ("open", "teacher")
    assert app.button(key="class-start").disabled is not allowed
    if not allowed:
        app = drawn_before("lessons")
    app.button(key="class-start").click().run()
    assert (tmp_path / "room").exists() == allowed
    if not allowed:
        assert app.error


def test_a_server_in_class_without_a_code_says_what_is_missing(
    serve_as: Callable, store: Callable, open_by_link: Open
):
    serve_as("class", "minutes = 5")
    store()
    app = open_by_link("attention", checkpoint=TRACE)
    captions = [caption.value.replace("\\", "") for caption in app.caption]
    assert any("this server has none: teacher_code in the file" in text for text in captions)


def locked(app: AppTest) -> bool:
    """Whether a control says beside it why it is not for the visitor."""
    return any(":material/lock:" in caption.value for caption in app.caption)
