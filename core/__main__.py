"""`python -m core <verb>`."""

import os
import sys

LONG = ("train", "seeds", "ablation", "bench", "evaluate", "heads")


def restart_with_quiet_threads() -> None:
    """Set what must be set before torch is loaded for long work: passive waiting and huge pages.

    Waiting threads that spin cost more than half the speed beside any other busy process.
    """
    wanted = {"OMP_WAIT_POLICY": "passive", "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
    missing = {key: value for key, value in wanted.items() if key not in os.environ}
    if missing and sys.platform == "linux" and sys.argv[1:2] and sys.argv[1] in LONG:
        arguments = [sys.executable, "-m", "core", *sys.argv[1:]]
        os.execve(sys.executable, arguments, {**os.environ, **missing})


if __name__ == "__main__":
    restart_with_quiet_threads()
    from core.cli.main import main

    sys.exit(main(sys.argv[1:]))
