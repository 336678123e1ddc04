"""Seconds for a million draws of the exercise's setting, and their ratio to the normals alone.

Run from the repository: python tests/benchmarks/montecarlo.py. Setting: n = 6 keys, two heads,
d = 64, β = 10, ρ = ½; without noise (one normal a draw) and with α = 0.01 (n · rank(Q) = 12).
Targets: at most 1 second and at most 3 times the normals alone. Best of several runs, taken in
turns, processor seconds of this process beside those of the clock.
"""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from core.devices import processor_name
from core.montecarlo.sample import sample
from core.montecarlo.scores import make_plan
from core.montecarlo.spec import PerturbationSpec

N_DRAWS = 1_000_000
REPEATS = 7


def main() -> None:
    """Print the two figures for both settings."""
    print(
        f"{processor_name()}, {os.cpu_count()} cores, numpy {np.__version__}, {N_DRAWS:,} draws, "
        f"best of {REPEATS}"
    )
    for noise_variance in (0.0, 0.01):
        spec = PerturbationSpec(heads="two", noise_variance=noise_variance, n_draws=N_DRAWS)
        n_normals = make_plan(spec).n_normals
        normals = np.empty(N_DRAWS * n_normals)
        whole, alone = best_of(
            lambda spec=spec: sample(spec),
            lambda out=normals: np.random.default_rng(0).standard_normal(out=out),
        )
        print(
            f"α = {noise_variance:g}, {n_normals} normals a draw: {whole[0]:.3f} s "
            f"(processor {whole[1]:.3f} s), the normals alone {alone[0]:.3f} s "
            f"(processor {alone[1]:.3f} s): ratio {whole[0] / alone[0]:.2f} "
            f"(processor {whole[1] / alone[1]:.2f})"
        )


def best_of(*calls: Callable[[], object]) -> list[tuple[float, float]]:
    """(seconds by the clock, processor seconds) of each call, the least of all repeats."""
    times: list[list[tuple[float, float]]] = [[] for _ in calls]
    for _ in range(REPEATS + 1):
        for call, taken in zip(calls, times, strict=True):
            clock, processor = time.perf_counter(), time.process_time()
            call()
            taken.append((time.perf_counter() - clock, time.process_time() - processor))
    return [
        (min(clock for clock, _ in taken[1:]), min(processor for _, processor in taken[1:]))
        for taken in times
    ]


if __name__ == "__main__":
    main()
