"""`python -m core <verb>`."""

import os
import sys

try:
    import signal
    from collections.abc import Sequence
    from contextlib import suppress
    from typing import NoReturn
except KeyboardInterrupt:  # while nobody listens yet
    os._exit(130)

INTERRUPTED = 130
LONG = ("train", "seeds", "ablation", "bench", "evaluate", "heads", "look")


def run(arguments: Sequence[str]) -> int:
    """Run one verb; returns the exit status. Ctrl-C is one line and 130, at every moment.

    While modules are loaded it ends the process where it stands: there is nothing to put in order
    yet, and an exception would be lost or wrapped in theirs. From then on it is an exception, so
    that a verb can leave whole files behind.
    """
    heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # ignored by `nohup`, `&`
    if heard:
        signal.signal(signal.SIGINT, end_here)
    _block(signal.SIG_UNBLOCK)
    restart_with_quiet_threads()
    from core.cli.main import main

    try:
        if heard:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return main(arguments)
    except KeyboardInterrupt:  # before it could listen, or a second one
        return INTERRUPTED
    finally:
        if heard:
            signal.signal(signal.SIGINT, end_here)


def end_here(*_: object) -> NoReturn:
    """Say so and end, without a word from modules that are half loaded."""
    with suppress(OSError):
        os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)


def restart_with_quiet_threads() -> None:
    """Set what must be set before torch is loaded for long work: passive waiting and huge pages.

    Waiting threads that spin cost more than half the speed beside any other busy process. Ctrl-C
    waits until the new process listens.
    """
    wanted = {"OMP_WAIT_POLICY": "passive", "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
    missing = {key: value for key, value in wanted.items() if key not in os.environ}
    if missing and sys.platform == "linux" and sys.argv[1:2] and sys.argv[1] in LONG:
        arguments = [sys.executable, "-m", "core", *sys.argv[1:]]
        _block(signal.SIG_BLOCK)
        try:
            os.execve(sys.executable, arguments, {**os.environ, **missing})
        finally:
            _block(signal.SIG_UNBLOCK)


def _block(how: int) -> None:
    """Let Ctrl-C wait, or hear what has waited; where there are no masks it never waits."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(how, [signal.SIGINT])


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
