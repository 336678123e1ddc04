"""The verb `train` of a worker: opens the run of its folder, steps it, keeps its limits."""

import os
import shlex
import shutil
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import torch

from core.checkpoints.progress import Progress
from core.checkpoints.shelf import CARD
from core.devices import resolve_device
from core.files import read_json
from core.jobs.recorder import Recorder
from core.jobs.spec import TrainSpec, corpus_folder
from core.jobs.status import LimitError, Reporter
from core.paths import CHECKPOINTS
from core.runs import loop
from core.runs.folder import RUN, STATE
from core.runs.run import Run, finish, resume_run, start_run
from core.training.step import TrainingDivergedError

NICENESS = 5


def work(
    spec: TrainSpec, folder: Path, reporter: Reporter, is_stopped: Callable[[], bool]
) -> dict[str, Any] | None:
    """Begin or go on, to the end: the card's figures, or None if stopped and saved before it.

    One of several processes that is not the first returns None at the end, too.
    """
    resolve_device(spec.device)
    torch.set_num_threads(max(1, spec.threads // spec.processes))
    with suppress(OSError):
        os.nice(NICENESS)

    def told(said: str) -> None:
        reporter.write(activity=said)
        if spec.processes == 1 and is_stopped():  # others would wait for one that goes
            raise _StoppedError

    try:
        run = _open(spec, folder, told)
    except _StoppedError:
        return None
    if run is None:
        (folder / STATE).unlink(missing_ok=True)
        return read_json(folder / CARD)["figures"]
    _check_disk(spec, folder, n_parameters=run.n_parameters)
    try:
        ending = _train(run, spec, reporter, is_stopped)
    except TrainingDivergedError as error:
        kept = "the last good state is kept" if run.saved_step else "nothing was saved"
        raise ValueError(f"{error}; {kept}") from None
    if ending == "stopped":
        return None
    if ending == "too late":
        raise LimitError(
            f"the limit of {spec.limits.minutes:g} minutes was reached at step {run.step} of "
            f"{run.n_steps}; the state of that step is kept"
        )
    reporter.write(activity="measuring")
    return finish(run)["figures"] if run.writes else None


class _StoppedError(Exception):
    """Asked to stop before the first step: nothing is there yet that could be saved."""


def _open(spec: TrainSpec, folder: Path, told: Progress) -> Run | None:
    """The run that this folder holds or begins; None if it has been finished already."""
    course = corpus_folder(spec.recipe)
    if (folder / RUN).exists():
        return resume_run(folder, corpus_folder=course, where=spec.where)
    if (folder / CARD).exists():
        return None
    return start_run(
        spec.recipe,
        folder,
        minutes=spec.minutes,
        steps=spec.steps,
        seed=spec.seed,
        corpus_folder=course,
        command=lambda steps: shlex.join(["python", "-m", "core", *spec.arguments(steps)]),
        most_steps=spec.limits.steps,
        start_from=None if spec.start_from is None else _checkpoint(folder, spec.start_from),
        make_folder=False,
        told=told,
        where=spec.where,
    )


def _checkpoint(job_folder: Path, name: str) -> Path:
    """Where a checkpoint lies that a job names: checkpoints/<name> beside checkpoints/runs/<id>.

    Runs that a cluster shares may lie elsewhere, and then the project's own shelf is meant.
    """
    beside = job_folder.parent.parent / name
    return beside if beside.is_dir() else CHECKPOINTS / name


def _train(
    run: Run, spec: TrainSpec, reporter: Reporter, is_stopped: Callable[[], bool]
) -> loop.Ending:
    most_seconds = 60 * spec.limits.minutes
    if not run.writes:
        return loop.train(
            run,
            after_step=lambda _: None,
            save=lambda: None,
            is_stopped=is_stopped,
            most_seconds=most_seconds,
        )
    with closing(Recorder(run, reporter)) as recorder:

        def save() -> None:
            recorder.save()
            _check_disk(spec, run.folder, n_parameters=run.n_parameters)

        return loop.train(
            run,
            after_step=recorder.step,
            save=save,
            is_stopped=is_stopped,
            most_seconds=most_seconds,
        )


def _check_disk(spec: TrainSpec, folder: Path, *, n_parameters: int) -> None:
    """Raise LimitError when the job has used its share, or the next save would not fit."""
    used, most = sum(map(_size, folder.rglob("*"))), spec.limits.disk_bytes
    if used > most:
        raise LimitError(f"the job's files have {_mb(used)}, more than its limit of {_mb(most)}")
    needed = 4 * 4 * n_parameters  # parameters and their moments, beside the state they replace
    free = _free_bytes(folder)
    if free < needed:
        raise LimitError(
            f"the disk is nearly full: {_mb(free)} are free, the next state needs {_mb(needed)}"
        )


def _free_bytes(folder: Path) -> int:
    return shutil.disk_usage(folder).free


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # somebody's temporary name
        return 0


def _mb(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:,.1f} MB"
