"""Metrics as a reader finds them while somebody writes, or after somebody was killed."""

import os
from pathlib import Path

import pytest

from core.runs.journal import METRICS, Journal, read_metrics

LINES = b'{"step": 1, "loss": 2.5}\n{"step": 2, "loss": 2.25}\n{"step": 4, "loss": 2.0}\n'


def steps(folder: Path) -> list[int]:
    return [row["step"] for row in read_metrics(folder)]


def test_what_was_appended_is_read_back(tmp_path: Path):
    assert read_metrics(tmp_path) == []
    journal = Journal(tmp_path, last_step=0)
    rows = [{"step": 1, "loss": 0.1 + 0.2}, {"step": 2, "sample": "Malmö\u2028\n"}]
    for row in rows:
        journal.append(row)
    journal.sync()
    assert read_metrics(tmp_path) == rows
    journal.close()


def test_the_umask_alone_says_who_may_read_what_is_appended(tmp_path: Path):
    before = os.umask(0o002)
    try:
        Journal(tmp_path, last_step=0).close()
    finally:
        os.umask(before)
    assert (tmp_path / METRICS).stat().st_mode & 0o777 == 0o664


@pytest.mark.parametrize("torn", [b"{", b'{"step": 5, "lo', b'{"step": 5}', b"\xff\xfe"])
def test_a_last_line_that_is_not_whole_yet_is_passed_over(tmp_path: Path, torn: bytes):
    (tmp_path / METRICS).write_bytes(LINES + torn)
    assert steps(tmp_path) == [1, 2, 4]


ODD = (
    b'{"step": 5, "loss": NaN}\n',
    b'{"step": 5, "loss": 1e999}\n',
    b'{"step": 1' + b"0" * 30 + b"}\n",
    b'{"step": 5, "sample": ' + b"[" * 50_000 + b"]" * 50_000 + b"}\n",
)


@pytest.mark.parametrize("damaged", [b"{]\n", b"[3]\n", b'{"loss": 1}\n', b"\n", *ODD])
def test_a_damaged_line_is_named(tmp_path: Path, damaged: bytes):
    (tmp_path / METRICS).write_bytes(LINES + damaged + LINES)
    with pytest.raises(ValueError, match="metrics.jsonl, line 4: not a measurement"):
        read_metrics(tmp_path)


@pytest.mark.parametrize(
    ("last_step", "kept"), [(0, []), (1, [1]), (2, [1, 2]), (3, [1, 2]), (4, [1, 2, 4])]
)
def test_a_worker_that_goes_on_cuts_off_what_came_after_its_state(
    tmp_path: Path, last_step: int, kept: list[int]
):
    (tmp_path / METRICS).write_bytes(LINES + b'{"step": 5, "lo')
    journal = Journal(tmp_path, last_step=last_step)
    journal.append({"step": 9})
    journal.close()
    assert steps(tmp_path) == [*kept, 9]


def test_metrics_of_a_terabyte_are_refused_before_they_are_read(tmp_path: Path):
    (tmp_path / METRICS).touch()
    os.truncate(tmp_path / METRICS, 10**12)
    message = "metrics.jsonl: 1,000,000,000,000 bytes; at most 64,000,000 are read"
    with pytest.raises(ValueError, match=message):
        read_metrics(tmp_path)
    with pytest.raises(ValueError, match=message):
        Journal(tmp_path, last_step=1)


def test_a_line_that_could_not_be_read_again_is_not_written(tmp_path: Path):
    journal = Journal(tmp_path, last_step=0)
    with pytest.raises(ValueError, match="Out of range float values are not JSON compliant"):
        journal.append({"step": 1, "loss": float("inf")})
    journal.append({"step": 1, "loss": 0.5})
    journal.close()
    assert steps(tmp_path) == [1]


def test_a_disk_that_takes_half_a_line_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    journal = Journal(tmp_path, last_step=0)
    real = os.write
    monkeypatch.setattr("core.runs.journal.os.write", lambda fd, data: real(fd, data[:5]))
    with pytest.raises(OSError, match="No space left on device"):
        journal.append({"step": 1})
    journal.close()
    assert read_metrics(tmp_path) == []
