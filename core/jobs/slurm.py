"""The launcher of a SLURM cluster: one script, one sbatch; signals by scancel.

Nothing that a visitor typed is in the script or on a command line: a job goes by its id there.
"""

import secrets
import shutil
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote

from core.files import write_text
from core.jobs.cluster import WARNING_SECONDS, Cluster
from core.jobs.folder import LOG, SUBMISSION, read_ticket
from core.jobs.launcher import WORKER, quiet_threads
from core.jobs.scheduler import ACCEPTED_SECONDS, expire
from core.jobs.squeue import UNKNOWN, run
from core.jobs.state import Job
from core.jobs.submission import (
    SCRIPT,
    TOKEN_VARIABLE,
    Submission,
    read_submission,
    write_submission,
)
from core.paths import ROOT

SUBMIT_SECONDS = 15.0
NO_SBATCH = "jobs cannot be sent to a cluster from here: there is no sbatch"


@dataclass(frozen=True, slots=True)
class SlurmLauncher:
    """Sends workers to a cluster; several of them as one array, whose tasks pick their folder."""

    cluster: Cluster
    patience: float = ACCEPTED_SECONDS

    def obstacle(self) -> str | None:
        return NO_SBATCH if shutil.which("sbatch") is None else None

    def launch(self, folder: Path, *, threads: int) -> None:
        self.launch_all([folder], threads=threads)

    def launch_all(self, folders: Sequence[Path], *, threads: int) -> None:
        """Raises ValueError with the scheduler's own words if it takes none of them."""
        _refuse_other_folder(self.cluster, folders[0].parent)
        token, name = secrets.token_hex(8), f"explorer-{folders[0].name}"
        before = {folder: _kept(folder) for folder in folders}
        try:
            for folder in folders:
                attempt = read_ticket(folder).attempt
                write_submission(folder, Submission(attempt=attempt, token=token, name=name))
            text = script(self.cluster, folders, threads=threads, token=token)
            for folder in folders:
                write_text(folder / SCRIPT, text)
            number = _submit(self.cluster, folders, name)
        except (OSError, ValueError):
            for folder, kept in before.items():
                _give_back(folder, kept)
            raise
        with suppress(OSError):  # they are on their way, and their hearts tell the numbers, too
            for index, folder in enumerate(folders):
                _write_number(folder, number if len(folders) == 1 else f"{number}_{index}")
            expire(folders[0].parent)


def script(cluster: Cluster, folders: Sequence[Path], *, threads: int, token: str) -> str:
    """What runs on the node; the worker takes the place of its shell, so that signals reach it."""
    options = [
        "--nodes=1",
        "--ntasks=1",
        f"--cpus-per-task={threads}",
        f"--time={cluster.time}",
        *([f"--partition={cluster.partition}"] if cluster.partition else []),
        *([f"--account={cluster.account}"] if cluster.account else []),
        *([f"--gres=gpu:{cluster.gpus}"] if cluster.gpus else []),
        f"--signal=B:TERM@{WARNING_SECONDS}",
        "--open-mode=append",
        "--requeue",
        *([f"--array=0-{len(folders) - 1}"] if len(folders) > 1 else []),
        *cluster.options,
    ]
    python = cluster.python or sys.executable
    lines = [
        "#!/bin/bash",
        *(f"#SBATCH {option}" for option in options),
        *_pick(cluster, folders),
        f'exec >>"$folder/{LOG}" 2>&1',
        *(f"export {key}={quote(value)}" for key, value in quiet_threads(threads).items()),
        f"export {TOKEN_VARIABLE}={quote(token)}",
        *cluster.setup,
        f"cd -- {quote(str(ROOT))} || exit 1",
        f'exec {quote(python)} -m {WORKER} "$folder"',
    ]
    return "\n".join([*lines, ""])


def preview(cluster: Cluster, *, threads: int) -> str:
    """The script before there is a job."""
    return script(cluster, [Path("/…/checkpoints/runs/ID")], threads=threads, token="…")  # noqa: S106


def withdraw_waiting(root: Path, job: Job) -> None:
    """Take a job that waits out of the cluster's line. Raises ValueError."""
    if job.there is not None and job.there.waits and job.there.number:
        _scancel(job.there.number)
        expire(root)


def press_on(root: Path, job: Job, number: signal.Signals) -> None:
    """What a signal to a worker is on a cluster: to save and end, or to end. Raises ValueError."""
    if job.there is None or not job.there.number:
        return
    is_gentle = number == signal.SIGTERM and not job.there.waits
    _scancel(*(["--signal=TERM", "--batch"] if is_gentle else []), job.there.number)
    expire(root)


def _scancel(*arguments: str) -> None:
    code, _, error = run(["scancel", *arguments], seconds=SUBMIT_SECONDS)
    if code != 0 and UNKNOWN not in error:  # it is over already
        raise ValueError(f"the scheduler does not end the job: {error}")


def _write_number(folder: Path, number: str) -> None:
    submission = read_submission(folder)
    if submission is not None:
        write_submission(folder, replace(submission, job=number))


def _kept(folder: Path) -> Submission | None:
    with suppress(ValueError):
        return read_submission(folder)
    return None


def _give_back(folder: Path, kept: Submission | None) -> None:
    """What stood there before a submission that was refused."""
    with suppress(OSError):  # as on a full disk
        if kept is None:
            (folder / SUBMISSION).unlink(missing_ok=True)
        else:
            write_submission(folder, kept)


def _pick(cluster: Cluster, folders: Sequence[Path]) -> list[str]:
    names = [quote(_on_node(cluster, folder)) for folder in folders]
    if len(names) == 1:
        return [f"folder={names[0]}"]
    return ["folders=(", *(f"    {name}" for name in names), ")", _TASK]


_TASK = 'folder="${folders[$SLURM_ARRAY_TASK_ID]}"'


def _on_node(cluster: Cluster, folder: Path) -> str:
    """A job's folder as nodes know it."""
    return f"{cluster.runs.rstrip('/')}/{folder.name}" if cluster.runs else str(folder.absolute())


def _submit(cluster: Cluster, folders: Sequence[Path], name: str) -> str:
    """The scheduler's number of the job."""
    single = len(folders) == 1  # the scheduler's own complaints go into the log of a job, too
    output = f"{_on_node(cluster, folders[0])}/{LOG}".replace("%", "%%") if single else "/dev/null"
    options = ["--parsable", f"--job-name={name}", f"--output={output}", "--chdir=/"]
    code, out, error = run(["sbatch", *options, str(folders[0] / SCRIPT)], seconds=SUBMIT_SECONDS)
    number = out.strip().partition(";")[0]
    if code != 0 or not number.isdecimal():
        raise ValueError(f"the cluster does not take the job: {error or out.strip()[:200]}")
    return number


def _refuse_other_folder(cluster: Cluster, root: Path) -> None:
    """Jobs lie where the settings say, though perhaps under another name."""
    if cluster.runs and Path(cluster.runs).exists() and not Path(cluster.runs).samefile(root):
        raise ValueError(
            f"the cluster's runs is {cluster.runs}, which is another folder than "
            f"{root.absolute()}: make one a link to the other"
        )
