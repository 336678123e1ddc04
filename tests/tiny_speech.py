"""A recogniser small enough for tests, and a voice of tones in the place of espeak-ng's."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from core.checkpoints.store import Checkpoint
from core.data.people import Person
from core.models.recogniser import Recogniser
from core.models.recogniser_config import Decoder, RecogniserConfig
from core.speech.sentences import QUESTION, Sentence, plain
from core.speech.sound import RATE
from core.speech.spoken import make
from core.speech.voices import TRAINED, Voice
from core.training.recipe import Phase
from core.training.speech import speech_vocabulary
from core.training.speech_recipe import SpeechRecipe

SIZES: dict[Decoder, dict[str, Any]] = {
    "attention": {},
    "lstm": {"decoder": "lstm", "lstm_width": 12},
    "lstm-blind": {"decoder": "lstm-blind", "lstm_width": 12},
}


def tiny_config(decoder: Decoder = "attention", **changes: Any) -> RecogniserConfig:
    sizes: dict[str, Any] = {"width": 16, "n_heads": 2, "n_encoder_layers": 2, **SIZES[decoder]}
    return RecogniserConfig(vocabulary_size=speech_vocabulary().size, **{**sizes, **changes})


def tiny_recogniser(decoder: Decoder = "attention", **changes: Any) -> Checkpoint:
    generator = torch.Generator().manual_seed(3)
    model = Recogniser(tiny_config(decoder, **changes), generator=generator)
    return Checkpoint(model.eval(), speech_vocabulary(), name=f"tiny-{decoder}")


def tiny_recipe(**changes: Any) -> SpeechRecipe:
    usual: dict[str, Any] = {
        "name": "tiny",
        "phases": (Phase(name="listen"),),
        "width": 16,
        "n_heads": 2,
        "n_layers": 2,
        "tokens_per_batch": 900,
        "n_steps": 4,
    }
    return SpeechRecipe(**{**usual, **changes})


def tones(text: str, voice: Voice) -> NDArray[np.float32]:
    """Each letter a tone of its own for 100 ms, half a tone apart, at the pitch of the voice."""
    time = np.arange(RATE // 10) / RATE
    base = 200.0 + voice.pitch
    hertz = [base * 2 ** ((ord(letter) - ord("a")) / 12) for letter in plain(text) if letter != " "]
    return np.concatenate([0.3 * np.sin(2 * np.pi * h * time) for h in hertz]).astype(np.float32)


def tone_folder(folder: Path, people: list[Person]) -> Path:
    """A folder of sentences that tones have said: a few of each split."""
    planned: list[Sentence] = []
    for number, person in enumerate(people[:12]):
        split = ("train", "train", "tune", "dev", "test", "dev")[number % 6]
        for speaker in TRAINED[:2]:
            text = QUESTION.format(name=person.name)
            planned.append(
                Sentence(text=text, voice=Voice(name=speaker), split=split, name=person.name)
            )
    settings = {"n_train": 8, "seed": 0, "version": "tones", "sentences_sha256": "0" * 64}
    make(folder, planned, settings=settings, speaker=tones)
    return folder
