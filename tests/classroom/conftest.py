"""A class in a folder of its own; time is a number."""

from pathlib import Path

import pytest

from core.classroom.codes import new_pupil
from core.classroom.store import Opened, open_session

NOW = 1_700_000_000.0


@pytest.fixture
def now() -> float:
    return NOW


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    """A class that was opened just now, kept for a week."""
    return open_session(tmp_path, "peaked", now=NOW)


@pytest.fixture
def pupil() -> str:
    return new_pupil()
