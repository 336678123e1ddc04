"""A training has the device that is chosen, of those at hand; without a GPU nothing is asked."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.devices import Device, only_processor
from core.jobs.estimate import TrainingEstimate
from core.jobs.spec import TrainSpec
from core.jobs.state import list_jobs
from pages.training import device as page

Open = Callable[..., AppTest]
Told = Callable[[AppTest], str]
GB = 10**9


@pytest.fixture
def at_hand(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Says which GPUs are there beside the processor."""

    def say(*names: str) -> None:
        gpus = [
            Device(name=name, title="A card", total_bytes=80 * GB, free_bytes=60 * GB)
            for name in names
        ]
        monkeypatch.setattr(page, "at_hand", lambda **_: (only_processor(), *gpus))
        page._at_hand.clear()

    return say


def keys(app: AppTest) -> list[str | None]:
    return [box.key for box in app.selectbox]


def test_without_a_gpu_a_line_says_where_it_runs_and_nothing_is_asked(
    open_training: Open, told: Told, runs: Path, at_hand: Callable[..., None]
):
    at_hand()
    app = open_training()
    assert "It runs on the processor: " in told(app)
    assert not {"training-device", "training-precision"} & {*keys(app)}
    app.button(key="training-start").click().run()
    (job,) = list_jobs(runs)
    assert job.device == "cpu"


def test_the_first_gpu_is_taken_unless_another_is_chosen(
    open_training: Open, told: Told, runs: Path, at_hand: Callable[..., None]
):
    at_hand("cuda:0", "cuda:1")
    app = open_training()
    box = app.selectbox(key="training-device")
    assert box.options[1:] == ["cuda:0: A card, 80 GB", "cuda:1: A card, 80 GB"]
    assert box.value == "cuda:0"
    assert "60 GB of 80 GB memory are free now." in told(app)
    app.selectbox(key="training-device").set_value("cuda:1").run()
    app.selectbox(key="training-precision").set_value("bfloat16").run()
    app.button(key="training-start").click().run()
    assert not app.exception, app.exception[0].value
    (job,) = list_jobs(runs)
    assert (job.device, job.slot) == ("cuda:1", "cuda:1")
    spec = json.loads((runs / job.id / "job.json").read_text(encoding="utf-8"))
    assert (spec["device"], spec["precision"]) == ("cuda:1", "bfloat16")
    assert "--device cuda:1 --precision bfloat16" in told(app)


def test_precision_is_asked_where_there_is_a_choice(
    open_training: Open, at_hand: Callable[..., None]
):
    at_hand("mps")
    app = open_training()
    assert len(app.selectbox(key="training-precision").options) == 2
    app.selectbox(key="training-device").set_value("cpu").run()
    assert "training-precision" not in keys(app)
    assert not app.exception


def test_an_estimate_is_measured_where_it_would_run(
    open_training: Open, at_hand: Callable[..., None], monkeypatch: pytest.MonkeyPatch
):
    asked: list[TrainSpec] = []

    def measured(spec: TrainSpec) -> TrainingEstimate:
        asked.append(spec)
        sizes: dict[str, Any] = {"n_parameters": 1, "n_steps": 1, "seconds": 1.0}
        return TrainingEstimate(**sizes, steps_per_second=1.0, tokens_per_second=1.0)

    monkeypatch.setattr("pages.training.start.estimate", measured)
    at_hand("cuda:0")
    app = open_training()
    app.button(key="training-estimate").click().run()
    assert [spec.device for spec in asked] == ["cuda:0"]


def test_where_torch_does_not_answer_the_processor_is_left(
    open_training: Open, told: Told, at_hand: Callable[..., None], monkeypatch: pytest.MonkeyPatch
):
    def fails(*, ask: bool = True) -> tuple[Device, ...]:
        if ask:
            raise ValueError("torch cannot say which devices are here: driver too old")
        return (only_processor(),)

    at_hand()
    monkeypatch.setattr(page, "at_hand", fails)
    app = open_training()
    assert "driver too old. It is trained on the processor." in told(app)
    assert "training-device" not in keys(app)


def test_a_run_goes_on_on_the_device_that_is_chosen_where_there_are_several(
    open_training: Open, runs: Path, put_job: Callable[..., str], at_hand: Callable[..., None]
):
    at_hand()
    job_id = put_job("stopped")
    key = f"training-again-{job_id}"
    app = open_training(run=job_id)
    assert key not in keys(app)
    at_hand("cuda:0")
    app = open_training(run=job_id)
    assert app.selectbox(key=key).options == ["cpu", "cuda:0"]
    assert app.selectbox(key=key).value == "cpu"
    app.selectbox(key=key).set_value("cuda:0")
    app.button(key=f"training-resume-{job_id}").click().run()
    assert not app.exception, app.exception[0].value
    (job,) = list_jobs(runs)
    assert (job.state, job.device) == ("queued", "cuda:0")


def test_a_run_whose_device_is_gone_goes_on_where_there_is_one(
    open_training: Open, runs: Path, put_job: Callable[..., str], at_hand: Callable[..., None]
):
    at_hand("cuda:0")
    job_id = put_job("lost", device="cuda:1", precision="bfloat16")
    app = open_training(run=job_id)
    app.button(key=f"training-resume-{job_id}").click().run()
    (job,) = list_jobs(runs)
    assert job.spec is not None
    assert (job.spec.device, job.spec.precision) == ("cpu", "float32")
