"""One run: every state says what it is, moves by itself while it must, and can be acted on."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.testing.v1 import AppTest

from core.jobs import actions
from core.jobs.folder import STATUS
from core.jobs.state import show
from core.runs.folder import STATE
from pages.shared.text import plain
from pages.training import words

Open = Callable[..., AppTest]
Hints = Callable[[AppTest], str]
PutJob = Callable[..., str]

HOSTILE = "<b>x</b> $y$ **z** a -> b :smile: :material/home: :red[r] | `c`"


def press(app: AppTest, action: str, job_id: str) -> None:
    app.button(key=f"training-{action}-{job_id}").click().run()
    assert not app.exception, app.exception[0].value


def buttons(app: AppTest) -> list[str]:
    return [b.label for b in app.main.button if str(b.key).count("-") > 2]


@pytest.fixture
def polls(monkeypatch: pytest.MonkeyPatch) -> list[float | None]:
    """How often each drawing of the page wanted to repeat itself."""
    import streamlit

    real, wanted = streamlit.fragment, list[float | None]()

    def fragment(draw: Any, *, run_every: float | None = None) -> Any:
        wanted.append(run_every)
        return real(draw, run_every=run_every)

    monkeypatch.setattr(streamlit, "fragment", fragment)
    return wanted


def test_a_running_job_shows_progress_curves_answer_and_log(
    open_training: Open, told: Hints, put_job: PutJob
):
    put_job("running", n_rows=4, name="mine")
    app = open_training()
    said = told(app)
    assert "##### mine: 50%, about 90 s left" in said
    assert "step 40 of 80 · recall · 12,000 tokens a second · 475,840 parameters" in said
    assert "Loss: 8.00 at first, 2.00 now" in said
    assert "Right answers: 60.0 % at step 40" in said
    assert "At step 40: Where was Ada *Arden* born? → **<b>Lima</b>** (expected: Kyoto)" in said
    assert "hello <b>log</b>" in said
    assert "python -m core jobs start --preset notable-small --steps 80 --seed 0" in said
    assert buttons(app) == ["Yes, stop it"]


def test_the_charts_hold_the_curve_its_band_the_phases_and_the_constant_answer(
    open_training: Open, put_job: PutJob
):
    put_job("running", n_rows=4)
    charts = open_training().get("vega_lite_chart")
    loss, answers = (chart.proto.spec for chart in charts)
    assert '"mark": {"type": "area"' in answers
    assert "constant" in answers
    (phases,) = [d.data.data for d in charts[0].proto.datasets if d.name == "phases"]
    assert convert_arrow_bytes_to_pandas_df(phases)["phase"].tolist() == ["pretrain", "recall"]
    assert '"field": "phase"' in loss
    for spec in (loss, answers):
        assert '"domain": [0, 80]' in spec


@pytest.mark.parametrize("state", ["queued", "running", "stopping"])
def test_the_page_repeats_itself_while_a_job_is_active(
    open_training: Open, put_job: PutJob, polls: list[float | None], state: str
):
    put_job("finished")
    put_job(state, n_rows=4)
    open_training()
    assert polls == [2.0]


@pytest.mark.parametrize("state", ["finished", "stopped", "failed", "lost"])
def test_the_page_rests_when_no_job_is_active(
    open_training: Open, put_job: PutJob, polls: list[float | None], state: str
):
    put_job(state, n_rows=4)
    open_training()
    assert polls == [None]


def test_whoever_watches_insists_on_a_stop(
    open_training: Open, put_job: PutJob, monkeypatch: pytest.MonkeyPatch, runs: Path
):
    stopping, other = put_job("stopping", n_rows=4), put_job("running", n_rows=4)
    calls: list[str] = []
    real = actions.stop
    monkeypatch.setattr(actions, "stop", lambda root, job: calls.append(job) or real(root, job))
    open_training(job=other)
    assert calls == [stopping]
    (runs / stopping / STATUS).unlink()
    monkeypatch.setattr(actions, "stop", refused)
    assert not open_training(job=other).exception


def refused(*_: Any, **__: Any) -> None:
    raise ValueError("it is over already")


def test_a_stop_asks_first_and_may_be_repeated_by_nobody(
    open_training: Open, told: Hints, put_job: PutJob, runs: Path
):
    job_id = put_job("running", n_rows=4, name="Ada's")
    app = open_training()
    assert "Stop **Ada's**? It may be somebody else's." in told(app)
    assert show(runs, job_id).state == "running"
    press(app, "stop", job_id)
    assert show(runs, job_id).state == "stopping"
    assert "##### Ada's: stopping after its step" in told(app)


def test_a_stopped_job_is_resumed(open_training: Open, told: Hints, put_job: PutJob, runs: Path):
    job_id = put_job("stopped", n_rows=4, said={"message": "stopped as asked"})
    app = open_training()
    assert "notable-small: stopped, can go on" in told(app)
    assert "stopped as asked" in told(app)
    press(app, "resume", job_id)
    assert show(runs, job_id).state == "queued"
    assert "notable-small: waits, 1. in line" in told(app)


def test_a_removed_job_makes_place_for_the_newest(
    open_training: Open, told: Hints, put_job: PutJob, runs: Path
):
    other, job_id = put_job("finished"), put_job("stopped", n_rows=4, name="<i>gone</i>")
    app = open_training(job=job_id)
    assert "Remove **<i>gone</i>** with all that it trained?" in told(app)
    assert (runs / job_id).exists()
    press(app, "remove", job_id)
    assert not (runs / job_id).exists()
    assert app.selectbox(key="training-run").value == other
    assert "There is no training" not in told(app)


def test_an_action_that_comes_too_late_is_said(
    open_training: Open, told: Hints, put_job: PutJob, monkeypatch: pytest.MonkeyPatch
):
    job_id = put_job("stopped", n_rows=4)
    app = open_training()
    monkeypatch.setattr(actions, "resume", refused)
    press(app, "resume", job_id)
    assert "it is over already" in told(app)
    monkeypatch.setattr(actions, "remove", lambda *_: (_ for _ in ()).throw(OSError(30, "no disk")))
    press(app, "remove", job_id)
    assert "no disk" in told(app)


@pytest.mark.parametrize(
    ("state", "message", "said"),
    [
        ("lost", "", "notable-small: lost, can be resumed"),
        ("failed", "the loss is nan at step 41; nothing was saved", "notable-small: failed"),
        ("finished", "", "finished, 60.0 % (56–64) of the dev questions right"),
    ],
)
def test_how_a_job_ended_is_said(
    open_training: Open, told: Hints, put_job: PutJob, state: str, message: str, said: str
):
    put_job(state, n_rows=8, said={"message": message})
    app = open_training()
    assert said in told(app)
    assert message in told(app)


@pytest.mark.parametrize(
    ("activity", "said"),
    [("loading", "mine: loading its text"), ("measuring", "mine: measuring its answers")],
)
def test_before_and_after_the_steps_the_page_says_what_is_done(
    open_training: Open, told: Hints, put_job: PutJob, runs: Path, activity: str, said: str
):
    job_id = put_job("running", n_rows=4, name="mine")
    status = json.loads((runs / job_id / STATUS).read_text())
    (runs / job_id / STATUS).write_text(json.dumps({**status, "activity": activity}))
    assert said in told(open_training())


def test_jobs_that_wait_know_their_place_and_how_long(
    open_training: Open, told: Hints, put_job: PutJob
):
    put_job("running", n_rows=4)
    put_job("queued", minutes=3)
    job_id = put_job("queued")
    said = told(open_training(job=job_id))
    assert "waits, 2. in line" in said
    assert "The jobs before it need about 4 min." in said  # 90 s and 3 minutes
    assert "The curves begin with the first measurement." in said


def test_a_worker_that_says_nothing_is_noticed(
    open_training: Open, told: Hints, put_job: PutJob, runs: Path
):
    job_id = put_job("running", n_rows=4)
    status = json.loads((runs / job_id / STATUS).read_text())
    (runs / job_id / STATUS).write_text(json.dumps({**status, "updated_at": 0.0}))
    assert "running, but without a word for " in told(open_training())


def test_a_name_is_text_wherever_it_stands(open_training: Open, told: Hints, put_job: PutJob):
    put_job("running", n_rows=4, name=HOSTILE)
    app = open_training()
    heading = next(m.value for m in app.markdown if m.value.startswith("##### "))
    for raw in ("<b>", "$y$", "**z**", ":material/home:", ":red[", "`c`"):
        assert raw not in heading
    assert f"##### {HOSTILE}" in told(app)
    assert app.selectbox(key="training-run").options[0].startswith(HOSTILE)


def test_a_link_opens_its_run_and_nonsense_opens_the_one_that_runs(
    open_training: Open, told: Hints, put_job: PutJob
):
    first = put_job("finished", name="first")
    running, _ = put_job("running", n_rows=4, name="second"), put_job("queued", name="third")
    assert "##### first: finished" in told(open_training(job=first))
    app = open_training()
    assert app.selectbox(key="training-run").value == running
    for wrong in ("20260131-000000-ffffff", "../../etc/<b>"):
        app = open_training(job=wrong)
        assert f"asks for “{plain(wrong)}” as Run" in app.warning[0].value
        assert app.selectbox(key="training-run").value == running


def test_the_chosen_run_stays_while_another_page_is_looked_at(open_training: Open, put_job: PutJob):
    first = put_job("finished", name="first")
    second = put_job("finished", name="second")
    app = open_training()
    assert app.selectbox(key="training-run").value == second
    app.selectbox(key="training-run").set_value(first).run()
    app.switch_page("pages/home/page.py").run()
    app.switch_page("pages/training/page.py").run()
    assert app.selectbox(key="training-run").value == first
    app.switch_page("pages/home/page.py").run()
    app.switch_page("pages/training/page.py")
    app.query_params["job"] = second
    assert app.run().selectbox(key="training-run").value == second


def test_a_job_that_comes_from_another_browser_can_be_chosen(open_training: Open, put_job: PutJob):
    put_job("finished")
    app = open_training()
    assert len(app.selectbox(key="training-run").options) == 1
    put_job("queued", name="of another")
    options = app.run().selectbox(key="training-run").options
    assert options == ["of another", "notable-small"]
    put_job("queued", name="of another")
    *two, _ = app.run().selectbox(key="training-run").options
    assert all(re.fullmatch(r"of another · 31 Jan \d\d:\d\d:\d\d", option) for option in two)
    assert len(set(two)) == 2


@pytest.mark.parametrize(
    ("seconds", "text"), [(-1, "0 s"), (119, "119 s"), (120, "2 min"), (7200, "2.0 h")]
)
def test_a_duration_is_told_in_its_unit(seconds: float, text: str):
    assert words.duration(seconds) == text


def test_a_job_that_lost_its_state_offers_no_resume_and_says_why(
    open_training: Open, told: Hints, put_job: PutJob, runs: Path
):
    job_id = put_job("stopped", n_rows=4)
    assert "Resume" in buttons(open_training())
    (runs / job_id / STATE).unlink()
    app = open_training()
    said = told(app)
    assert "##### notable-small: stopped, cannot go on" in said
    assert "it cannot go on: state.safetensors is missing" in said
    assert buttons(app) == ["Yes, remove it"]
    assert not app.exception


def test_what_is_left_over_beside_the_jobs_is_named_with_the_way_to_remove_it(
    open_training: Open, told: Hints, put_job: PutJob, runs: Path
):
    put_job("finished")
    assert "Left over" not in told(open_training())
    (runs / "20200101-000000-0a1b2c").mkdir()
    said = told(open_training())
    assert "Left over: runs/20200101-000000-0a1b2c, 0.0 MB: has no job.json" in said
    assert "`python -m core jobs clean` removes what no job needs." in said
