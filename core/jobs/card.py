"""The card of a checkpoint: the figures that are measured on what is stored, and the machine."""

import platform
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import torch

from core.checkpoints.store import Checkpoint, load_checkpoint, write_card
from core.data.corpus import TrainingCorpus
from core.data.people import Question
from core.evaluation.accuracy import evaluate

TUNING, EVERY = ("held-out",), ("held-out", "dev", "test")  # splits that a card has figures of


def machine() -> str:
    """What a measured number is stored with."""
    return (
        f"{platform.system()} {platform.machine()}, {torch.get_num_threads()} threads, "
        f"{torch.backends.cpu.get_cpu_capability()}, torch {torch.__version__}"
    )


def finish_card(
    folder: Path,
    card: dict[str, Any],
    corpus: TrainingCorpus,
    splits: Sequence[str],
    check: Callable[[], None],
) -> dict[str, Any]:
    """Measure splits that have answers on what is stored; write the figures into the card.

    `check` is called between the two: it raises if the card may not be written any more.
    """
    stored = load_checkpoint(folder)
    asked = {split: corpus.questions(split) for split in splits}
    figures = {
        split: _figure(stored, questions)
        for split, questions in asked.items()
        if all(question.answer is not None for question in questions)
    }
    check()
    return write_figures(folder, card, figures)


def write_figures(
    folder: Path, card: dict[str, Any], figures: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """Write figures by split into a card, in the place of older ones; returns the card.

    A card's keys are identifiers: "held-out" becomes held_out.
    """
    named = {split.replace("-", "_"): entry for split, entry in figures.items()}
    card = {**card, "figures": {**card.get("figures", {}), **named}}
    write_card(folder, card)
    return card


def figure(correct: int, total: int) -> dict[str, Any]:
    """A share of right answers as cards hold it."""
    return {"correct": correct, "total": total, "accuracy": round(correct / total, 4)}


def measure_snapshots(
    folder: Path,
    card: dict[str, Any],
    corpus: TrainingCorpus,
    steps: Collection[int],
    check: Callable[[], None],
) -> None:
    """Write the dev figure of every snapshot into the card, if there are any; `check` as above."""
    curve = [
        {"step": step, **_figure(load_checkpoint(folder, snapshot=step), corpus.dev)}
        for step in sorted(steps)
    ]
    check()
    if curve:
        write_card(folder, {**card, "snapshots": curve})


def _figure(stored: Checkpoint, questions: list[Question]) -> dict[str, Any]:
    result = evaluate(stored, questions)
    return figure(result.correct, result.total)
