"""Tokens a second of a training in one process and in two, on this machine's processor.

    python tests/benchmarks/processes.py [--preset notable-small] [--processes 1 2]

Each is measured as `train --processes N` runs it, with the machine's threads shared out. On one
processor two processes can hardly win: the numbers say what sharing out costs.
"""

import argparse
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from core.jobs.ranks import speaking  # noqa: E402
from core.jobs.torchrun import run_ranks  # noqa: E402
from core.runs.card import machine  # noqa: E402
from core.runs.kinds import kind_of  # noqa: E402
from core.runs.speed import TRIAL_STEPS, measure_speed  # noqa: E402
from core.training.presets import preset  # noqa: E402
from core.training.team import joined  # noqa: E402
from core.training.where import Where  # noqa: E402


def measure(folder: Path, name: str, n_processes: int) -> None:
    """One of the processes: a few steps, and how fast they were."""
    where = Where(processes=n_processes)
    with speaking(folder) as said, joined(where):
        recipe = preset(name)
        kind = kind_of(recipe)
        data = kind.load_data(recipe, None)
        vocabulary = kind.make_vocabulary(recipe, data)
        trainer = kind.make_trainers(recipe, data, vocabulary, 0, None, where=where)(TRIAL_STEPS)
        speed = measure_speed(trainer, clock=time.perf_counter)
        said |= {"steps": speed.steps_per_second, "tokens": speed.tokens_per_second}
        said["machine"] = machine()


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed in one process and in two.")
    parser.add_argument("--preset", default="notable-small")
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--ranks", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ranks is not None:
        measure(options.ranks, options.preset, options.processes[0])
        return
    for n in options.processes:
        arguments = [__file__, "--preset", options.preset, "--processes", str(n), "--ranks"]
        said = run_ranks(lambda folder, given=arguments: [*given, str(folder)], n)
        print(
            f"{n} process{'es' * (n > 1)}: {said['steps']:.2f} steps/s, "
            f"{said['tokens']:,.0f} tokens/s ({said['machine']})",
            flush=True,
        )


if __name__ == "__main__":
    main()
