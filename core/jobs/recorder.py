"""What a worker writes down of a run while it steps it: metrics, events, status, a line of log.

Events are TensorBoard's, for people who have its viewer. They are written without SummaryWriter:
its thread would swallow a full disk and then block the training.

Sums that go from one line of metrics to the next live in the run's memory, which is saved with its
state: a run that goes on from there writes the very lines of a run that was never stopped.
"""

import sys
import time
from collections import deque
from pathlib import Path
from typing import Any, cast

from tensorboardX import event_file_writer
from tensorboardX.proto import event_pb2, summary_pb2

from core.jobs.state import iso
from core.jobs.status import Reporter
from core.runs.journal import Journal
from core.runs.kinds import Probe
from core.runs.run import Run, save
from core.training.loop import StepRecord
from core.training.where import HERE

EVENTS = "tensorboard"
N_ROWS, N_PROBES = 400, 20  # about so many lines, and lines with answers, in a run
SPEED_ROWS = 20  # tokens per second are those of so many lines

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


class Recorder:
    """Writes for one attempt at one run."""

    def __init__(self, run: Run, reporter: Reporter) -> None:
        self.run, self.reporter = run, reporter
        n_steps, done = run.n_steps, run.step
        self.every = max(1, n_steps // N_ROWS)
        self.probe_every = self.every * max(1, round(n_steps / self.every / N_PROBES))
        run.probe_every = self.probe_every
        run.memory = {"tokens": 0, "loss": 0.0, "n_losses": 0, **run.memory}
        self._began = (done, run.seconds)
        self._busy, self._handled_at = 0.0, time.monotonic()
        self._window = deque([(0.0, self._tokens)], maxlen=SPEED_ROWS + 1)
        self.journal = Journal(run.folder, last_step=done)
        if (n := self.journal.n_cut) > 0:
            last = f"goes on behind step {done}, the last one saved; {n} lines of metrics"
            print(f"{last} behind it are measured again", file=sys.stderr, flush=True)
        self.events = Events(run.folder, attempt=reporter.status.attempt, last_step=done)
        reporter.write(
            activity="training",
            step=done,
            n_steps=n_steps,
            saved_step=done,
            seconds=run.seconds,
            tokens=self._tokens,
            n_parameters=run.n_parameters,
            baseline=run.kind.baseline(run.data),
        )

    def step(self, record: StepRecord) -> None:
        """Take note of a step; write if its line is due."""
        self._busy += time.monotonic() - self._handled_at
        memory = self.run.memory
        memory["tokens"] += record.n_tokens
        memory["loss"] += record.loss
        memory["n_losses"] += 1
        last = record.step == self.run.n_steps
        if record.step % self.every == 0 or last:
            self._write(record, probe=record.step % self.probe_every == 0 or last)
        elif self.reporter.is_due:
            self.reporter.write(step=record.step, seconds=self.run.seconds)
        self._handled_at = time.monotonic()

    def save(self) -> None:
        """Save the run's state, behind the metrics that belong to it."""
        self.journal.sync()
        save(self.run)
        step = self.run.step
        self.reporter.write(step=step, saved_step=step, seconds=self.run.seconds)

    def close(self) -> None:
        self.journal.close()
        self.events.close()

    @property
    def _tokens(self) -> int:
        return self.run.memory["tokens"]

    def _write(self, record: StepRecord, *, probe: bool) -> None:
        """A line of metrics, of events and of status; with a probe also what it answers."""
        self._window.append((self._busy, self._tokens))
        loss = self.run.memory["loss"] / self.run.memory["n_losses"]
        self.run.memory |= {"loss": 0.0, "n_losses": 0}
        measured: dict[str, Any] = {
            "loss": loss,
            "tokens": self._tokens,
            "seconds": round(self.run.seconds, 3),
            "tokens_per_second": self._speed(),
        }
        row = {"step": record.step, "phase": record.phase, "rate": record.rate_factor, **measured}
        if self.run.settings.where != HERE:
            row["where"] = self.run.settings.where.to_dict()
        scalars = {"loss": loss, "rate": record.rate_factor}
        if probe:
            found = self.run.probe()
            held_out = {"correct": found.correct, "total": found.total}
            row |= {"held_out": held_out, "sample": found.sample["answer"]}
            scalars["held_out_accuracy"] = found.correct / found.total
            measured["held_out"] = {"step": record.step, **held_out}
            measured["sample"] = {"step": record.step, **found.sample}
            print(self._line(record, loss, found), file=sys.stderr, flush=True)
        self.journal.append(row)
        self.events.add(record.step, **scalars)
        activity = f"training: {record.phase}"
        left = self._seconds_left(record.step)
        self.reporter.update(step=record.step, activity=activity, seconds_left=left, **measured)

    def _speed(self) -> float:
        (before, fewer), (now, more) = self._window[0], self._window[-1]
        return (more - fewer) / max(now - before, 1e-9)

    def _seconds_left(self, step: int) -> float:
        began, before = self._began
        return (self.run.n_steps - step) * (self.run.seconds - before) / (step - began)

    def _line(self, record: StepRecord, loss: float, found: Probe) -> str:
        return (
            f"{iso(time.time())} step {record.step} of {self.run.n_steps} "
            f"({record.phase}), {self.run.seconds:.0f} s, loss {loss:.3f}, "
            f"held-out {found.correct}/{found.total}"
        )
