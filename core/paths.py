"""Where the project's own files lie, and the course's. Nothing heavy is imported, so that home can
open at once.
"""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ASSETS = ROOT / "assets"
PEOPLE = ASSETS / "people.tsv"
JUDGED = ASSETS / "people_judged.tsv"
BENCHMARKS = ASSETS / "benchmarks"
CHECKPOINTS = ROOT / "checkpoints"
RUNS = CHECKPOINTS / "runs"
COURSE_VARIABLE = "A5_DATA"
TRACES_VARIABLE = "EXPLORER_TRACES"


def course_folder() -> Path | None:
    """Where the course's files lie, if the environment says so; they are not shipped."""
    named = os.environ.get(COURSE_VARIABLE, "").strip()
    return Path(named) if named else None


def traces_folder() -> Path | None:
    """Where trace files lie that the pages offer, if the environment says so."""
    named = os.environ.get(TRACES_VARIABLE, "").strip()
    return Path(named) if named else None
