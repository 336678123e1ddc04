"""A class that answers at once: how long the file of its answers makes each pupil wait.

    python tests/benchmarks/class_answers.py
    python tests/benchmarks/class_answers.py 200 --processes 10 --steps 8

Opens a class, starts PROCESSES processes with as many pupils (threads) together as are asked for,
lets all begin at one moment, and each answer the predictions of STEPS steps. While they do, a
teacher looks every two seconds, as the page does. Nothing may be lost, nothing counted twice.

Not a test: the figures belong to the machine that is printed with them.
"""

import argparse
import multiprocessing
import os
import platform
import sys
import tempfile
import threading
import time
from multiprocessing.synchronize import Barrier
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from core.classroom.codes import new_pupil  # noqa: E402
from core.classroom.counts import standing  # noqa: E402
from core.classroom.store import answer, open_session  # noqa: E402
from core.devices import processor_name  # noqa: E402

BAR_SECONDS = 1.0  # within which 95 % of the answers of 60 pupils are kept
CHOICES = ("nearly all", "about half", "next to none")
LOOK_SECONDS = 2.0


def pupils(root: str, code: str, n_pupils: int, n_steps: int, begin: Barrier) -> list[float]:
    """Some pupils in this process; the seconds of every answer."""
    took: list[float] = []
    gate = threading.Barrier(n_pupils + 1)

    def pupil(turn: int) -> None:
        token = new_pupil()
        gate.wait()
        for step in range(1, n_steps + 1):
            start = time.perf_counter()
            answer(Path(root), code, token, step, CHOICES[turn % len(CHOICES)])
            took.append(time.perf_counter() - start)

    threads = [threading.Thread(target=pupil, args=(turn,)) for turn in range(n_pupils)]
    for thread in threads:
        thread.start()
    begin.wait()
    gate.wait()
    for thread in threads:
        thread.join()
    return took


def look(root: Path, stopped: threading.Event, teacher: object, took: list[float]) -> None:
    """A teacher's page."""
    while not stopped.wait(LOOK_SECONDS):
        start = time.perf_counter()
        standing(root, teacher)  # pyright: ignore[reportArgumentType]
        took.append(time.perf_counter() - start)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="A class that answers at once.")
    parser.add_argument("pupils", type=int, nargs="?", default=60)
    parser.add_argument("--processes", type=int, default=6)
    parser.add_argument("--steps", type=int, default=6)
    args = parser.parse_args()
    each = args.pupils // args.processes
    print(
        f"{platform.node()}: {os.cpu_count()} cores, {processor_name()}, Python "
        f"{platform.python_version()}, load {os.getloadavg()[0]:.1f}"
    )
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        opened = open_session(root, "peaked")
        looks, stopped = list[float](), threading.Event()
        watcher = threading.Thread(target=look, args=(root, stopped, opened.teacher, looks))
        context = multiprocessing.get_context("spawn")
        with context.Manager() as manager, context.Pool(args.processes) as pool:
            begin = manager.Barrier(args.processes)
            given = [(name, opened.code, each, args.steps, begin)] * args.processes
            watcher.start()
            took = [second for some in pool.starmap(pupils, given) for second in some]
        stopped.set()
        watcher.join()
        found = standing(root, opened.teacher)
        size = sum(path.stat().st_size for path in root.iterdir())
    expected, first = args.processes * each * args.steps, np.array(took)
    print(
        f"{args.processes * each} pupils in {args.processes} processes, {args.steps} answers each, "
        f"all at once: median {np.median(first):.3f} s, 95 % {np.quantile(first, 0.95):.3f} s, "
        f"maximum {first.max():.3f} s (bar: 95 % within {BAR_SECONDS} s)"
    )
    print(
        f"kept {found.n_answers} of {expected} answers of {found.n_pupils} pupils, "
        f"{size / 1e3:.0f} kB; a teacher's look: at most {max(looks, default=0.0):.3f} s"
    )


if __name__ == "__main__":
    main()
