"""A recogniser's training in the form: offered where sentences are spoken, else said why not."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.data.people import load_people
from core.jobs.state import list_jobs, show
from core.paths import PEOPLE
from core.training.speech_recipe import SpeechRecipe
from tests.tiny_speech import tone_folder

Open = Callable[..., AppTest]


def test_without_spoken_sentences_the_form_names_the_command(
    open_training: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("EXPLORER_SPEECH", str(tmp_path))
    app = open_training()
    assert "spoken" not in app.segmented_control(key="training-corpus").options
    said = [caption.value for caption in app.caption]
    assert any("core speech make" in text for text in said)


def test_a_recogniser_is_put_into_the_queue(
    open_training: Open, runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("EXPLORER_SPEECH", str(tone_folder(tmp_path / "s", load_people(PEOPLE))))
    app = open_training()
    app.segmented_control(key="training-corpus").set_value("spoken").run()
    assert app.selectbox(key="training-kind").value == "listen to sentences"
    assert app.selectbox(key="training-preset-spoken-listen").options == [
        "speech-attention",
        "speech-lstm",
    ]
    assert not [box for box in app.selectbox if box.label in ("Positions", "Attention")]
    assert [e.value for e in app.error] == []
    app.button(key="training-start").click().run()
    assert not app.exception
    (job,) = list_jobs(runs)
    spec = show(runs, job.id).spec
    assert spec is not None
    assert isinstance(spec.recipe, SpeechRecipe)
    assert (spec.preset, spec.steps) == ("speech-attention", 7000)
