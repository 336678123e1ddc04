"""Recognisers whose figures are recorded beside their weights, for the report card. No torch."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from core.checkpoints.shelf import CARD, WEIGHTS, stated_digest
from core.evaluation.report_card import STALE
from core.files import read_json, sha256
from core.speech.record import FILE, SpeechFigures, Voices, load_speech


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechRow:
    """One recogniser; without figures `problem` says why they cannot be used."""

    name: str
    figures: Mapping[Voices, SpeechFigures]
    problem: str = ""


def load_speech_rows(folder: Path, *, digest: Callable[[Path], str] = sha256) -> list[SpeechRow]:
    """All checkpoints with recorded figures, the fewest errors first.

    Figures count only for the very weights beside them, which `digest` hashes; where none are
    shipped, for those that the card describes.
    """
    rows = [_row(path.parent, digest) for path in sorted(folder.glob(f"*/{FILE}"))]
    return sorted(rows, key=_errors)


def _errors(row: SpeechRow) -> float:
    """Of the first voices; those without figures come last."""
    return next((found.character_error for found in row.figures.values()), float("inf"))


def _row(folder: Path, digest: Callable[[Path], str]) -> SpeechRow:
    weights = folder / WEIGHTS
    try:
        own = digest(weights) if weights.exists() else stated_digest(read_json(folder / CARD))
        figures = load_speech(folder, own or "")
    except ValueError as error:
        return SpeechRow(name=folder.name, figures={}, problem=str(error).replace(f"{folder}/", ""))
    if figures is None:
        return SpeechRow(name=folder.name, figures={}, problem=f"{FILE}: {STALE}")
    return SpeechRow(name=folder.name, figures=figures)
