"""What a training must find in its folder to go on. Free of torch.

From its first moment on a run has run.json and state.safetensors, the state before the first step.
So a run that lacks one of them has lost it, and would begin again over what it has left.
"""

import json
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, cast

from safetensors import SafetensorError, safe_open

from core.checkpoints.shelf import CARD, SNAPSHOTS
from core.jobs.folder import METRICS

RUN, STATE = "run.json", "state.safetensors"


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
