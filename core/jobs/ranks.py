"""One of several processes that train one model: how it hears when to stop, and what it says.

Both in a folder that who started them (core.jobs.torchrun) gives to them and removes at the end. A
request to stop is a file: all look at it and agree on a step. When who started them is gone, they
end and write nothing more: somebody may go on with what they have saved. Free of torch.
"""

import os
import sys
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from core.files import read_json, write_json
from core.jobs.status import sentence
from core.runs.folder import GoneError
from core.runs.stopping import now_and_then

STOP = "stop"
FAILED = 3  # the exit status of one that has said why


@contextmanager
def speaking(folder: Path) -> Generator[dict[str, Any], None, None]:
    """Around all that a process does: what it puts here is said, and so is why it failed.

    Then the process ends with FAILED, and torchrun ends the others.
    """
    said: dict[str, Any] = {}
    path = folder / f"{os.environ['RANK']}.json"
    try:
        yield said
    except Exception as error:  # noqa: BLE001 - whatever it was, who started it has to say so
        by_another = _is_of_another(error)
        if not (by_another or isinstance(error, ValueError)):
            traceback.print_exc()
        write_json(path, {"failed": sentence(error), "by_another": by_another})
        sys.exit(FAILED)
    write_json(path, said)


def is_stopped_by(folder: Path) -> Callable[[], bool]:
    """Whether they were asked to stop. Raises GoneError when who started them is gone."""
    starter = os.getppid()

    def ask() -> bool:
        if os.getppid() != starter or not folder.exists():
            raise GoneError("who started this process is gone: it ends, and writes nothing more")
        return (folder / STOP).exists()

    return now_and_then(ask)


def said_by(folder: Path, rank: int) -> dict[str, Any]:
    """What a process said; nothing if it had no time to."""
    path = folder / f"{rank}.json"
    return read_json(path) if path.exists() else {}


def why_failed(folder: Path, n_processes: int) -> str:
    """What one of them did itself, before what it suffered from another's end."""
    said = [one for rank in range(n_processes) if "failed" in (one := said_by(folder, rank))]
    own = [one["failed"] for one in said if not one["by_another"]]
    return (own or [one["failed"] for one in said] or ["it failed without a word"])[0]


def _is_of_another(error: Exception) -> bool:
    """A connection that broke, as gloo and NCCL say it, is the fault of its other end."""
    return isinstance(error, RuntimeError) and "onnection" in str(error)
