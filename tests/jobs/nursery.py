"""Workers in a hurry: torch is loaded once, then every worker is a fork in a session of its own.

The fifty-kills test needs fifty starts, and loading torch takes more than a second each time. Reads
folders of jobs on standard input, answers each with the process id of its worker.
"""

import os
import signal
import sys
from pathlib import Path

import torch

from core.jobs import recorder, status, training, worker
from core.runs import loop
from core.training import examples


def main() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the dead
    examples.POOL_SIZE = 12
    recorder.N_ROWS, recorder.N_PROBES = 100, 4
    status.WRITE_EVERY_SECONDS = 0.02
    loop.SAVE_EVERY_SECONDS = 0.03  # so that many a kill hits a save
    training.NICENESS = 0
    torch.optim.AdamW([torch.zeros(1, requires_grad=True)])  # loads what the first optimizer loads
    for line in sys.stdin:
        if (child := os.fork()) == 0:
            os._exit(_work(Path(line.rstrip("\n"))))
        print(child, flush=True)


def _work(folder: Path) -> int:
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    log = os.open(folder / "log.txt", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for stream in (1, 2):
        os.dup2(log, stream)
    os.close(0)
    return worker.main([str(folder)])


if __name__ == "__main__":
    main()
