"""What lies or runs beside the jobs and belongs to none: listed, and removed.

Folders that a killed start, remove or keep left half made or half removed; folders of jobs without
job.json; files that a killed worker was writing; workers whose folder is gone. Locks are none: they
are empty files that stay.
"""

import os
import shutil
import signal
import socket
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from core.checkpoints.shelf import WEIGHTS
from core.jobs.folder import JOB, LOCK, is_id, job_folders, read_ticket, unfinished_files
from core.jobs.launcher import SAME_SECONDS, WORKER, send
from core.jobs.locks import QUEUE, is_held
from core.jobs.status import FINAL, read_status
from core.jobs.submission import is_sent
from core.runs.folder import STATE

UNFINISHED = (".new-*", ".removed-*", ".keep-*")
TRAINED = (STATE, WEIGHTS)
HERE = Path("/proc/self/ns/mnt")  # which files this process sees; Linux only
Process = tuple[int, float]  # its id and when it was created


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftover:
    """`why` says what it is. `path` lies in the folder of all jobs, or did so once.

    `worker` is a process that works there; what `is_kept` is removed by its name alone, if at all.
    """

    path: Path
    why: str
    n_bytes: int = 0
    worker: Process | None = None
    is_kept: bool = False

    def row(self) -> dict[str, Any]:
        """What a list tells of it."""
        pid = None if self.worker is None else self.worker[0]
        return {"path": str(self.path), "why": self.why, "bytes": self.n_bytes, "pid": pid}

    @property
    def text(self) -> str:
        """The same in one line."""
        size = "" if self.worker is not None else f", {self.n_bytes / 1e6:.1f} MB"
        return f"{self.path.parent.name}/{self.path.name}{size}: {self.why}"


def leftovers(root: Path) -> list[Leftover]:
    """All that is left over; costs a look at every job's folder and at every process.

    While somebody holds the queue's lock, what is half made may be in use and is passed over.
    """
    return [*left_on_disk(root), *_workers(root)]


def left_on_disk(root: Path) -> list[Leftover]:
    """The same without processes."""
    return _on_disk(root, is_in_use=is_held(root / QUEUE))


def clear(root: Path) -> list[Leftover]:
    """Remove and end all but what is kept; returns what was. Only under the queue's lock."""
    found = [*_on_disk(root, is_in_use=False), *_workers(root)]
    removed = [left for left in found if not left.is_kept]
    for left in removed:
        if left.worker is not None:
            send(*left.worker, signal.SIGKILL)  # nothing that it did could be saved anywhere
        elif left.path.is_dir():
            shutil.rmtree(left.path, ignore_errors=True)
        else:
            left.path.unlink(missing_ok=True)
    return removed


def end_strays(root: Path, known: Collection[Process]) -> set[Process]:
    """End workers without a folder that were `known` before; returns all that there are.

    One that was not known yet may be about to end by itself.
    """
    found = {left.worker for left in _workers(root) if left.worker is not None}
    for worker in found & set(known):
        send(*worker, signal.SIGKILL)
    return found


def _on_disk(root: Path, *, is_in_use: bool) -> list[Leftover]:
    unfinished = [] if is_in_use else [*_half_made(root), *_half_written(root)]
    return [*unfinished, *_folders(root)]


def _half_made(root: Path) -> Iterator[Leftover]:
    for path in sorted(path for pattern in UNFINISHED for path in root.glob(pattern)):
        yield Leftover(path=path, why="half made or half removed", n_bytes=_size(path))


def _half_written(root: Path) -> Iterator[Leftover]:
    for folder in job_folders(root):
        if not is_held(folder / LOCK) and not _is_at_work_elsewhere(folder):
            for path in unfinished_files(folder):
                yield Leftover(path=path, why="a file half written", n_bytes=_size(path))


def _is_at_work_elsewhere(folder: Path) -> bool:
    """Whether a worker on a node of a cluster, whose lock may not be seen, has not ended yet."""
    if not is_sent(folder):
        return False
    try:
        ticket, status = read_ticket(folder), read_status(folder)
    except ValueError:
        return True
    return status is None or status.attempt != ticket.attempt or status.state not in FINAL


def _folders(root: Path) -> Iterator[Leftover]:
    """Folders that have the name of a job or its job.json, but not both."""
    for path in sorted(root.glob("[!.]*") if root.is_dir() else ()):
        if path.is_dir() and (path / JOB).is_file() is not is_id(path.name):
            why, is_kept = _what_it_is(path)
            yield Leftover(path=path, why=why, n_bytes=_size(path), is_kept=is_kept)


def _what_it_is(folder: Path) -> tuple[str, bool]:
    """A folder that is no job, in words; and whether it stays until somebody names it."""
    if not is_id(folder.name):
        return "a job under another name: call it 20260131-235959-0a1b2c or alike again", True
    if is_held(folder / LOCK):
        return f"has no {JOB}; its worker is about to end", True
    if holds := " and ".join(name for name in TRAINED if (folder / name).exists()):
        return f"has no {JOB}, but {holds}: put it back, or jobs remove {folder.name}", True
    return f"has no {JOB}", False


def _workers(root: Path) -> Iterator[Leftover]:
    """Workers of this folder of jobs whose own folder is gone or worked in by another."""
    home = root.resolve()
    for process in psutil.process_iter(["cmdline", "create_time"]):
        *_, option, module, name = ["", "", "", *(process.info["cmdline"] or ())]
        folder, created_at = Path(name), process.info["create_time"]
        if (option, module) != ("-m", WORKER) or folder.parent != home or not is_id(folder.name):
            continue
        if _sees_these_files(process.pid) and _is_stray(folder, created_at):
            why = f"process {process.pid} works for this folder, which is not its own any more"
            yield Leftover(path=folder, why=why, worker=(process.pid, created_at))


def _sees_these_files(pid: int) -> bool:
    """Whether the same names are the same files there: in a container they may be others.

    Another user's process, which nobody here could end, counts as if they were.
    """
    try:
        return os.path.samestat(Path(f"/proc/{pid}/ns/mnt").stat(), HERE.stat())
    except PermissionError:
        return False
    except FileNotFoundError:  # it ended just now; or the system knows no such names
        return not HERE.exists()


def _is_stray(folder: Path, created_at: float) -> bool:
    """Whether the folder is gone, or its present attempt is another process's."""
    if not (folder / JOB).is_file():
        return True
    try:
        ticket, status = read_ticket(folder), read_status(folder)
    except ValueError:  # who works there cannot be told
        return False
    if status is None or status.attempt != ticket.attempt:
        return False
    is_other = abs(status.created_at - created_at) > SAME_SECONDS
    return status.host == socket.gethostname() and is_other


def _size(path: Path) -> int:
    """Bytes of a file, or of all files in a folder."""
    paths = path.rglob("*") if path.is_dir() else (path,)
    total = 0
    for each in paths:
        try:
            total += each.lstat().st_size
        except FileNotFoundError:  # removed just now
            continue
    return total
