"""Several runs side by side, and the lesson: curves, intervals, settings that differ."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.jobs.lesson import PRETRAINED_MINUTES, SCRATCH_MINUTES, lesson_specs
from core.jobs.state import list_jobs
from core.runs.journal import METRICS
from core.training.recipe import Overrides
from pages.training import lesson, words

Open = Callable[..., AppTest]
Hints = Callable[[AppTest], str]
PutJob = Callable[..., str]

COMPARE = {"training-view": words.COMPARE}
LESSON = {"training-view": words.LESSON}


def charts(app: AppTest) -> list[str]:
    return [chart.proto.alt for chart in app.get("vega_lite_chart")]


def drawn(app: AppTest, chart: int, column: str) -> list[Any]:
    """A column of the main table of a chart."""
    proto = app.get("vega_lite_chart")[chart].proto
    tables = [dataset.data.data for dataset in proto.datasets] or [proto.data.data]
    import pyarrow

    frames = [pyarrow.ipc.open_stream(table).read_pandas() for table in tables]
    (frame,) = [frame for frame in frames if column in frame and "name" in frame]
    return frame[column].tolist()


def test_the_newest_two_runs_with_measurements_are_compared_first(
    open_training: Open, put_job: PutJob
):
    put_job("finished")
    newer = [put_job("finished", name="b"), put_job("finished", name="a")]
    put_job("queued")
    app = open_training(**COMPARE)
    assert app.multiselect(key="training-runs").value == newer[::-1]
    assert charts(app) == ["Loss", "Right answers to held-out questions"]
    assert set(drawn(app, 0, "name")) == {"a", "b"}


def test_a_link_restores_runs_axis_and_smoothing(open_training: Open, put_job: PutJob):
    first, _, third = (put_job("finished", name=name) for name in "xyz")
    query = {"runs": f"{third},{first}", "training-axis": "tokens", "training-smoothing": "4"}
    app = open_training(**COMPARE, **query)
    assert app.multiselect(key="training-runs").value == [third, first]
    assert app.button_group(key="training-axis").value == "tokens"
    assert app.slider(key="training-smoothing").value == 4
    assert charts(app)[0] == "Loss, mean of 4 lines"
    assert drawn(app, 0, "at")[0] == 30_000


@pytest.mark.parametrize(("axis", "second"), [("steps", 20), ("tokens", 60_000), ("seconds", 5.0)])
def test_the_axis_changes_what_is_counted(
    open_training: Open, put_job: PutJob, axis: str, second: float
):
    put_job("finished")
    app = open_training(**COMPARE)
    app.button_group(key="training-axis").set_value(axis).run()
    assert drawn(app, 0, "at")[1] == drawn(app, 1, "at")[0] == second
    assert f'"title": "{words.AXES[axis]}"' in app.get("vega_lite_chart")[0].proto.spec


def test_smoothing_says_what_it_does_and_leaves_answers_alone(
    open_training: Open, told: Hints, put_job: PutJob
):
    put_job("finished")
    app = open_training(**COMPARE)
    losses, answers = drawn(app, 0, "loss"), drawn(app, 1, "share")
    assert losses[:2] == [8.0, 4.0]
    assert "Loss as measured" in told(app)
    app.slider(key="training-smoothing").set_value(2).run()
    assert "each point is the mean of its line of metrics and the 1 before" in told(app)
    assert drawn(app, 0, "loss")[:2] == [8.0, 6.0]
    assert drawn(app, 1, "share") == answers


def test_results_carry_their_intervals_and_only_settings_that_differ_are_told(
    open_training: Open, told: Hints, put_job: PutJob
):
    put_job("finished", name="narrow", correct=60, overrides=Overrides(width=32))
    put_job("stopped", n_rows=4, name="a | <b>b</b>", correct=20, seed=3)
    app = open_training(**COMPARE)
    said = told(app)
    assert "| narrow | finished | 80 | 60.0 % (50–69) | 60.0 % (56–64) |" in said
    assert "| a | <b>b</b> | stopped | 40 | 20.0 % (13–29) | – |" in said
    assert "| width | 80 | 32 |" in said
    assert "| seed | 3 | 0 |" in said
    assert "| preset |" not in said
    raw = "".join(m.value for m in app.markdown)
    assert r"a \| \<b\>b" in raw


@pytest.mark.parametrize(
    ("correct", "said"),
    [
        (58, "The dev intervals of **b** and **a** overlap: their difference may be noise."),
        (20, "**b** is ahead of **a** by more than noise: their dev intervals do not overlap."),
    ],
)
def test_noise_is_not_taken_for_progress(
    open_training: Open, told: Hints, put_job: PutJob, correct: int, said: str
):
    put_job("finished", name="a", correct=correct)
    put_job("finished", name="b", correct=60)
    assert said in told(open_training(**COMPARE))


def test_runs_of_one_name_and_the_same_settings_are_told_apart(
    open_training: Open, told: Hints, put_job: PutJob, monkeypatch: pytest.MonkeyPatch
):
    ids = iter(["20260131-120001-00000a", "20260131-120002-00000b"])
    monkeypatch.setattr("core.jobs.actions.new_id", lambda _: next(ids))
    put_job("finished", name="same")
    put_job("finished", name="same")
    app = open_training(**COMPARE)
    assert set(drawn(app, 0, "name")) == {"same (00000a)", "same (00000b)"}
    assert "All their settings are the same." in told(app)


def test_a_damaged_curve_does_not_take_the_others_away(
    open_training: Open, told: Hints, put_job: PutJob, runs: Path
):
    put_job("finished", name="whole")
    (runs / put_job("finished", name="broken") / METRICS).write_text("{}\n")
    app = open_training(**COMPARE)
    assert "broken: metrics.jsonl, line 1: not a measurement" in told(app)
    assert set(drawn(app, 0, "name")) == {"whole"}


def test_without_runs_the_comparison_says_what_to_do(open_training: Open, told: Hints):
    app = open_training(**COMPARE, runs="nonsense,../x")
    assert "Choose runs that shall be compared." in told(app)
    assert app.multiselect(key="training-runs").value == []


def test_one_click_starts_both_runs_of_the_lesson(open_training: Open, told: Hints, runs: Path):
    app = open_training(**LESSON)
    assert lesson.RECORDED in told(app)
    app.button(key="training-lesson").click().run()
    assert not app.exception
    pretrained, scratch = list_jobs(runs)
    assert [(scratch.place, scratch.spec), (pretrained.place, pretrained.spec)] == [
        (1, lesson_specs()[0]),
        (2, lesson_specs()[1]),
    ]
    assert app.button_group(key="training-view").value == words.LESSON
    assert app.button(key="training-lesson").disabled
    assert "waits, 1. in line" in told(app)
    assert lesson.RECORDED not in told(app)
    assert "The lesson is running already, here or in another browser." in told(app)


@pytest.fixture
def put_lesson(put_job: PutJob) -> Callable[..., None]:
    def put(scratch: str, pretrained: str, *, correct: int = 70) -> None:
        small = {"overrides": lesson_specs()[0].overrides, "minutes": SCRATCH_MINUTES}
        put_job(scratch, preset="notable-scratch", name="<b>a</b>", correct=0, **small)
        put_job(pretrained, name="lesson", correct=correct, minutes=PRETRAINED_MINUTES)

    return put


def test_the_lesson_ends_with_what_was_seen(
    open_training: Open, told: Hints, put_lesson: Callable[..., None]
):
    put_lesson("finished", "finished")
    app = open_training(**LESSON)
    assert charts(app) == ["Right answers: 0 % (0–4)", "Right answers: 70.0 % (60–78)"]
    for chart in app.get("vega_lite_chart"):
        assert "constant" in chart.proto.spec
        assert '"domain": [0, 1]' in chart.proto.spec
    said = told(app)
    assert "With sentences first it answers **70.0 % (66–74)** of the dev questions right" in said
    assert "without them **0 % (0–1)**" in said
    assert "reading is what pretraining buys" in said
    assert not app.button(key="training-lesson").disabled
    app.session_state["training-tables"] = True
    assert set(app.run().dataframe[0].value["run"]) == {"<b>a</b>", "lesson"}


def test_a_lesson_that_shows_nothing_claims_nothing(
    open_training: Open, told: Hints, put_lesson: Callable[..., None]
):
    put_lesson("finished", "finished", correct=0)
    said = told(open_training(**LESSON))
    assert "without them **0 % (0–1)**. This time the difference may be noise." in said
    assert "reading is what pretraining buys" not in said


def test_before_its_end_the_lesson_claims_nothing(
    open_training: Open, told: Hints, put_lesson: Callable[..., None]
):
    put_lesson("finished", "running")
    said = told(open_training(**LESSON))
    assert "100%, about 90 s left" in said
    assert "With sentences first" not in said


def test_a_lesson_that_cannot_start_says_why(
    open_training: Open, told: Hints, monkeypatch: pytest.MonkeyPatch, runs: Path
):
    app = open_training(**LESSON)
    monkeypatch.setattr("core.jobs.actions.LEAST_FREE_BYTES", 10**18)
    app.button(key="training-lesson").click().run()
    assert "a job needs 1000000000000 MB" in told(app)
    assert json.dumps([job.id for job in list_jobs(runs)]) == "[]"
