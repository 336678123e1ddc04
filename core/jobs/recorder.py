"""What a worker writes down of a run while it steps it: metrics, events, status, a line of log.

Sums that go from one line of metrics to the next live in the run's memory, which is saved with its
state: a run that goes on from there writes the very lines of a run that was never stopped.
"""

import sys
import time
from collections import deque
from typing import Any

from core.data.corpus import TrainingCorpus
from core.evaluation.accuracy import Evaluation, evaluate
from core.evaluation.shares import constant_baseline
from core.jobs.events import Events
from core.jobs.metrics import Journal
from core.jobs.run import Run, save
from core.jobs.state import iso
from core.jobs.status import Reporter
from core.training.loop import StepRecord

N_ROWS, N_PROBES = 400, 20  # about so many lines, and lines with answers, in a run
SPEED_ROWS = 20  # tokens per second are those of so many lines


class Recorder:
    """Writes for one attempt at one run."""

    def __init__(self, run: Run, reporter: Reporter) -> None:
        self.run, self.reporter = run, reporter
        n_steps, done = run.trainer.n_steps, run.trainer.cursor.step
        self.every = max(1, n_steps // N_ROWS)
        self.probe_every = self.every * max(1, round(n_steps / self.every / N_PROBES))
        run.memory = {"tokens": 0, "loss": 0.0, "n_losses": 0, **run.memory}
        self._began = (done, run.seconds)
        self._busy, self._handled_at = 0.0, time.monotonic()
        self._window = deque([(0.0, self._tokens)], maxlen=SPEED_ROWS + 1)
        self.journal = Journal(run.folder, last_step=done)
        if (n := self.journal.n_cut) > 0:
            told = f"goes on behind step {done}, the last one saved; {n} lines of metrics"
            print(f"{told} behind it are measured again", file=sys.stderr, flush=True)
        self.events = Events(run.folder, attempt=reporter.status.attempt, last_step=done)
        reporter.write(
            activity="training",
            step=done,
            n_steps=n_steps,
            saved_step=done,
            seconds=run.seconds,
            tokens=self._tokens,
            n_parameters=run.model.n_parameters,
            baseline=_baseline(run.corpus),
        )

    def step(self, record: StepRecord) -> None:
        """Take note of a step; write if its line is due."""
        self._busy += time.monotonic() - self._handled_at
        memory = self.run.memory
        memory["tokens"] += record.n_tokens
        memory["loss"] += record.loss
        memory["n_losses"] += 1
        last = record.step == self.run.trainer.n_steps
        if record.step % self.every == 0 or last:
            self._write(record, probe=record.step % self.probe_every == 0 or last)
        elif self.reporter.is_due:
            self.reporter.write(step=record.step, seconds=self.run.seconds)
        self._handled_at = time.monotonic()

    def save(self) -> None:
        """Save the run's state, behind the metrics that belong to it."""
        self.journal.sync()
        save(self.run)
        step = self.run.trainer.cursor.step
        self.reporter.write(step=step, saved_step=step, seconds=self.run.seconds)

    def close(self) -> None:
        self.journal.close()
        self.events.close()

    @property
    def _tokens(self) -> int:
        return self.run.memory["tokens"]

    def _write(self, record: StepRecord, *, probe: bool) -> None:
        self._window.append((self._busy, self._tokens))
        loss = self.run.memory["loss"] / self.run.memory["n_losses"]
        self.run.memory |= {"loss": 0.0, "n_losses": 0}
        told: dict[str, Any] = {
            "loss": loss,
            "tokens": self._tokens,
            "seconds": round(self.run.seconds, 3),
            "tokens_per_second": self._speed(),
        }
        row = {"step": record.step, "phase": record.phase, "rate": record.rate_factor, **told}
        scalars = {"loss": loss, "rate": record.rate_factor}
        if probe:
            result = evaluate(self.run.checkpoint, self.run.corpus.held_out)
            held_out = {"correct": result.correct, "total": result.total}
            sample = self._sample(result)
            row |= {"held_out": held_out, "sample": sample["answer"]}
            scalars["held_out_accuracy"] = result.accuracy
            told |= {
                "held_out": {"step": record.step, **held_out},
                "sample": {"step": record.step, **sample},
            }
            print(self._line(record, loss, result), file=sys.stderr, flush=True)
        self.journal.append(row)
        self.events.add(record.step, **scalars)
        activity = f"training: {record.phase}"
        left = self._seconds_left(record.step)
        self.reporter.update(step=record.step, activity=activity, seconds_left=left, **told)

    def _speed(self) -> float:
        (before, fewer), (now, more) = self._window[0], self._window[-1]
        return (more - fewer) / max(now - before, 1e-9)

    def _seconds_left(self, step: int) -> float:
        began, before = self._began
        return (self.run.trainer.n_steps - step) * (self.run.seconds - before) / (step - began)

    def _sample(self, result: Evaluation) -> dict[str, Any]:
        """The answer to the one held-out question that this run is asked again and again."""
        asked = self.run.corpus.held_out
        index: int = self.run.settings["seed"] % len(asked)
        question = asked[index]
        given = result.answers[index].text
        return {"question": question.text, "answer": given, "expected": question.answer}

    def _line(self, record: StepRecord, loss: float, result: Evaluation) -> str:
        return (
            f"{iso(time.time())} step {record.step} of {self.run.trainer.n_steps} "
            f"({record.phase}), {self.run.seconds:.0f} s, loss {loss:.3f}, "
            f"held-out {result.correct}/{result.total}"
        )


def _baseline(corpus: TrainingCorpus) -> dict[str, Any]:
    """What always giving one answer scores on the held-out questions: a line in the chart."""
    place, accuracy = constant_baseline(corpus.train, corpus.held_out)
    return {"answer": place, "accuracy": accuracy}
