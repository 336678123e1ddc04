"""Sweeps on the page: started from the form, watched and stopped as one, compared by means."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.classroom.codes import new_pupil
from core.jobs.folder import SweepName, write_sweep_name
from core.jobs.state import Job, list_jobs
from core.training.recipe import Overrides
from pages.training import over_seeds, words

Open = Callable[..., AppTest]
Hints = Callable[[AppTest], str]
PutJob = Callable[..., str]
PutSweep = Callable[..., list[str]]

ID, OTHER = "sweep-20260131-115900-0a1b2c", "sweep-20260131-115800-0a1b2c"
MEANS = {"training-view": words.COMPARE, over_seeds.OF: over_seeds.MEANS}


@pytest.fixture
def put_sweep(put_job: PutJob, runs: Path) -> PutSweep:
    """Jobs of a sweep, `correct` right answers of 100 at each rate for each seed."""

    def put(
        correct: dict[float, tuple[int, ...]],
        *,
        state: str = "finished",
        sweep: str = ID,
        name: str = "rates",
        **options: Any,
    ) -> list[str]:
        ids: list[str] = []
        for seed in range(max(map(len, correct.values()))):
            for rate, right in correct.items():
                if seed >= len(right):
                    continue
                title = f"{name} · rate {rate:g} · seed {seed}"
                own = {"overrides": Overrides(learning_rate=rate), "seed": seed, **options}
                ids.append(put_job(state, correct=right[seed], name=title, **own))
                write_sweep_name(runs / ids[-1], SweepName(id=sweep, name=name))
        return ids

    return put


def charts(app: AppTest) -> list[str]:
    return [chart.proto.alt for chart in app.get("vega_lite_chart")]


def of_sweeps(runs: Path) -> list[Job]:
    return [job for job in list_jobs(runs) if job.sweep is not None][::-1]


def press(app: AppTest, action: str) -> None:
    app.button(key=f"training-{action}-{ID}").click().run()
    assert not app.exception, app.exception[0].value


def test_typed_seeds_and_rates_start_a_sweep_that_is_looked_at(
    open_training: Open, told: Hints, runs: Path
):
    app = open_training()
    assert app.button(key="training-start").label == "Start"
    app.text_input(key="training-seeds").set_value("0, 2")
    app.text_input(key="training-rates").set_value("3e-2 0.003")
    app.text_input(key="training-name").set_value("which?").run()
    assert app.button(key="training-start").label == "Start 4 trainings"
    app.button(key="training-start").click().run()
    assert not app.exception
    jobs = of_sweeps(runs)
    assert [(job.spec.seed, job.spec.overrides.learning_rate) for job in jobs if job.spec] == [
        (0, 0.03),
        (0, 0.003),
        (2, 0.03),
        (2, 0.003),
    ]
    (sweep,) = {job.sweep for job in jobs if job.sweep}
    assert app.selectbox(key="training-run").value == sweep.id
    assert app.query_params["job"] in (sweep.id, [sweep.id])
    said = told(app)
    assert "##### which?: all 4 waiting" in said
    assert "| which? · rate 0.003 · seed 2 | waits, 4. in line | – |" in said


def test_without_seeds_the_rates_have_the_seed_of_the_form(open_training: Open, runs: Path):
    app = open_training(**{"training-rates": "0.1 0.2", "training-seed": "7"})
    app.button(key="training-start").click().run()
    assert [job.spec.seed for job in of_sweeps(runs) if job.spec] == [7, 7]


@pytest.mark.parametrize(
    ("key", "typed", "message"),
    [
        ("seeds", "0 x", "seeds: 'x' cannot be read; write 0 1 2"),
        ("seeds", "1 1", "seed 1 is named twice"),
        ("seeds", "3", "a sweep of one training: name several seeds"),
        ("rates", "0.1 7", "learning rate 7.0: more than 0 and at most 1"),
        ("seeds", " ".join(map(str, range(50))), "50 trainings: a sweep has at most 40"),
    ],
)
def test_what_is_no_sweep_is_said_and_cannot_be_started(
    open_training: Open, told: Hints, key: str, typed: str, message: str
):
    app = open_training()
    app.text_input(key=f"training-{key}").set_value(typed).run()
    assert message in told(app)
    assert app.button(key="training-start").disabled


def test_a_sweep_without_room_starts_none_of_its_jobs(
    open_training: Open, told: Hints, runs: Path, monkeypatch: pytest.MonkeyPatch
):
    app = open_training(**{"training-seeds": "0 1 2"})
    monkeypatch.setattr("core.jobs.actions.MOST_IN_SWEEPS", 3)
    monkeypatch.setattr("core.jobs.actions.LEAST_FREE_BYTES", 10**18)
    app.button(key="training-start").click().run()
    assert "3 jobs need 3000000000000 MB" in told(app)
    assert list_jobs(runs) == []


def test_a_pupil_may_start_no_sweep_beyond_the_quota(
    open_training: Open, told: Hints, serve_as: Callable[..., None]
):
    serve_as("class")
    app = open_training(**{"training-seeds": "0 1 2", "training-minutes": "1"})
    assert "a pupil may have 2 jobs waiting or running here" in told(app)
    assert app.button(key="training-start").disabled


def test_the_list_has_a_sweep_above_its_runs(
    open_training: Open, put_sweep: PutSweep, put_job: PutJob
):
    ids = put_sweep({0.1: (50,), 0.2: (60,)})
    alone = put_job("finished", name="alone")
    app = open_training()
    assert app.selectbox(key="training-run").value == alone
    assert app.selectbox(key="training-run").options == [
        "alone",
        "rates: sweep of 2",
        "– rates · rate 0.1 · seed 0",
        "– rates · rate 0.2 · seed 0",
    ]
    app.selectbox(key="training-run").set_value(ids[1]).run()
    assert charts(app)[0] == "Loss: 8.00 at first, 1.00 now"


def test_a_sweep_shows_how_its_runs_stand_and_their_means(
    open_training: Open, told: Hints, put_sweep: PutSweep
):
    put_sweep({0.1: (50, 60, 70), 0.2: (56, 65, 77)})
    put_sweep({0.1: (0,) * 4}, state="stopped", name="other", sweep=OTHER)
    app = open_training(job=ID)
    said = told(app)
    assert "##### rates: all 6 finished" in said
    loss = "Loss, mean of 10 lines: mean over seeds"
    assert charts(app) == [loss, "Right held-out answers: mean over seeds"]
    first = "| rate 0.1 | 3 of 3 | 60.0 % (35.2–84.8) | 60.0 % (35.2–84.8) |"
    assert f"{first} 6.0 points (3.5 to 8.5) |" in said
    assert "| rate 0.2 | 3 of 3 | 66.0 % (39.8–92.2) | 66.0 % (39.8–92.2) | the best |" in said
    assert "rate 0.2 is ahead of rate 0.1 by 6.0 points (3.5 to 8.5) of the dev questions" in said
    assert "more than noise between seeds" in said
    assert "Student's t" in said


def test_all_runs_of_a_sweep_are_stopped_resumed_and_removed_with_a_click(
    open_training: Open, told: Hints, put_sweep: PutSweep, runs: Path
):
    put_sweep({0.1: (50, 60)}, state="running", n_rows=4)
    app = open_training(job=ID)
    assert "##### rates: all 2 running" in told(app)
    press(app, "stop")
    assert [job.state for job in of_sweeps(runs)] == ["stopping", "stopping"]


def test_a_stopped_sweep_goes_on_or_is_removed(
    open_training: Open, told: Hints, put_sweep: PutSweep, runs: Path
):
    put_sweep({0.1: (50, 60)}, state="stopped", n_rows=4)
    app = open_training(job=ID)
    press(app, "resume")
    assert [job.state for job in of_sweeps(runs)] == ["queued", "queued"]
    app = open_training(job=ID)
    assert "all 2 waiting" in told(app)


def test_a_removed_sweep_is_looked_at_no_more(
    open_training: Open, put_sweep: PutSweep, put_job: PutJob, runs: Path
):
    other = put_job("finished")
    put_sweep({0.1: (50, 60)})
    app = open_training(job=ID)
    press(app, "remove")
    assert [job.id for job in list_jobs(runs)] == [other]
    assert app.selectbox(key="training-run").value == other


def test_in_class_a_sweep_is_stopped_by_its_owner_or_a_teacher(
    open_training: Open, put_sweep: PutSweep, serve_as: Callable[..., None], told: Hints
):
    put_sweep({0.1: (50, 60)}, state="running", n_rows=4)
    serve_as("class")
    app = open_training(job=ID, pupil=new_pupil())
    assert app.button(key=f"training-stop-{ID}").disabled
    assert "only with the teacher's code, or for who started it" in told(app)


def test_without_sweeps_single_runs_are_compared(open_training: Open, put_job: PutJob):
    put_job("finished")
    app = open_training(**{"training-view": words.COMPARE})
    assert over_seeds.OF not in [group.key for group in app.get("button_group")]


def test_means_of_the_newest_sweep_are_compared_first_and_a_link_names_others(
    open_training: Open, told: Hints, put_sweep: PutSweep
):
    put_sweep({0.1: (50, 60)}, name="old", sweep=OTHER)
    put_sweep({0.1: (50, 60), 0.2: (40, 90)})
    app = open_training(**MEANS)
    group = app.multiselect(key=over_seeds.GROUPS)
    assert group.value == [f"{ID}:rate-0.1", f"{ID}:rate-0.2"]
    assert group.options == [
        "rates · rate 0.1, 2 seeds",
        "rates · rate 0.2, 2 seeds",
        "old, 2 seeds",
    ]
    assert "The interval holds 0: the difference may be noise." in told(app)
    app = open_training(**MEANS, groups=f"{OTHER},{ID}:rate-0.2", **{"training-smoothing": "3"})
    assert app.multiselect(key=over_seeds.GROUPS).value == [OTHER, f"{ID}:rate-0.2"]
    assert charts(app)[0] == "Loss, mean of 3 lines: mean over seeds"
    assert "| old | 2 of 2 |" in told(app)


def test_of_one_seed_nothing_can_be_told(open_training: Open, told: Hints, put_sweep: PutSweep):
    put_sweep({0.1: (50,), 0.2: (90,)})
    said = told(open_training(**MEANS))
    assert "With fewer than two finished seeds (rate 0.1, rate 0.2) no noise can be told." in said
    assert "| rate 0.2 | 1 of 1 | 90.0 % (one seed) | 90.0 % (one seed) | the best |" in said


def test_seeds_that_are_all_alike_have_no_interval_and_nobody_is_the_best(
    open_training: Open, told: Hints, put_sweep: PutSweep
):
    put_sweep({0.1: (50, 50), 0.2: (50, 50)})
    said = told(open_training(**MEANS))
    alike = "50.0 % (all seeds alike)"
    assert f"| rate 0.1 | 2 of 2 | {alike} | {alike} | – |" in said
    assert "rate 0.1 and rate 0.2 are alike in the mean" in said


def test_runs_of_other_lengths_and_those_not_finished_are_said(
    open_training: Open, told: Hints, put_sweep: PutSweep, put_job: PutJob, runs: Path
):
    put_sweep({0.1: (50, 60)}, said={"n_steps": 90})
    late = put_job("queued", overrides=Overrides(learning_rate=0.1), seed=9)
    write_sweep_name(runs / late, SweepName(id=ID, name="rates"))
    put_sweep({0.2: (50, 60)})
    said = told(open_training(**MEANS))
    assert "Finished runs are counted: rate 0.1 2 of 3." in said
    assert "The runs have 80 to 90 steps" in said


def test_means_without_a_choice_say_what_to_do(
    open_training: Open, told: Hints, put_sweep: PutSweep
):
    put_sweep({0.1: (50, 60)})
    app = open_training(**MEANS)
    app.multiselect(key=over_seeds.GROUPS).set_value([]).run()
    assert "Choose groups that shall be compared." in told(app)


def test_means_and_measurements_are_files(open_training: Open, put_sweep: PutSweep):
    put_sweep({0.1: (50, 60)})
    app = open_training(**MEANS)
    app.session_state["training-tables"] = True
    app.run()
    assert len(set(app.dataframe[0].value["run"])) == 2
    labels = [button.proto.label for button in app.get("download_button")]
    assert labels == ["Loss (SVG)", "Answers (SVG)", "Measurements (CSV)", "Means (JSON)"]
