"""Programs that stand for SLURM's: each writes its arguments down and says what it is told to."""

import os
from pathlib import Path

import pytest

from core.jobs.submission import read_submission

# What stands in a file of its name .out is said; one .err is a complaint, and it fails.
PROGRAM = """#!/bin/bash
printf '%s\\n' "$(basename "$0") $*" >> "{folder}/calls"
cat "{folder}/$(basename "$0").out" 2>/dev/null
if [ -e "{folder}/$(basename "$0").err" ]; then cat "{folder}/$(basename "$0").err" >&2; exit 1; fi
"""


def put_programs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of them, first in PATH; sbatch answers 17."""
    folder.mkdir()
    for name in ("sbatch", "squeue", "scancel"):
        (folder / name).write_text(PROGRAM.format(folder=folder))
        (folder / name).chmod(0o755)
    (folder / "sbatch.out").write_text("17;here\n")
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


def calls(slurm: Path, name: str) -> list[str]:
    """How a program was called."""
    lines = (slurm / "calls").read_text().splitlines() if (slurm / "calls").exists() else []
    return [line for line in lines if line.startswith(name)]


def listed(
    slurm: Path, folder: Path, state: str, *, number: str = "17", reason: str = "None"
) -> None:
    """What squeue says of a job from now on."""
    sent = read_submission(folder)
    assert sent is not None
    host = "" if state == "PENDING" else "node7"
    row = (number, state, reason, "1796002032", host, "0", sent.name)
    (slurm / "squeue.out").write_text("|".join([*row, "\n"]))
    (folder.parent / ".cluster.json").unlink(missing_ok=True)
