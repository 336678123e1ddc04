"""A worker with small pools of examples that saves all the time; stands for python on a node.

A number in the file `hold` beside the folder of jobs lets no training pass: it saves behind that
step, makes a few more that are not saved, and waits until the file is gone or has another number.
"""

import math
import sys
import time
from pathlib import Path

from core.jobs import recorder, training, worker
from core.runs import loop
from core.training import examples
from core.training.loop import StepRecord

HOLD, HELD = "hold", "held by a test"
N_UNSAVED = 13  # steps; two lines of metrics among them
SAVE_EVERY_SECONDS = 0.2


def hold_file(runs: Path) -> Path:
    return runs.with_name(HOLD)


def held_step(folder: Path) -> int | None:
    try:
        return int(hold_file(folder.parent).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None


class HeldRecorder(recorder.Recorder):
    """Looks at the file after each step."""

    def step(self, record: StepRecord) -> None:
        super().step(record)
        loop.SAVE_EVERY_SECONDS = SAVE_EVERY_SECONDS
        hold = held_step(self.run.folder)
        if hold is None or record.step < hold:
            return
        if self.run.saved_step < hold:
            loop.SAVE_EVERY_SECONDS = -1.0  # now
        elif record.step < self.run.saved_step + N_UNSAVED:
            loop.SAVE_EVERY_SECONDS = math.inf
        else:
            self.reporter.write(step=record.step, activity=HELD)
            while held_step(self.run.folder) == hold:
                time.sleep(0.02)


if __name__ == "__main__":
    examples.POOL_SIZE = 12
    recorder.N_ROWS, recorder.N_PROBES = 100, 4
    loop.SAVE_EVERY_SECONDS = SAVE_EVERY_SECONDS
    training.NICENESS = 0
    training.Recorder = HeldRecorder
    sys.exit(worker.main(sys.argv[-1:]))
