"""Several processes that train one model, started by torchrun's own agent inside this process.

Who calls stays, and hears the signals: torchrun would pass a first one on, and end by SIGKILL after
half a minute who is still saving. So SIGINT and SIGTERM become a file (core.jobs.ranks).
"""

import signal
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs, SignalException
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
from torch.distributed.launcher.api import LaunchConfig, elastic_launch

from core.jobs.ranks import STOP, said_by, why_failed
from core.runs.stopping import stop_requests

LEFT_TO_TORCHRUN = (signal.SIGHUP, signal.SIGQUIT)


def run_ranks(arguments: Callable[[Path], Sequence[str]], n_processes: int) -> dict[str, Any]:
    """Run python with `arguments`, which name the folder, n times; what the first of them said.

    A request to stop is passed on, a second one ends them at once. Raises ValueError in one
    sentence if one of them fails or is killed; the others are ended then.
    """
    with TemporaryDirectory(prefix="ranks-") as name:
        folder = Path(name)
        config = _config(n_processes, folder / "logs")
        with stop_requests((folder / STOP).touch), _handlers_kept():
            try:
                elastic_launch(config, sys.executable)(*arguments(folder))
            except ChildFailedError as error:
                raise ValueError(_why(error, folder, n_processes)) from None
            except SignalException as error:
                raise ValueError(f"ended by {signal.Signals(error.sigval).name}") from None
        return said_by(folder, 0)


def _config(n_processes: int, logs: Path) -> LaunchConfig:
    """That of `torchrun --standalone --nproc-per-node=N`."""
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
    """What torchrun does with its signals ends with it; outside the main thread it does nothing."""
    before = {number: signal.getsignal(number) for number in LEFT_TO_TORCHRUN}
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is not handler:
                signal.signal(number, handler)


def _why(error: ChildFailedError, folder: Path, n_processes: int) -> str:
    """Who was killed, unless by torchrun's own SIGTERM; else what was said."""
    for rank, failure in error.failures.items():
        if failure.exitcode < 0 and failure.exitcode != -signal.SIGTERM:
            name = signal.Signals(-failure.exitcode).name
            return (
                f"process {rank + 1} of {n_processes} was killed ({name}), and the others ended: "
                "go on from the last checkpoint"
            )
    return why_failed(folder, n_processes)
