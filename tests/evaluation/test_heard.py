"""What is measured of a recogniser: which sentences, whose, and in whose voice."""

import numpy as np
import pytest

from core.checkpoints.store import load_checkpoint
from core.evaluation import heard
from core.evaluation.heard import Asked, asked_of, dev_sentences, measure_voices
from core.generation.hearing import hear
from core.speech.spoken import make, planned
from core.speech.voices import NEW
from tests.recognised import NAMES, plan, real_of, save_recogniser, whisper


def silent(_text: str) -> None:
    """Nobody looks."""


@pytest.fixture(autouse=True)
def small(monkeypatch, tmp_path):
    monkeypatch.setattr(heard, "planned", plan)
    monkeypatch.setattr(heard, "speak", whisper)
    monkeypatch.setattr(heard, "measured_real", real_of)
    monkeypatch.setattr(heard, "spoken_folder", lambda: tmp_path / "spoken")


@pytest.fixture
def stored(tmp_path):
    return load_checkpoint(save_recogniser(tmp_path / "tiny"))


def test_where_nothing_was_spoken_dev_is_spoken_anew():
    found = asked_of("trained", told=silent)
    assert [one.name for one in found] == [name for name in NAMES for _ in range(2)]
    assert found[-1].text == "where was chen castro born"
    assert found[0].frames.shape[1] == 40
    assert len(asked_of("new", told=silent)) == len(NAMES) * len(NEW)


def test_what_was_spoken_into_a_folder_is_heard_of_it(tmp_path, monkeypatch):
    anew = asked_of("new", told=silent)
    make(tmp_path / "spoken", plan(), settings={}, speaker=whisper)

    def speak(_text, _voice):
        raise AssertionError("spoken anew")

    monkeypatch.setattr(heard, "speak", speak)
    for found in (
        asked_of("new", told=silent),
        asked_of("new", folder=tmp_path / "spoken", told=silent),
    ):
        assert [(one.text, one.name) for one in found] == [(one.text, one.name) for one in anew]
        for one, other in zip(found, anew, strict=True):
            assert np.allclose(one.frames, other.frames, atol=1e-2)


def test_without_a_folder_and_a_voice_it_is_said_what_is_missing(monkeypatch):
    def speak(_text, _voice):
        raise ValueError("espeak-ng is not installed")

    monkeypatch.setattr(heard, "speak", speak)
    with pytest.raises(ValueError, match="espeak-ng is not installed"):
        asked_of("new", told=silent)


def test_dev_sentences_do_not_hang_on_how_many_train(monkeypatch):
    monkeypatch.undo()
    some = [one for one in planned(n_train=3) if one.split == "dev" and one.voice.name in NEW]
    assert dev_sentences("new") == some
    assert len(some) == 400


def test_the_figures_are_those_of_what_it_writes(stored):
    asked = asked_of("trained", told=silent)
    found = measure_voices(stored, "trained", asked, machine="a machine", told=silent)
    written = [one.text for one in hear(stored, [one.frames for one in asked])]
    assert (found.n, found.n_groups, found.checkpoint) == (6, 3, "tiny")
    assert found.exact == sum(map(str.__eq__, written, [one.text for one in asked])) / 6
    assert found.name_error is not None
    assert found.rest_error is not None


def test_a_real_voice_names_nobody_and_draws_texts(stored):
    asked = asked_of("real", told=silent)
    found = measure_voices(stored, "real", asked, machine="a machine", told=silent)
    assert (found.n, found.n_groups) == (4, 3)
    assert found.name_error is None


def test_progress_is_told(stored):
    said: list[str] = []
    asked = asked_of("trained", told=said.append)
    measure_voices(stored, "trained", asked, machine="a machine", told=said.append)
    assert said == [
        *(f"{n} of 6 sentences spoken" for n in range(1, 7)),
        "trained: 0 of 6 sentences heard",
    ]


def test_a_name_that_is_not_said_is_an_error(stored):
    odd = [Asked(text="hello", frames=np.zeros((30, 40)), name=name) for name in ("Ada", "Bo")]
    with pytest.raises(ValueError, match="substring not found"):
        measure_voices(stored, "trained", odd, machine="", told=silent)
