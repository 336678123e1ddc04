"""The card of a checkpoint: the figures that are measured on what is stored, and the machine."""

import platform
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import torch

from core.checkpoints.store import Checkpoint, load_checkpoint, write_card
from core.devices import gpu_name
from core.runs.kind import Data, Kind


def machine(device: str = "cpu") -> str:
    """What a measured number is stored with; a GPU by its name."""
    card = gpu_name(device)
    return (
        f"{platform.system()} {platform.machine()}, {torch.get_num_threads()} threads, "
        f"{torch.backends.cpu.get_cpu_capability()}, torch {torch.__version__}"
        + ("" if card is None else f", {card}")
    )


def finish_card(
    folder: Path,
    card: dict[str, Any],
    kind: Kind,
    data: Data,
    splits: Sequence[str],
    check: Callable[[], None],
) -> dict[str, Any]:
    """Measure splits that have answers on what is stored; write the figures into the card.

    `check` is called between the two: it raises if the card may not be written any more.
    """
    stored = load_checkpoint(folder)
    found = {split: _measured(kind, stored, data, split) for split in splits}
    check()
    return write_figures(folder, card, {split: one for split, one in found.items() if one})


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


def measure_snapshots(
    folder: Path,
    card: dict[str, Any],
    kind: Kind,
    data: Data,
    steps: Collection[int],
    check: Callable[[], None],
) -> None:
    """Write the figure of every snapshot into the card, if there are any; `check` as above."""
    curve: list[dict[str, Any]] = []
    for step in sorted(steps):
        stored = load_checkpoint(folder, snapshot=step)
        curve.append({"step": step, **_measured(kind, stored, data, kind.snapshot_split)})
    check()
    if curve:
        write_card(folder, {**card, "snapshots": curve})


def _measured(kind: Kind, stored: Checkpoint, data: Data, split: str) -> dict[str, Any]:
    """The figure of a split; empty for one whose answers are not known."""
    return kind.measure(stored, data, split) or {}
