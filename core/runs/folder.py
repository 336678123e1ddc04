"""The folder of a run while it trains: run.json, its state, and whether it is still the same.

From its first moment on a run has run.json (fixed at the start) and state.safetensors, the state
before the first step. So a run that lacks one of them has lost it, and would begin again over what
it has left. Where its kind makes something of the data first, that is made.json. Free of torch.
"""

import json
import os
import weakref
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from safetensors import SafetensorError, safe_open

from core.checkpoints.shelf import CARD, SNAPSHOTS
from core.files import read_json, write_json
from core.from_json import dataclass_from_dict
from core.runs.journal import METRICS
from core.training.ranges import RUNNING, refuse_outside
from core.training.where import HERE, Where

RUN, STATE, MADE = "run.json", "state.safetensors", "made.json"
IN_CARD = ("recipe", "seed", "n_steps", "data_sha256", "command")  # what a card has of run.json


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """run.json: what was fixed when the run began; `start_from` tells of its first parameters, and
    with `has_made` made.json belongs to it. `where` it goes on may change when it is resumed;
    `moved` then tells where it was before, as {until_step, device, precision, processes}.
    """

    recipe: dict[str, Any]
    seed: int
    n_steps: int
    data_sha256: str
    corpus_folder: str | None
    tuning: bool
    command: str
    start_from: dict[str, Any] | None = None
    has_made: bool = False
    where: Where = HERE
    moved: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def for_card(self) -> dict[str, Any]:
        """What the card of the finished run repeats."""
        told = {name: getattr(self, name) for name in IN_CARD} | {"where": self.where.to_dict()}
        return told | ({"moved": self.moved} if self.moved else {})

    def gone_on(self, where: Where, *, step: int) -> "Settings":
        """Those of the run that goes on somewhere behind a step."""
        if where == self.where:
            return self
        moved = [*self.moved, {"until_step": step, **self.where.to_dict()}]
        return replace(self, where=where, moved=moved)


def read_settings(folder: Path) -> Settings:
    """Of a run that can go on. Raises ValueError if there is none, or what it says cannot be."""
    if not (folder / RUN).exists():
        refuse_lost(folder)
        finished = (folder / CARD).exists()
        raise ValueError(f"{folder}: " + ("this run is finished" if finished else "no run is here"))
    data = read_json(folder / RUN)
    if missing := [name for name in (*IN_CARD, "corpus_folder", "tuning") if name not in data]:
        raise ValueError(f"{folder / RUN}: {', '.join(missing)} is missing")
    refuse_lost(folder)
    try:
        refuse_outside(data, RUNNING)
        return dataclass_from_dict(Settings, data, passes_over_others=True)
    except ValueError as error:
        raise ValueError(f"{folder / RUN}: {error}") from None


def write_settings(folder: Path, settings: Settings) -> None:
    """When the state before the first step is there, and when the run goes on elsewhere."""
    write_json(folder / RUN, asdict(settings))


class GoneError(ValueError):
    """The folder is gone: whoever works in it has to end, and to write nothing more."""


class Anchor:
    """A file held open until `close`; `beside` are names of files that have to lie beside it.

    It tells whether its folder is still the one in which a process began to work: a folder can be
    removed, renamed or replaced by another of its name, but as long as a file is open, its number
    (inode) is no other file's. Raises OSError if it cannot be opened.
    """

    def __init__(self, path: Path, *beside: str) -> None:
        self._path, self._beside = path, beside
        self._handle = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        self._close = weakref.finalize(self, os.close, self._handle)

    @property
    def is_in_place(self) -> bool:
        """Whether its name still leads to it; costs a look or two at the disk."""
        try:
            found = self._path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        return os.path.samestat(found, os.fstat(self._handle)) and all(
            self._path.with_name(name).exists() for name in self._beside
        )

    def check(self) -> None:
        """Raise GoneError if it is not in its place."""
        if not self.is_in_place:
            raise GoneError(
                f"{self._path.parent} is gone (removed, renamed or replaced by another): whoever "
                "works in it ends here and writes nothing more"
            )

    def close(self) -> None:
        self._close()


def lost_file(folder: Path) -> str | None:
    """The file without which the training of a folder cannot go on; None if nothing is missing.

    A folder in which no step was taken has lost nothing, nor has a finished one.
    """
    if (folder / RUN).exists():
        return None if (folder / STATE).exists() else STATE
    return RUN if not (folder / CARD).exists() and _has_steps(folder) else None


def refuse_lost(folder: Path) -> None:
    """Raise ValueError if a file is missing without which the training cannot go on."""
    if (name := lost_file(folder)) is not None:
        raise ValueError(f"{folder}: {why_lost(name)}")


def why_lost(name: str) -> str:
    """What is missing, and what can be done."""
    return (
        f"{name} is missing, and the training had begun: put the file back, or train anew (as a "
        "new job, or with another --out); what is there is left as it is"
    )


def _has_steps(folder: Path) -> bool:
    """Whether a run left traces of its steps: lines of metrics, snapshots, a state behind one."""
    metrics = folder / METRICS
    if metrics.is_file() and metrics.stat().st_size > 0:
        return True
    return any((folder / SNAPSHOTS).glob("*.safetensors")) or _saved_step(folder / STATE) > 0


def _saved_step(state: Path) -> int:
    """The step of a state by its header; 0 if there is none, 1 if it cannot be told."""
    if not state.exists():
        return 0
    try:
        with cast(AbstractContextManager[Any], safe_open(state, framework="numpy")) as file:
            header: dict[str, str] = file.metadata() or {}
        return json.loads(header["meta"])["cursor"]["step"]
    except (OSError, SafetensorError, KeyError, ValueError, TypeError):
        return 1
