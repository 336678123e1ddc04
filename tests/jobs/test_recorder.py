"""TensorBoard's files say what the metrics say."""

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from tensorboardX.proto import event_pb2

from core.jobs.recorder import EVENTS, Events
from core.runs.journal import read_metrics

Event, SessionLog = cast(Any, event_pb2).Event, cast(Any, event_pb2).SessionLog


def read(path: Path) -> list[Any]:
    """Records of a length (8 bytes), its check, a message, its check."""
    data, events = path.read_bytes(), list[Any]()
    while data:
        (length,) = struct.unpack("<Q", data[:8])
        events.append(Event.FromString(data[12 : 12 + length]))
        data = data[16 + length :]
    return events


def scalars(events: list[Any], tag: str) -> dict[int, float]:
    return {
        event.step: value.simple_value
        for event in events
        for value in event.summary.value
        if value.tag == tag
    }


def test_a_second_attempt_has_its_own_file_and_takes_back_what_came_after_its_state(
    tmp_path: Path,
):
    first = Events(tmp_path, attempt=1, last_step=0)
    first.add(1, loss=3.0, rate=0.5)
    first.add(2, loss=2.0, rate=1.0)
    second = Events(tmp_path, attempt=2, last_step=1)
    second.add(2, loss=2.0, rate=1.0)
    one, two = (read(path) for path in sorted((tmp_path / EVENTS).iterdir()))
    for events in (first, second):
        events.close()
    assert scalars(one, "loss") == {1: 3.0, 2: 2.0}
    assert one[0].file_version == "brain.Event:2"
    start = two[1]
    assert (start.step, start.session_log.status) == (2, SessionLog.START)
    assert scalars(two, "rate") == {2: 1.0}


def test_a_job_writes_its_losses_and_accuracies(
    start: Callable[..., Path], work: Callable[[Path], Any]
):
    folder = start()
    work(folder)
    (path,) = (folder / EVENTS).iterdir()
    events, rows = read(path), read_metrics(folder)
    losses = scalars(events, "loss")
    assert losses == {row["step"]: pytest.approx(row["loss"], rel=1e-6) for row in rows}
    shares = {r["step"]: r["held_out"]["correct"] / 2 for r in rows if "held_out" in r}
    assert scalars(events, "held_out_accuracy") == shares
