"""What is measured of recognisers, made small: dev questions, recordings, figures."""

import zlib
from pathlib import Path

import numpy as np
import torch

from core.checkpoints.store import save_checkpoint, write_card
from core.generation.hearing import recogniser_of
from core.speech.real_split import RealUtterance
from core.speech.record import SpeechFigures, Voices, measure_texts
from core.speech.sentences import QUESTION, Sentence
from core.speech.voices import NEW, TRAINED, Voice
from tests.tiny_speech import tiny_recogniser

NAMES = ("Ada Arden", "Bruno Bello", "Chén Castro")


def save_recogniser(folder: Path) -> Path:
    stored, card = tiny_recogniser(n_encoder_layers=1, n_decoder_layers=1), {"name": folder.name}
    model = recogniser_of(stored)
    save_checkpoint(folder, model, stored.vocabulary, card, dtype=torch.float32)
    write_card(folder, card)
    return folder


def plan(*, n_train: int = 1) -> list[Sentence]:
    """As `planned` makes them: of training, then every name in two of its voices and in new."""
    said = [
        Sentence(
            text=QUESTION.format(name=name.replace("é", "e")),
            voice=Voice(name=voice),
            split="dev",
            name=name,
        )
        for name in NAMES
        for voice in (*TRAINED[:2], *NEW)
    ]
    return [Sentence(text="hello", voice=Voice(), split="train")] * n_train + said


def whisper(text: str, voice: Voice) -> np.ndarray:
    """A third of a second of noise that hangs on the text and the voice."""
    rng = np.random.default_rng(zlib.crc32(f"{text}{voice.name}".encode()))
    return rng.normal(scale=0.1, size=2700).astype(np.float32)


def real_of() -> list[RealUtterance]:
    rng = np.random.default_rng(0)
    return [
        RealUtterance(name=text[:3], text=text, frames=rng.normal(size=(30, 40)).astype("float32"))
        for text in ("hello world", "goodbye", "goodbye", "press one now")
    ]


def figures_of(
    heard: list[str], *, checkpoint: str = "speech-attention", voices: Voices = "trained"
) -> SpeechFigures:
    """Of two questions, each in as many voices as there are texts heard of both."""
    said = ["where was mihai born", "where was ada born"] * (len(heard) // 2)
    return measure_texts(
        list(zip(said, heard, strict=True)),
        said,
        None if voices == "real" else [(10, text.index(" born")) for text in said],
        checkpoint=checkpoint,
        voices=voices,
        machine="a machine",
    )
