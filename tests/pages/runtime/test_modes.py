"""Measurements in each mode: who may start, stop, go on and remove."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.classroom.codes import new_pupil
from core.jobs.folder import owner_of, write_owner
from core.jobs.state import list_benches, read_job

Open = Callable[..., AppTest]
VISITORS = ("open", "pupil", "owner", "teacher", "show")
ACTIONS = [
    ("running", "rt-stop-{}", lambda folder: read_job(folder).state == "stopping"),
    ("stopped", "rt-play_arrow-{}", lambda folder: read_job(folder).state == "queued"),
    ("stopped", "rt-delete-{}", lambda folder: not folder.exists()),
]


@pytest.fixture
def visit(serve_as: Callable, open_runtime: Open, as_teacher: Callable) -> Open:
    """Open the page as a visitor; the owner is the pupil that is named."""

    def visit_(visitor: str, *, drawn_as: str = "", **query: str) -> AppTest:
        mode = "class" if visitor in ("pupil", "owner", "teacher") else visitor
        serve_as(drawn_as or mode)
        app = open_runtime(**query)
        serve_as(mode)
        return as_teacher(app) if visitor == "teacher" else app

    return visit_


@pytest.mark.parametrize("visitor", VISITORS)
@pytest.mark.parametrize(("state", "button", "is_done"), ACTIONS)
def test_what_is_done_to_a_measurement_is_for_its_owner_and_teachers(
    visitor: str,
    state: str,
    button: str,
    is_done: Callable[[Path], bool],
    visit: Open,
    put_job: Callable[..., str],
    runs: Path,
):
    job, owner = put_job(state), new_pupil()
    write_owner(runs / job, owner_of(owner))
    query = {"bench": job, "pupil": owner if visitor == "owner" else new_pupil()}
    app = visit(visitor, **query)
    allowed = visitor in ("open", "owner", "teacher")
    assert app.button(key=button.format(job)).disabled is not allowed
    if not allowed:
        app = visit(visitor, drawn_as="open", **query)
    app.button(key=button.format(job)).click().run()
    assert not app.exception
    assert is_done(runs / job) == allowed
    if not allowed:
        assert "only" in app.error[0].value


@pytest.mark.parametrize("visitor", ["open", "pupil", "teacher", "show"])
def test_short_measurements_are_started_unless_the_server_only_shows(
    visitor: str,
    visit: Open,
    runs: Path,
):
    app = visit(visitor)
    allowed = visitor != "show"
    assert app.button(key="rt-start").disabled is not allowed
    if not allowed:
        app = visit(visitor, drawn_as="open")
    app.button(key="rt-start").click().run()
    assert not app.exception
    assert len(list_benches(runs)) == int(allowed)
