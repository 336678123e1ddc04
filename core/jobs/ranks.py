"""Several processes that train one model: started by torchrun, told to stop, and what they say.

Who starts them stays, and hears the signals. They are told by a file: torchrun would end them by a
second signal, and by SIGKILL after half a minute. All look at it and agree on a step. What they say
lies in the same folder, which is given to them and removed at the end. When who started them is
gone, they end and write nothing more: somebody may go on with what they have saved.
"""

import os
import signal
import sys
import traceback
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs
from torch.distributed.elastic.multiprocessing.api import SignalException
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
from torch.distributed.launcher.api import LaunchConfig, elastic_launch

from core.files import read_json, write_json
from core.jobs.status import sentence
from core.runs.folder import GoneError
from core.runs.stopping import now_and_then, stop_requests

STOP = "stop"
LEFT_TO_TORCHRUN = (signal.SIGHUP, signal.SIGQUIT)
FAILED = 3


def run_ranks(arguments: Callable[[Path], Sequence[str]], n_processes: int) -> dict[str, Any]:
    """Run python with `arguments`, which name the folder, n times; what the first of them said.

    A request to stop is passed on, a second one ends them at once. Raises ValueError in one
    sentence if one of them fails or is killed; the others are then ended.
    """
    with TemporaryDirectory(prefix="ranks-") as name:
        folder = Path(name)
        config = _config(n_processes, folder / "logs")
        with stop_requests(asked=(folder / STOP).touch), _handlers_kept():
            try:
                elastic_launch(config, sys.executable)(*arguments(folder))
            except ChildFailedError as error:
                raise ValueError(_why(error, folder, n_processes)) from None
            except SignalException as error:
                raise ValueError(f"ended by {signal.Signals(error.sigval).name}") from None
        return read_json(folder / "0.json")


@contextmanager
def speaking(folder: Path) -> Generator[dict[str, Any], None, None]:
    """Around all that a process does: what it puts here is said, and so is why it failed.

    Ends the process with FAILED, which makes torchrun end the others.
    """
    said: dict[str, Any] = {}
    path = folder / f"{os.environ['RANK']}.json"
    try:
        yield said
    except Exception as error:  # noqa: BLE001 - whatever it was, who started it has to say so
        if not isinstance(error, ValueError):
            traceback.print_exc()
        write_json(path, {"failed": sentence(error), **_blame(error)})
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


def _config(n_processes: int, logs: Path) -> LaunchConfig:
    return LaunchConfig(
        min_nodes=1,
        max_nodes=1,
        nproc_per_node=n_processes,
        run_id=uuid4().hex,
        rdzv_backend="c10d",
        rdzv_endpoint="localhost:0",
        local_addr="localhost",
        max_restarts=0,
        logs_specs=DefaultLogsSpecs(log_dir=str(logs)),
        signals_to_handle=",".join(one.name for one in LEFT_TO_TORCHRUN),
    )


@contextmanager
def _handlers_kept() -> Generator[None, None, None]:
    """What torchrun does with its signals ends with it; only a main thread has any."""
    before = {number: signal.getsignal(number) for number in LEFT_TO_TORCHRUN}
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is not handler:
                signal.signal(number, handler)


def _blame(error: Exception) -> dict[str, bool]:
    """A connection that broke is the fault of whoever was at its other end."""
    return {"by_another": isinstance(error, RuntimeError) and "onnection" in str(error)}


def _why(error: ChildFailedError, folder: Path, n_processes: int) -> str:
    """Why they failed: one that was killed first, then what one of them did itself."""
    for rank, failure in error.failures.items():
        if failure.exitcode < 0 and failure.exitcode != -signal.SIGTERM:
            name = signal.Signals(-failure.exitcode).name
            return f"process {rank + 1} of {n_processes} was killed ({name}), and the others ended"
    files = [folder / f"{rank}.json" for rank in range(n_processes)]
    said = [read_json(path) for path in files if path.exists()]
    own = [one["failed"] for one in said if "failed" in one and not one["by_another"]]
    others = [one["failed"] for one in said if "failed" in one]
    return (own or others or [f"{n_processes} processes failed without a word"])[0]
