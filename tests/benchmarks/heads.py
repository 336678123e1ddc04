"""How long the effect of every single head takes: 500 dev questions times 16 heads, on 2 cores.

    python tests/benchmarks/heads.py [--questions 500] [--threads 2] [NAME …]

Not a test: the figures belong to the machine that is printed with them, and mean little unless it
is otherwise quiet (its load is printed too). CPU seconds are those of all threads together.
"""

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402

from core.checkpoints.store import Checkpoint, load_checkpoint  # noqa: E402
from core.data.people import Question  # noqa: E402
from core.data.task import NOTABLE  # noqa: E402
from core.inspection.ablate import (  # noqa: E402
    Effect,
    effect,
    head_means,
)
from core.inspection.answered import answered  # noqa: E402
from core.inspection.attribution import mean_attribution  # noqa: E402
from core.inspection.heads import EVERY_HEAD_ON, HeadsOff, every_head  # noqa: E402
from core.inspection.split_readings import read_split  # noqa: E402
from core.paths import CHECKPOINTS  # noqa: E402

NAMES = ("notable-pretrained", "notable-scratch")
N_QUESTIONS, MOST_SECONDS = 500, 60
Result = TypeVar("Result")


def main() -> None:
    """Print the seconds of each part, and of the ablations beside their bar."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=NAMES, metavar="NAME")
    parser.add_argument("--questions", type=int, default=N_QUESTIONS)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print(
        f"{platform.node()}: {os.cpu_count()} cores, {options.threads} threads, torch "
        f"{torch.__version__}, load {os.getloadavg()[0]:.1f}"
    )
    asked = NOTABLE.corpus(n_sentences=6, folder=None).dev[: options.questions]
    for name in options.names:
        measure(load_checkpoint(CHECKPOINTS / name), asked)


def measure(stored: Checkpoint, asked: list[Question]) -> None:
    """One checkpoint: what comes before, every head by zero, every head by its mean."""
    model, kind = stored.model, stored.vocabulary.kind
    heads = every_head(model.shape)
    print(f"{stored.name}: {len(asked)} questions, {len(heads)} heads, {kind}")
    known = timed("answers and their log-probabilities", lambda: answered(stored, asked))
    timed("scores, patterns and contributions", lambda: read_split(stored, known))
    timed("direct attribution", lambda: mean_attribution(model, known))
    means = timed("means of every head", lambda: head_means(model, known))

    def each_off(off: HeadsOff) -> list[Effect]:
        return [effect(stored, known, replace(off, heads=(head,))) for head in heads]

    zero = timed(f"every head off, zero (bar {MOST_SECONDS} s)", lambda: each_off(EVERY_HEAD_ON))
    by_mean = HeadsOff(mode="mean", means=means)
    timed(f"every head off, mean (bar {MOST_SECONDS} s)", lambda: each_off(by_mean))
    changed = sum(int(found.changed.sum()) for found in zero) / len(zero)
    print(f"  answers that change without a head: {changed:.1f} of {len(asked)} on average")


def timed(what: str, call: Callable[[], Result]) -> Result:
    """Call once and print how long it took."""
    started, cpu = time.perf_counter(), time.process_time()
    result = call()
    seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu
    print(f"  {what}: {seconds:.2f} s, {cpu_seconds:.2f} s of CPU", flush=True)
    return result


if __name__ == "__main__":
    main()
