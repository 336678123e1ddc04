"""A training on a real SLURM of this machine whose worker is killed again and again.

    python tests/benchmarks/slurm_kills.py
    python tests/benchmarks/slurm_kills.py --kills 5 --steps 600 --seed 1

After each kill (-9, at a random moment) the job has to be shown as lost with a state no older than
the one before, and goes on by a new submission; what it ends with has to be the very weights of a
training that nobody disturbed. Prints a line a kill; anything else is an AssertionError.
"""

import argparse
import os
import platform
import random
import signal
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from shlex import quote

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from core.checkpoints.shelf import WEIGHTS  # noqa: E402
from core.jobs import actions  # noqa: E402
from core.jobs.cluster import Cluster as Settings  # noqa: E402
from core.jobs.slurm import SlurmLauncher  # noqa: E402
from core.jobs.spec import train_spec  # noqa: E402
from core.jobs.state import Job, show  # noqa: E402
from tests.slurm.cluster_here import lacking, running  # noqa: E402

LONGEST_WAIT = 600.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if why := lacking():
        sys.exit(why)
    print(f"{platform.node()}, {os.cpu_count()} cores, {options.kills} kills, seed {options.seed}")
    with tempfile.TemporaryDirectory() as folder, running(_made(Path(folder) / "slurm")) as found:
        os.environ.update(found.environment)
        kill_again_and_again(Path(folder), options.kills, options.steps, options.seed)


def kill_again_and_again(folder: Path, n_kills: int, n_steps: int, seed: int) -> None:
    generator, runs = random.Random(seed), folder / "checkpoints" / "runs"
    launcher = SlurmLauncher(Settings(python=str(_python(folder)), time="60"))
    spec = replace(train_spec("notable-scratch", steps=n_steps, threads=1), name="killed")
    whole = runs / actions.start(runs, replace(spec, name="whole"), launcher)
    killed, before, n_done = runs / actions.start(runs, spec, launcher), 0, 0
    while n_done < n_kills:
        job = _wait(killed, "running", "finished")
        if job.state == "finished":
            assert _same(killed, whole)
            killed, before = runs / actions.start(runs, spec, launcher), 0
            continue
        time.sleep(generator.uniform(0, 20))
        if not _kill(killed):
            continue
        job = _wait(killed, "lost", "finished")
        if job.state == "finished":
            continue
        n_done, saved = n_done + 1, _saved(job)
        print(f"kill {n_done}: {job.state} at step {job.status and job.status.step}, saved {saved}")
        assert saved >= before
        before = saved
        actions.resume(runs, killed.name, launcher)
    _wait(killed, "finished")
    assert _same(killed, whole)
    print(f"{n_done} kills: the weights are those of the training that nobody disturbed")


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _python(folder: Path) -> Path:
    """Stands for python on a node: a worker that saves all the time."""
    path = folder / "python"
    hurried = ROOT / "tests" / "slurm" / "hurried.py"
    lines = ("#!/bin/bash", f"export PYTHONPATH={quote(str(ROOT))}")
    run = f'exec {quote(sys.executable)} {quote(str(hurried))} "$@"'
    path.write_text("\n".join([*lines, run, ""]), encoding="utf-8")
    path.chmod(0o755)
    return path


def _wait(folder: Path, *states: str) -> Job:
    deadline = time.monotonic() + LONGEST_WAIT
    while (job := show(folder.parent, folder.name)).state not in states:
        assert time.monotonic() < deadline, job
        assert job.state != "failed", job.message
        time.sleep(0.5)
    return job


def _kill(folder: Path) -> bool:
    """Whether there was a worker to be killed."""
    job = show(folder.parent, folder.name)
    if job.status is None or job.state != "running":
        return False
    with suppress(ProcessLookupError):
        os.kill(job.status.pid, signal.SIGKILL)
        return True
    return False


def _saved(job: Job) -> int:
    return 0 if job.status is None else job.status.saved_step or 0


def _same(one: Path, other: Path) -> bool:
    _wait(other, "finished")
    return (one / WEIGHTS).read_bytes() == (other / WEIGHTS).read_bytes()


if __name__ == "__main__":
    main()
