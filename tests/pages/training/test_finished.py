"""What is left of a run: a checkpoint, tables and files; and what a damaged folder takes away."""

from collections.abc import Callable
from pathlib import Path

from streamlit.testing.v1 import AppTest

from core.jobs.folder import JOB, LOG
from core.jobs.state import read_job
from core.runs.journal import METRICS

Open = Callable[..., AppTest]
Hints = Callable[[AppTest], str]
PutJob = Callable[..., str]


def press(app: AppTest, action: str, job_id: str) -> None:
    app.button(key=f"training-{action}-{job_id}").click().run()
    assert not app.exception, app.exception[0].value


def test_a_damaged_folder_is_named_and_the_others_stay(
    open_training: Open, told: Hints, put_job: PutJob, runs: Path
):
    whole, damaged, no_curve = put_job("finished"), put_job("finished"), put_job("finished")
    (runs / damaged / JOB).write_text("{}")
    (runs / no_curve / METRICS).write_text("nonsense\n")
    lacking = put_job("finished")
    (runs / lacking / METRICS).write_text('{"step": 1}\n')
    assert "line 1: phase, loss, tokens, seconds is missing" in told(open_training(job=lacking))
    assert "unknown verb None" in told(open_training(job=damaged))
    assert "metrics.jsonl, line 1: not a measurement" in told(open_training(job=no_curve))
    assert "finished, 60.0 %" in told(open_training(job=whole))
    (runs / whole / LOG).unlink()
    assert "(nothing yet)" in told(open_training(job=whole))


def test_a_finished_job_is_kept_and_leads_to_its_heads(
    open_training: Open, told: Hints, put_job: PutJob, runs: Path
):
    job_id = put_job("finished", name="Ada's first")
    app = open_training()
    name = app.text_input(key=f"training-keep-name-{job_id}")
    assert name.value == "ada-s-first"
    name.set_value("Ada").run()
    press(app, "keep", job_id)
    assert "name 'Ada': 1 to 40 small letters, digits and hyphens" in told(app)
    (runs.parent / "taken").mkdir()
    app.text_input(key=f"training-keep-name-{job_id}").set_value("taken").run()
    press(app, "keep", job_id)
    assert "there is a checkpoint 'taken' already" in told(app)
    app.text_input(key=f"training-keep-name-{job_id}").set_value("ada-1").run()
    press(app, "keep", job_id)
    (link,) = app.main.get("page_link")
    assert "Ask **ada-1** and look" in link.proto.label.replace("\\", "")
    assert link.proto.query_string == "checkpoint=ada-1"
    assert (runs.parent / "ada-1" / "model.safetensors").exists()
    assert read_job(runs / job_id).state == "finished"
    assert f"training-keep-{job_id}" not in [b.key for b in app.button]


def test_measurements_are_a_table_and_files(open_training: Open, put_job: PutJob):
    put_job("finished", name="mine")
    app = open_training()
    assert not app.dataframe
    app.session_state["training-tables"] = True
    table = app.run().dataframe[0].value
    assert list(table["step"]) == list(range(10, 81, 10))
    assert set(table["run"]) == {"mine"}
    assert [d.proto.label for d in app.get("download_button")] == [
        "Loss (SVG)",
        "Answers (SVG)",
        "Measurements (CSV)",
    ]
