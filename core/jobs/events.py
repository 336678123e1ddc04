"""TensorBoard's event files beside the metrics, for people who have its viewer.

Written without SummaryWriter: its thread would swallow a full disk and then block the training.
"""

import time
from pathlib import Path
from typing import Any, cast

from tensorboardX import event_file_writer
from tensorboardX.proto import event_pb2, summary_pb2

from core.jobs.folder import EVENTS

# tensorboardX and the messages that protobuf makes carry no types.
_EventsWriter = cast(Any, event_file_writer.EventsWriter)
_Event, _SessionLog = cast(Any, event_pb2).Event, cast(Any, event_pb2).SessionLog
_Summary = cast(Any, summary_pb2).Summary


class Events:
    """One file an attempt; its first event takes back what earlier ones say after a step."""

    def __init__(self, folder: Path, *, attempt: int, last_step: int) -> None:
        (folder / EVENTS).mkdir(exist_ok=True)
        prefix = str(folder / EVENTS / "events")
        self._writer = _EventsWriter(prefix, f".{attempt}")
        start = _SessionLog(status=_SessionLog.START)
        self._write(step=last_step + 1, session_log=start)

    def add(self, step: int, **values: float) -> None:
        """Scalars of one step; on the disk when this returns."""
        scalars = [_Summary.Value(tag=tag, simple_value=value) for tag, value in values.items()]
        self._write(step=step, summary=_Summary(value=scalars))

    def close(self) -> None:
        self._writer.close()

    def _write(self, **event: Any) -> None:
        self._writer.write_event(_Event(wall_time=time.time(), **event))
        self._writer.flush()
