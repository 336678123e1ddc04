"""Trainings in each mode: who may start, stop, resume, remove and keep; an action asks again,
however its button was drawn.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.classroom.codes import new_pupil
from core.jobs.folder import owner_of, read_owner, write_owner
from core.jobs.state import list_jobs, read_job

Open = Callable[..., AppTest]
PutJob = Callable[..., str]
Told = Callable[[AppTest], str]
VISITORS = ("open", "pupil", "owner", "teacher", "show")
# State of a job, the key of a button, whether it is done.
ACTIONS = [
    ("running", "training-stop-{}", lambda folder: read_job(folder).state == "stopping"),
    ("stopped", "training-resume-{}", lambda folder: read_job(folder).state == "queued"),
    ("stopped", "training-remove-{}", lambda folder: not folder.exists()),
    (
        "finished",
        "training-keep-{}",
        lambda folder: (folder.parents[1] / "notable-small" / "card.json").is_file(),
    ),
]


@pytest.fixture
def visit(serve_as: Callable, open_training: Open, as_teacher: Callable) -> Open:
    """Open the page as a visitor; the owner is the pupil that is named."""

    def visit_(visitor: str, *, drawn_as: str = "", **query: str) -> AppTest:
        mode = "class" if visitor in ("pupil", "owner", "teacher") else visitor
        serve_as(drawn_as or mode)
        app = open_training(**query)
        serve_as(mode)
        return as_teacher(app) if visitor == "teacher" else app

    return visit_


@pytest.mark.parametrize("visitor", VISITORS)
@pytest.mark.parametrize(("state", "button", "is_done"), ACTIONS)
def test_what_is_done_to_a_job_is_for_its_owner_and_teachers(
    visitor: str,
    state: str,
    button: str,
    is_done: Callable[[Path], bool],
    visit: Open,
    put_job: PutJob,
    runs: Path,
    told: Told,
):
    job, owner = put_job(state), new_pupil()
    write_owner(runs / job, owner_of(owner))
    query, key = {"pupil": owner if visitor == "owner" else new_pupil()}, button.format(job)
    allowed = visitor in ("open", "owner", "teacher")
    app = visit(visitor, **query)
    assert app.button(key=key).disabled is not allowed
    if not allowed:
        assert "resume" in button or ":material/lock:" in told(app)  # that says it in its help
        app = visit(visitor, drawn_as="open", **query)
    app.button(key=key).click().run()
    assert not app.exception
    assert is_done(runs / job) == allowed
    if not allowed:
        assert "only" in app.error[0].value


@pytest.mark.parametrize("visitor", ["open", "pupil", "teacher", "show"])
@pytest.mark.parametrize(("button", "n_jobs"), [("training-start", 1), ("training-lesson", 2)])
def test_short_trainings_are_started_unless_the_server_only_shows(
    visitor: str,
    button: str,
    n_jobs: int,
    visit: Open,
    runs: Path,
    told: Told,
):
    view = {"training-view": "Lesson"} if button == "training-lesson" else {}
    app = visit(visitor, **{"training-minutes": "4", **view})
    allowed = visitor != "show"
    assert app.button(key=button).disabled is not allowed
    assert ("this server only shows" in told(app)) is not allowed
    if not allowed:
        app = visit(visitor, drawn_as="open", **{"training-minutes": "4", **view})
    app.button(key=button).click().run()
    assert not app.exception
    assert len(list_jobs(runs)) == (n_jobs if allowed else 0)


def test_a_pupil_has_a_quota_and_a_teacher_has_none(
    visit: Open,
    serve_as: Callable,
    runs: Path,
    told: Told,
    as_teacher: Callable,
):
    app = visit("pupil", **{"training-minutes": "60"})
    assert "the jobs of a pupil may take 10 minutes together here" in told(app)
    assert app.button(key="training-start").disabled
    late = visit("pupil", drawn_as="open", **{"training-minutes": "60"})
    late.button(key="training-start").click().run()
    assert "10 minutes together" in late.error[0].value
    assert list_jobs(runs) == []
    app.number_input(key="training-minutes").set_value(4.0).run()
    for _ in range(2):
        app.button(key="training-start").click().run()
    assert "a pupil may have 2 jobs waiting or running here, and 2 of yours are there" in told(app)
    assert len(list_jobs(runs)) == 2
    as_teacher(app)
    app.button(key="training-start").click().run()
    assert len(list_jobs(runs)) == 3


def test_two_sessions_cannot_touch_each_others_jobs_and_know_their_own(
    visit: Open,
    runs: Path,
    open_training: Open,
):
    mine, other = visit("pupil", **{"training-minutes": "4"}), open_training()
    mine.button(key="training-start").click().run()
    (job,) = list_jobs(runs)
    other.run()
    assert not mine.button(key=f"training-stop-{job.id}").disabled
    assert other.button(key=f"training-stop-{job.id}").disabled
    late = visit("pupil", drawn_as="open")
    late.button(key=f"training-stop-{job.id}").click().run()
    assert read_job(runs / job.id).state == "queued"
    mine.button(key=f"training-stop-{job.id}").click().run()
    assert read_job(runs / job.id).state == "stopping"


def test_a_pupil_after_a_reload_owns_the_training_it_started(
    visit: Open,
    runs: Path,
    open_training: Open,
):
    pupil = new_pupil()
    app = visit("pupil", pupil=pupil, **{"training-minutes": "4"})
    app.button(key="training-start").click().run()
    (job,) = list_jobs(runs)
    assert read_owner(runs / job.id) == owner_of(pupil)
    assert pupil not in (runs / job.id / "owner.json").read_text()
    assert not open_training(pupil=pupil).button(key=f"training-stop-{job.id}").disabled
    assert open_training(pupil=new_pupil()).button(key=f"training-stop-{job.id}").disabled


def test_nothing_is_estimated_where_nothing_is_started(
    visit: Open,
    monkeypatch: pytest.MonkeyPatch,
):
    measured: list[object] = []
    monkeypatch.setattr("pages.training.start.measured", measured.append)
    app = visit("show")
    assert app.button(key="training-estimate").disabled
    visit("show", drawn_as="open").button(key="training-estimate").click().run()
    assert measured == []
