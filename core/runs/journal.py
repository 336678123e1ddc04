"""metrics.jsonl: one line a measurement, only ever appended to while a worker lives.

A worker that goes on from an older state first cuts off what came after it, so that no step stands
there twice. Readers pass over a last line that is not whole yet.

Each line holds step, phase, loss (the mean since the line before), rate (of the peak), tokens and
seconds so far, tokens_per_second; about twenty lines of a run also hold held_out {correct, total}
and sample, the answer to the job's one question; those of a run that is not on the processor alone
also hold where {device, precision, processes}.
"""

import errno
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from core.reading import parse_json, read_bytes

METRICS = "metrics.jsonl"
MOST_BYTES = 64_000_000  # some 400 lines of a few hundred bytes are usual


class Journal:
    """The worker's end of metrics.jsonl; `n_cut` lines behind the last step were cut off."""

    def __init__(self, folder: Path, *, last_step: int) -> None:
        self.path = folder / METRICS
        self.n_cut = _cut_after(self.path, last_step)
        self._handle = os.open(
            self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666
        )

    def append(self, row: dict[str, Any]) -> None:
        """One line in one write. Raises OSError if the disk takes only a part of it, ValueError for
        a number that is not finite.
        """
        line = (json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n").encode()
        if os.write(self._handle, line) < len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))

    def sync(self) -> None:
        """What was appended survives a power cut; a state may be saved after it."""
        os.fsync(self._handle)

    def close(self) -> None:
        os.close(self._handle)


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """All whole lines. Raises ValueError naming a line that is damaged."""
    path = folder / METRICS
    try:
        data = read_bytes(path, MOST_BYTES)
    except ValueError:
        if path.exists():
            raise
        return []
    rows: list[dict[str, Any]] = []
    for number, line in enumerate(_whole_lines(data), 1):
        row = _row(line)
        if row is None:
            raise ValueError(f"{METRICS}, line {number}: not a measurement")
        rows.append(row)
    return rows


def _cut_after(path: Path, last_step: int) -> int:
    """Keep the whole lines up to a step; everything behind them goes. How many lines went."""
    if not path.is_file():
        return 0
    data, end = read_bytes(path, MOST_BYTES), 0
    for line in _whole_lines(data):
        row = _row(line)
        if row is None or row["step"] > last_step:
            break
        end += len(line)
    if len(data) > end:
        os.truncate(path, end)
    return len(data[end:].splitlines())


def _whole_lines(data: bytes) -> Iterator[bytes]:
    for line in data.splitlines(keepends=True):
        if line.endswith(b"\n"):
            yield line


def _row(line: bytes) -> dict[str, Any] | None:
    try:
        row = parse_json(line, METRICS)
    except ValueError:
        return None
    if not isinstance(row, dict) or not isinstance(cast(dict[str, Any], row).get("step"), int):
        return None
    return cast(dict[str, Any], row)
