"""What a training would take is measured on demand, and only then."""

from collections.abc import Callable
from dataclasses import asdict

import pytest
from streamlit.testing.v1 import AppTest

from core.jobs.estimate import TrainingEstimate
from core.jobs.spec import TrainSpec
from core.training.presets import PRESETS

Open = Callable[..., AppTest]
Hints = Callable[[AppTest], str]


def guess(spec: TrainSpec) -> TrainingEstimate:
    minutes = spec.minutes or 0
    return TrainingEstimate(
        n_parameters=475_840,
        n_steps=round(480 * minutes),
        steps_per_second=8.0,
        tokens_per_second=21_500.0,
        seconds=60 * minutes,
    )


def test_an_estimate_is_measured_on_demand_and_once_for_each_model_and_length(
    open_training: Open, told: Hints, monkeypatch: pytest.MonkeyPatch
):
    asked: list[TrainSpec] = []
    monkeypatch.setattr("pages.training.start.estimate", lambda s: asked.append(s) or guess(s))
    app = open_training()
    assert not asked
    app.button(key="training-estimate").click().run()
    assert "475,840 parameters, 1,920 steps" in told(app).replace("*", "")
    assert "4 min of training, until about " in told(app)
    app.text_input(key="training-name").set_value("another name").run()
    app.number_input(key="training-seed").set_value(5).run()
    assert "475,840 parameters" in told(app).replace("*", "")
    app.number_input(key="training-minutes").set_value(3.0).run()
    assert "475,840" not in told(app)
    assert len(asked) == 1
    assert asdict(asked[0].recipe) == asdict(PRESETS["notable-small"])


def test_an_estimate_counts_the_jobs_that_come_before(
    open_training: Open, told: Hints, monkeypatch: pytest.MonkeyPatch, put_job: Callable[..., str]
):
    monkeypatch.setattr("pages.training.start.estimate", guess)
    put_job("queued", minutes=3)
    app = open_training()
    app.button(key="training-estimate").click().run()
    assert "4 min of training, after a wait of 3 min, until about " in told(app)


def test_an_estimate_that_fails_says_why(
    open_training: Open, told: Hints, monkeypatch: pytest.MonkeyPatch
):
    def failing(spec: TrainSpec) -> TrainingEstimate:
        raise ValueError("a few steps could not be measured: no *memory*")

    monkeypatch.setattr("pages.training.start.estimate", failing)
    app = open_training()
    app.button(key="training-estimate").click().run()
    assert "could not be measured: no *memory*" in told(app)
    assert not app.exception
