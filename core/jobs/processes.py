"""Signals to workers, and only to a process that is the worker beyond doubt. POSIX only."""

import os
import signal

import psutil

SAME_SECONDS = 1.0  # ids of processes are used again; the moment of their birth is not


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
