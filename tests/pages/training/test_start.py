"""The form: every choice reaches the job, and what cannot be trained is said before it starts."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.data.course import DEV, TEST, TRAIN, WIKI
from core.jobs.curves import share_of
from core.jobs.recorded_lesson import read_recorded
from core.jobs.state import list_jobs
from pages.training import lesson, words

ROOT = Path(__file__).resolve().parents[3]
Open = Callable[..., AppTest]
Hints = Callable[[AppTest], str]


def spec_of(runs: Path) -> dict[str, Any]:
    """What the newest job is asked to do."""
    newest = max(path for path in runs.iterdir() if (path / "job.json").exists())
    return json.loads((newest / "job.json").read_text(encoding="utf-8"))


def start(app: AppTest) -> None:
    app.button(key="training-start").click().run()
    assert not app.exception, app.exception[0].value


def test_what_is_typed_just_before_the_click_is_what_is_started(open_training: Open, runs: Path):
    """As a browser sends it: the typed text and the click, with no drawing between them."""
    app = open_training()
    app.text_input(key="training-name").set_value("Mine")
    app.number_input(key="training-minutes").set_value(4.0)
    app.number_input(key="training-seed").set_value(3)
    start(app)
    (job,) = list_jobs(runs)
    assert (job.name, job.spec is not None and job.spec.minutes) == ("Mine", 4.0)
    assert spec_of(runs)["seed"] == 3
    assert app.selectbox(key="training-run").value == job.id


def test_a_click_on_what_has_become_wrong_starts_nothing_then_or_later(
    open_training: Open, runs: Path
):
    app = open_training()
    app.number_input(key="training-width").set_value(7)
    start(app)
    assert len(app.error) == 1
    app.number_input(key="training-width").set_value(64).run()
    assert not app.button(key="training-start").disabled
    assert list_jobs(runs) == []


def test_without_jobs_the_recorded_lesson_is_shown_with_the_button_that_starts_it(
    open_training: Open, told: Callable[[AppTest], str]
):
    app = open_training()
    assert "training-run" not in [box.key for box in app.selectbox]
    assert not app.button(key="training-lesson").disabled
    assert lesson.RECORDED in told(app)
    first, second = [chart.proto.alt for chart in app.get("vega_lite_chart")]
    scratch, pretrained = read_recorded()
    assert first == f"Right answers: {words.share(share_of(scratch.figures['held_out']))}"
    assert second == f"Right answers: {words.share(share_of(pretrained.figures['held_out']))}"
    assert words.share(share_of(pretrained.figures["dev"])) in told(app)
    assert scratch.command in told(app)


def test_a_damaged_record_of_the_lesson_is_named_and_it_can_still_be_started(
    open_training: Open,
    told: Callable[[AppTest], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    (tmp_path / "recorded.json").write_text('{"runs": []}')
    read = partial(read_recorded, tmp_path / "recorded.json")
    monkeypatch.setattr("pages.training.lesson.read_recorded", read)
    app = open_training()
    assert "recorded.json: runs: a list of 2 runs is needed" in told(app)
    assert not app.button(key="training-lesson").disabled


def test_a_click_starts_the_short_preset_and_looks_at_it(open_training: Open, runs: Path):
    app = open_training()
    start(app)
    (job,) = list_jobs(runs)
    assert job.spec is not None
    assert (job.state, job.name, job.spec.preset) == ("queued", "notable-small", "notable-small")
    assert (job.spec.minutes, job.spec.seed) == (4, 0)
    assert app.selectbox(key="training-run").value == job.id
    assert app.query_params["job"] in (job.id, [job.id])


def test_every_choice_of_the_form_reaches_the_job(open_training: Open, runs: Path):
    app = open_training()
    app.selectbox(key="training-preset-notable-both").set_value("notable-char")
    app.number_input(key="training-minutes").set_value(2.5)
    app.number_input(key="training-seed").set_value(7)
    app.text_input(key="training-name").set_value("  Ada's first ")
    for key, value in {"width": 96, "layers": 1, "heads": 4, "rate": 0.005}.items():
        app.number_input(key=f"training-{key}").set_value(value)
    app.selectbox(key="training-positions").set_value("learned")
    app.selectbox(key="training-attention").set_value("synthesizer")
    start(app.run())
    spec = spec_of(runs)
    assert (spec["preset"], spec["minutes"], spec["seed"]) == ("notable-char", 2.5, 7)
    assert spec["name"] == "Ada's first"
    assert spec["overrides"] == {
        "width": 96,
        "n_layers": 1,
        "n_heads": 4,
        "positions": "learned",
        "attention": "synthesizer",
        "learning_rate": 0.005,
    }


@pytest.mark.parametrize(
    ("kind", "preset"), [("scratch", "notable-scratch"), ("pretrain", "notable-pretrain")]
)
def test_kinds_of_training_are_named_in_words(
    open_training: Open, runs: Path, kind: Any, preset: str
):
    app = open_training()
    assert "fine-tune a checkpoint" in app.selectbox(key="training-kind").options
    app.selectbox(key="training-kind").set_value(words.KINDS[kind]).run()
    start(app)
    assert spec_of(runs)["preset"] == preset


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("minutes", 0.0, "0.0 minutes: more than 0 and at most 720"),
        ("minutes", 5000.0, "5000.0 minutes: more than 0 and at most 720"),
        ("seed", -1, "seed -1: a whole number from 0"),
        ("width", 81, "width 81 cannot be cut into 4 equal heads"),
        ("width", 1600, "million parameters: at most 50 million are allowed here"),
        ("width", 8000, "million parameters; at most 200 million are allowed"),
        ("rate", 2.0, "learning rate 2.0: more than 0 and at most 1"),
        ("layers", 0, "n_layers is 0; it must be at least 1"),
    ],
)
def test_what_cannot_be_trained_is_said_and_cannot_be_started(
    open_training: Open, told: Hints, key: str, value: float, message: str
):
    app = open_training()
    app.number_input(key=f"training-{key}").set_value(value).run()
    assert message in told(app)
    assert app.button(key="training-start").disabled
    assert app.button(key="training-estimate").disabled


def test_a_name_that_is_too_long_is_refused(open_training: Open, told: Hints):
    app = open_training()
    app.text_input(key="training-name").set_value("x" * 81).run()
    assert "1 to 80 printable characters are needed" in told(app)
    assert app.button(key="training-start").disabled


def test_a_full_queue_is_said_after_the_click(
    open_training: Open, told: Hints, monkeypatch: pytest.MonkeyPatch, runs: Path
):
    app = open_training()
    monkeypatch.setattr("core.jobs.actions.MOST_WAITING", 0)
    start(app)
    assert "0 jobs are waiting already" in told(app)
    assert list_jobs(runs) == []
    app.run()
    assert "waiting already" not in told(app)  # said once


def test_where_no_job_can_start_the_reason_stands_there_and_the_rest_works(
    open_training: Open, told: Hints, put_job: Callable[..., str], monkeypatch: pytest.MonkeyPatch
):
    put_job("stopped", n_rows=4)
    monkeypatch.setattr("pages.shared.jobs.obstacle", lambda: "cannot start jobs here: no.")
    app = open_training()
    assert "cannot start jobs here: no." in told(app)
    disabled = {button.key: button.disabled for button in app.button}
    assert disabled["training-start"]
    assert any(off for key, off in disabled.items() if str(key).startswith("training-resume"))
    assert not any(off for key, off in disabled.items() if str(key).startswith("training-remove"))
    assert len(app.get("vega_lite_chart")) == 2
    app.button_group(key="training-view").set_value(words.LESSON).run()
    assert app.button(key="training-lesson").disabled
    assert not app.exception


def test_the_course_s_files_are_no_choice_until_their_folder_is_named(
    open_training: Open, told: Hints, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runs: Path
):
    app = open_training()
    ours = [words.CORPORA[one] for one in ("notable", "notable-unread", "pairs")]
    assert app.button_group(key="training-corpus").options == ours
    assert "set A5_DATA to their folder" in told(app)
    folder = tmp_path / "course"
    folder.mkdir()
    for name in (WIKI, TRAIN, DEV, TEST):
        (folder / name).write_text("", encoding="utf-8")
    monkeypatch.setenv("A5_DATA", str(folder))
    app.run()
    assert "A5_DATA" not in told(app)
    app.button_group(key="training-corpus").set_value("course").run()
    kinds = app.selectbox(key="training-kind").options
    assert words.KINDS["ablation"] in kinds
    app.selectbox(key="training-kind").set_value(words.KINDS["ablation"]).run()
    app.selectbox(key="training-preset-course-ablation").set_value("ablation-char").run()
    start(app)
    assert spec_of(runs)["recipe"]["corpus"] == "course"


def test_a_corpus_that_leaves_people_out_has_its_one_preset(open_training: Open, runs: Path):
    app = open_training()
    app.button_group(key="training-corpus").set_value("notable-unread").run()
    assert app.selectbox(key="training-kind").options == [words.KINDS["both"]]
    assert app.number_input(key="training-minutes").placeholder == "1600 steps"
    start(app)
    recipe = spec_of(runs)["recipe"]
    assert (recipe["name"], recipe["corpus"]) == ("notable-unread", "notable-unread")


def test_a_size_of_the_chosen_attention_has_a_field_and_reaches_the_job(
    open_training: Open, runs: Path
):
    app = open_training()
    keys = [field.key for field in app.number_input]
    assert not {"training-features", "training-terms", "training-latents"} & set(keys)
    app.selectbox(key="training-attention").set_value("favor").run()
    field = app.number_input(key="training-features")
    assert (field.label, field.placeholder, field.help) == ("Features", "128", "Of FAVOR+.")
    field.set_value(32)
    start(app.run())
    spec = spec_of(runs)
    assert spec["overrides"] == {"attention": "favor", "n_features": 32}
    assert spec["recipe"]["n_features"] == 32


def test_a_link_restores_the_form(open_training: Open):
    app = open_training(
        **{
            "training-kind": words.KINDS["scratch"],
            "training-minutes": "1.5",
            "training-seed": "3",
            "training-width": "64",
        }
    )
    assert app.selectbox(key="training-kind").value == words.KINDS["scratch"]
    assert app.number_input(key="training-minutes").value == 1.5
    assert app.number_input(key="training-seed").value == 3
    assert app.number_input(key="training-width").value == 64


def test_fine_tuning_takes_a_kept_checkpoint_and_its_sizes(
    open_training: Open, told: Hints, put_job: Callable[..., str], runs: Path
):
    app = open_training()
    app.selectbox(key="training-kind").set_value(words.KINDS["fine-tune"]).run()
    assert "No checkpoint was trained on this text yet" in told(app)
    assert app.button(key="training-start").disabled
    put_job("finished")
    app.run()
    keep = next(b for b in app.button if str(b.key).startswith("training-keep-"))
    keep.click().run()
    assert app.selectbox(key="training-origin").options == ["notable-small"]
    assert app.number_input(key="training-width-fixed").disabled
    assert app.selectbox(key="training-attention-fixed").disabled
    assert "has not the shape that its card describes" in told(app)  # tiny, under a card of 80
