"""A training job in several processes: its worker starts them, and the first of them records.

The worker holds the locks and says the first and the last words of the status; in between it is the
first process's.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.jobs.folder import JOB, LOCK, is_stop_requested
from core.jobs.ranks import is_stopped_by, speaking
from core.jobs.spec import TrainSpec
from core.jobs.state import read_spec
from core.jobs.status import Reporter
from core.jobs.torchrun import run_ranks
from core.jobs.training import work
from core.runs.folder import Anchor
from core.training.team import joined

MODULE = "core.jobs.together"


class MuteReporter(Reporter):
    """That of all processes but the first: nobody hears it."""

    def write(self, **changes: Any) -> None:
        """Nothing is written."""


def work_together(spec: TrainSpec, folder: Path, reporter: Reporter) -> dict[str, Any] | None:
    """As core.jobs.training.work: the card's figures, or None if all have stopped and saved."""
    attempt = str(reporter.status.attempt)
    try:
        said = run_ranks(
            lambda ranks: ["-m", MODULE, str(folder), attempt, str(ranks)], spec.processes
        )
    finally:
        reporter.take_over()
    return said["figures"]


def main(arguments: Sequence[str]) -> None:
    """One of the processes."""
    folder, attempt, ranks = Path(arguments[0]), int(arguments[1]), Path(arguments[2])
    asked = is_stopped_by(ranks)
    with speaking(ranks) as said:
        spec = read_spec(folder)
        if not isinstance(spec, TrainSpec):
            raise ValueError(f"{folder.name} is no training: only those run in several processes")
        anchor = Anchor(folder / LOCK, JOB)
        with joined(spec.where) as team:
            kind = Reporter if team.is_first else MuteReporter
            reporter = kind(folder, attempt, anchor.check)
            reporter.take_over()
            said["figures"] = work(
                spec, folder, reporter, lambda: asked() or is_stop_requested(folder, attempt)
            )


if __name__ == "__main__":
    main(sys.argv[1:])
