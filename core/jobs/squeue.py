"""The commands of SLURM: how they are run, and what squeue tells of jobs."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

ANSWER_SECONDS = 12.0  # squeue itself gives up after nine
LONGEST = 200
UNKNOWN = "Invalid job id"  # said if it knows none of the jobs that it is asked for
GONE = "GONE"  # not one of SLURM's: it lists no such job
WAITING = "PENDING CONFIGURING REQUEUED REQUEUE_FED REQUEUE_HOLD RESV_DEL_HOLD SPECIAL_EXIT".split()
RUNNING = "RUNNING COMPLETING SUSPENDED STOPPED SIGNALING STAGE_OUT RESIZING".split()
COLUMNS = "JobArrayId State Reason StartTime NodeList RestartCnt Name".split()
# Options and environment of a job that this process may itself be in say nothing about new ones.
KEPT = ("SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_CLUSTERS")


class SilentError(ValueError):
    """The scheduler does not answer."""


class MissingError(SilentError):
    """Its command is not there: it will not answer later either."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A job as squeue lists it; `starts_at` is when it began or is expected to."""

    state: str
    reason: str = ""
    starts_at: float | None = None
    host: str = ""
    restarts: int = 0
    name: str = ""

    @property
    def is_over(self) -> bool:
        return self.state not in WAITING and self.state not in RUNNING


def squeue(jobs: list[str]) -> dict[str, Row]:
    """The rows of some jobs by their numbers; unknown ones have none. Raises SilentError."""
    found = listed(jobs, COLUMNS, "--states=all", "--array")
    return {cells[0]: _row(cells) for cells in found}


def listed(jobs: list[str], columns: Sequence[str], *options: str) -> list[list[str]]:
    """The cells of each row of some jobs. Raises SilentError, and MissingError without a squeue."""
    layout = ",".join(f"{column}:|" for column in columns)
    command = ["squeue", *options, "--noheader", f"--jobs={','.join(jobs)}", f"--Format={layout}"]
    code, out, error = run(command, seconds=ANSWER_SECONDS)
    if code != 0 and UNKNOWN not in error:
        raise SilentError(error or f"squeue ended with status {code}")
    rows = (line.strip().split("|")[:-1] for line in out.splitlines())
    return [cells for cells in rows if len(cells) >= len(columns)]


def run(command: list[str], *, seconds: float) -> tuple[int, str, str]:
    """A command of SLURM: its status, what it prints, and its last complaint in one line.

    Raises MissingError if it is not there, and SilentError if it takes too long.
    """
    try:
        done = subprocess.run(  # noqa: S603 - a list of our own making, and no shell
            command,
            env=clean_environment(os.environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            check=False,
        )
    except FileNotFoundError:
        raise MissingError(f"{command[0]} is not found on this machine") from None
    except subprocess.TimeoutExpired:
        raise SilentError(f"{command[0]} gave no answer within {seconds:g} s") from None
    said = [line.partition(" error: ")[2] or line for line in done.stderr.splitlines() if line]
    return done.returncode, done.stdout, " ".join(said[-1:])[:LONGEST]


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Without what another job, or a user's profile, tells sbatch and squeue; times as numbers."""
    others = ("SLURM_", "SBATCH_", "SQUEUE_", "SCANCEL_")
    kept = {k: v for k, v in environment.items() if k in KEPT or not k.startswith(others)}
    return {**kept, "SLURM_TIME_FORMAT": "%s"}


def _row(cells: list[str]) -> Row:
    _, state, reason, starts_at, host, restarts, name, *_ = cells
    return Row(
        state=state,
        reason="" if reason in ("None", "N/A") else reason,
        starts_at=float(starts_at) if starts_at.isdecimal() else None,
        host=host,
        restarts=int(restarts) if restarts.isdecimal() else 0,
        name=name,
    )
