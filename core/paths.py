"""Where the project's own files lie, and the course's. Nothing heavy is imported, so that home can
open at once.
"""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ASSETS = ROOT / "assets"
PEOPLE = ASSETS / "people.tsv"
JUDGED = ASSETS / "people_judged.tsv"
UNREAD = ASSETS / "unread.txt"
GROUPS = ASSETS / "knowledge" / "groups.tsv"
QUESTIONS = ASSETS / "questions"
BENCHMARKS = ASSETS / "benchmarks"
LESSONS = ASSETS / "lessons"
LOOK = ASSETS / "look.json"
OWN_MODEL = ASSETS / "own_model.json"
SOUNDS = ASSETS / "sounds"
CHECKPOINTS = ROOT / "checkpoints"
PICTURE_NETWORKS = CHECKPOINTS / "look"
RUNS = CHECKPOINTS / "runs"
COURSE_VARIABLE = "A5_DATA"
TRACES_VARIABLE = "EXPLORER_TRACES"
QUESTIONS_VARIABLE = "EXPLORER_QUESTIONS"
CLASSROOM_VARIABLE = "EXPLORER_CLASSROOM"
PICTURES_VARIABLE = "EXPLORER_IMAGES"
SPEECH_VARIABLE = "EXPLORER_SPEECH"


def course_folder() -> Path | None:
    """Where the course's files lie, if the environment says so; they are not shipped."""
    return _named_by(COURSE_VARIABLE)


def question_folders() -> tuple[Path, ...]:
    """Where question sets lie: those that are shipped and, if the environment says so, the
    server's own.
    """
    own = _named_by(QUESTIONS_VARIABLE)
    return (QUESTIONS,) if own is None else (QUESTIONS, own)


def _named_by(variable: str) -> Path | None:
    named = os.environ.get(variable, "").strip()
    return Path(named) if named else None


def traces_folder() -> Path | None:
    """Where trace files lie that the pages offer, if the environment says so."""
    return _named_by(TRACES_VARIABLE)


def classroom_folder() -> Path:
    """Where the answers of classes are kept: beside the runs unless the environment says where."""
    return _named_by(CLASSROOM_VARIABLE) or RUNS.parent / "classroom"


def pictures_folder() -> Path:
    """Where sets of pictures lie: beside the runs unless the environment says where."""
    return _named_by(PICTURES_VARIABLE) or RUNS.parent / "pictures"


def spoken_folder() -> Path:
    """Where spoken sentences are kept: beside the runs unless the environment says where."""
    return _named_by(SPEECH_VARIABLE) or RUNS.parent / "spoken"
