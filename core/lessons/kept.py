"""A lesson as one HTML file, written by a process of its own, for pages are beyond this room."""

import subprocess
import sys
from pathlib import Path

from core.paths import ROOT

WRITER = "pages.shared.lesson_file"
PATIENCE = 900  # seconds
REFUSED = 3  # its exit status where a sentence says what is wrong


def keep_lesson(name: str, path: Path) -> None:
    """Every step drawn and written to `path`. Raises ValueError that says why it cannot be."""
    try:
        done = subprocess.run(  # noqa: S603 - our own module
            [sys.executable, "-m", WRITER, name, str(path.absolute())],
            cwd=ROOT,
            stderr=subprocess.PIPE,
            check=False,
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired:
        raise ValueError(f"lesson {name}: its pages took over {PATIENCE} s") from None
    said = done.stderr.decode(errors="replace").strip().splitlines()
    if done.returncode == REFUSED and said:
        raise ValueError(said[-1])
    if done.returncode:
        raise ValueError(f"lesson {name}: its pages cannot be drawn ({''.join(said[-1:])})")
