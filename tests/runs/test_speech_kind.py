"""A training that hears is a kind like any other: begun, stopped, resumed, measured, told."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from core.checkpoints.shelf import is_recogniser, list_cards, list_checkpoints
from core.checkpoints.store import load_checkpoint
from core.data.people import load_people
from core.data.vocabulary import Vocabulary
from core.generation.hearing import hear
from core.models.gpt import GPT
from core.models.recogniser import Recogniser
from core.paths import PEOPLE
from core.runs import loop
from core.runs.fine_tuning import can_start_from, shaped_like
from core.runs.kinds import SPEECH, kind_of, kind_of_dict
from core.runs.run import Run, finish, resume_run, save, start_run
from core.runs.speech_kind import with_real_voice
from core.speech.spoken import load_spoken
from core.training.presets import preset
from core.training.speech_recipe import SpeechRecipe
from tests.tiny_speech import tiny_recipe, tone_folder
from tests.with_task import with_task


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tone_folder(tmp_path_factory.mktemp("speech") / "spoken", load_people(PEOPLE))


def begin(folder: Path, spoken: Path, *, tuning: bool = False) -> Run:
    return start_run(
        tiny_recipe(),
        folder,
        minutes=None,
        steps=4,
        seed=2,
        corpus_folder=spoken,
        command=lambda steps: f"train --steps {steps}",
        tuning=tuning,
    )


def test_it_is_trained_stopped_resumed_and_stored_as_what_hears(tmp_path: Path, spoken: Path):
    whole, run = begin(tmp_path / "whole", spoken), begin(tmp_path / "run", spoken)
    loop.train(whole, after_step=lambda _: None, save=lambda: save(whole))
    loop.train(
        run, after_step=lambda _: None, save=lambda: save(run), is_stopped=lambda: run.step == 2
    )
    again = resume_run(run.folder)
    assert (again.kind, again.step) == (SPEECH, 2)
    loop.train(again, after_step=lambda _: None, save=lambda: save(again))
    card, _ = finish(again), finish(whole)
    assert list(card["figures"]) == ["held_out", "dev", "test"]
    dev = card["figures"]["dev"]
    assert {"correct", "total", "accuracy"} < set(dev)
    low, high = dev["character_error_range"]
    assert low <= dev["character_error"] <= high
    assert card["spoken"]["version"] == "tones"
    stored, other = load_checkpoint(run.folder), load_checkpoint(whole.folder)
    assert isinstance(stored.model, Recogniser)
    assert isinstance(other.model, Recogniser)
    for one, same in zip(
        stored.model.state_dict().values(), other.model.state_dict().values(), strict=True
    ):
        assert torch.equal(one, same)
    assert stored.task is None


def test_what_hears_is_listed_apart_from_what_reads(tmp_path: Path, spoken: Path):
    run = begin(tmp_path / "ears", spoken)
    loop.train(run, after_step=lambda _: None, save=lambda: save(run))
    finish(run)
    assert list_checkpoints(tmp_path) == list_cards(tmp_path) == []
    assert list_checkpoints(tmp_path, hears=True) == ["ears"]
    assert is_recogniser(tmp_path / "ears")
    assert not is_recogniser(tmp_path / "nothing")


def test_a_tuning_run_leaves_dev_and_test_alone(tmp_path: Path, spoken: Path):
    run = begin(tmp_path / "tuned", spoken, tuning=True)
    loop.train(run, after_step=lambda _: None, save=lambda: save(run))
    assert list(finish(run)["figures"]) == ["held_out"]


def test_a_probe_writes_of_what_is_held_out(tmp_path: Path, spoken: Path):
    run = begin(tmp_path / "run", spoken)
    found = run.probe()
    tune = load_spoken(spoken).utterances["tune"]
    assert found.total == len(tune)
    assert found.sample["question"] == found.sample["expected"] == tune[2].text
    stored_text = found.sample["answer"]
    assert isinstance(stored_text, str)
    assert run.kind.baseline(run.data) == {"answer": tune[0].text, "accuracy": 0.5}


def test_the_row_is_found_by_recipe_and_by_name():
    assert kind_of(tiny_recipe()) is kind_of_dict({"kind": "speech"}) is SPEECH
    with pytest.raises(ValueError, match="width 15 must be even"):
        SPEECH.read_recipe({**tiny_recipe().to_dict(), "width": 15, "n_heads": 1})


def test_a_real_voice_is_heard_as_often_as_spoken_ones(spoken: Path):
    heard = load_spoken(spoken).utterances
    both = with_real_voice(heard["train"], heard["tune"][:3])
    assert len(both) == 8 + 2 * 3
    assert both[:8] == heard["train"]


def test_what_reads_texts_hears_nothing(make_gpt: Callable[..., GPT], characters: Vocabulary):
    stored = with_task(make_gpt(vocabulary_size=characters.size), characters)
    with pytest.raises(ValueError, match="reads texts: it hears nothing"):
        hear(stored, [])


def test_a_marked_variant_goes_on_with_a_checkpoint_of_its_own_sizes(tmp_path: Path, spoken: Path):
    run = begin(tmp_path / "ears", spoken)
    loop.train(run, after_step=lambda _: None, save=lambda: save(run))
    finish(run)
    shaped = shaped_like(preset("speech-real"), run.folder)
    assert isinstance(shaped, SpeechRecipe)
    assert (shaped.width, shaped.n_layers, shaped.real_voice) == (16, 2, True)
    assert can_start_from(run.folder, "spoken")
    assert not can_start_from(run.folder, "notable")
    with pytest.raises(ValueError, match="was trained on the corpus 'spoken'; notable-fine-tune"):
        shaped_like(preset("notable-fine-tune"), run.folder)
