"""A worker with small pools of examples that saves all the time; stands for python on a node."""

import sys

from core.jobs import recorder, training, worker
from core.runs import loop
from core.training import examples

if __name__ == "__main__":
    examples.POOL_SIZE = 12
    recorder.N_ROWS, recorder.N_PROBES = 100, 4
    loop.SAVE_EVERY_SECONDS = 0.2
    training.NICENESS = 0
    sys.exit(worker.main(sys.argv[-1:]))
