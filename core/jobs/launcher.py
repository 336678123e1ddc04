"""How a worker comes to run, and how it gets a signal. Here it is a process of this machine; a
cluster could take the same command. Arguments are a list and never pass through a shell.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import psutil

from core.jobs.folder import LOG, PATIENCE_SECONDS
from core.paths import ROOT

SYSTEM = os.name
SAME_SECONDS = 1.0  # ids of processes are used again; the moment of their birth is not
WORKER = "core.jobs.worker"  # the module that a worker runs; with it workers are found again


class Launcher(Protocol):
    """Starts the worker of a job's folder and returns at once.

    `patience` is how many seconds may pass until the worker holds its lock.
    """

    @property
    def patience(self) -> float: ...

    def obstacle(self) -> str | None:
        """Why no job can be started here; None if one can."""
        ...

    def launch(self, folder: Path, *, threads: int) -> None: ...

    def launch_all(self, folders: Sequence[Path], *, threads: int) -> None:
        """The workers of several folders, which wait for their turn as they do."""
        ...


class LocalLauncher:
    """A process in a session of its own: it outlives the page, its browser and its server."""

    patience = PATIENCE_SECONDS

    def obstacle(self) -> str | None:
        if SYSTEM == "posix":
            return None
        return "cannot start jobs here: Linux or macOS is needed; everything else works"

    def launch(self, folder: Path, *, threads: int) -> None:
        with (folder / LOG).open("ab") as log:
            process = subprocess.Popen(  # noqa: S603 - a list of our own making
                worker_command(folder),
                cwd=ROOT,
                env={**os.environ, **quiet_threads(threads)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        # Somebody has to take note of its end, or it stays in the table of processes.
        threading.Thread(target=process.wait, daemon=True).start()

    def launch_all(self, folders: Sequence[Path], *, threads: int) -> None:
        for folder in folders:
            self.launch(folder, threads=threads)


def worker_command(folder: Path) -> list[str]:
    """What runs a job, on whatever machine sees its folder."""
    return [sys.executable, "-m", WORKER, str(folder.resolve())]


def quiet_threads(threads: int) -> dict[str, str]:
    """What must be set before torch is loaded: as many threads as told, that wait without spinning.

    Threads that spin would take the cores from the pages and from each other.
    """
    return {
        "OMP_NUM_THREADS": str(threads),
        "MKL_NUM_THREADS": str(threads),
        "OMP_WAIT_POLICY": "passive",
        "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
    }


def is_process(pid: int, created_at: float) -> bool:
    """Whether the process that has this id now is the one that was created then."""
    try:
        return abs(psutil.Process(pid).create_time() - created_at) <= SAME_SECONDS
    except psutil.NoSuchProcess:
        return False


def send(pid: int, created_at: float, number: signal.Signals) -> None:
    """Signal a worker with its process group, if it has one of its own; nobody if it is gone."""
    if not is_process(pid, created_at):
        return
    try:
        if os.getpgid(pid) == pid:
            os.killpg(pid, number)
        else:
            os.kill(pid, number)
    except ProcessLookupError:
        return
