"""Locks that the operating system drops when their holder dies, however it dies.

A process id proves nothing (a child that nobody reaped still answers, and ids are used again), so
"the worker lives" means "the lock of its folder is held". Whoever only looks takes the lock shared,
so that two lookers never take each other for a worker.
"""

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

try:
    import fcntl
except ImportError:  # Windows, where no job can be started
    fcntl = None

QUEUE = ".queue.lock"
_CONTENDED = (errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK)


class HeldError(RuntimeError):
    """Somebody else holds the lock."""


def take(path: Path, *, seconds: float) -> FileLock:
    """The lock, waited for at most some seconds. Raises HeldError. The caller releases it.

    Its folder must be there, or FileNotFoundError is raised: filelock would make it.
    """
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path.parent))
    lock = FileLock(path, fallback_to_soft=False)
    try:
        lock.acquire(timeout=seconds, poll_interval=0.02)
    except Timeout:
        raise HeldError(f"{path} is held by another process") from None
    return lock


@contextmanager
def held(path: Path, *, seconds: float) -> Generator[None, None, None]:
    """The same for a block."""
    lock = take(path, seconds=seconds)
    try:
        yield
    finally:
        lock.release()


@contextmanager
def queue_lock(root: Path) -> Generator[None, None, None]:
    """For whoever changes what is wanted of the jobs. Raises ValueError if it stays busy."""
    root.mkdir(parents=True, exist_ok=True)
    try:
        with held(root / QUEUE, seconds=20):
            yield
    except HeldError:
        raise ValueError("another start, resume or remove takes very long; try again") from None


def is_held(path: Path) -> bool:
    """Whether a living process holds the lock; False if the file does not exist."""
    if fcntl is None:
        return False
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _CONTENDED:
            return True
        raise
    else:
        return False
    finally:
        os.close(handle)
