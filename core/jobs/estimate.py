"""How fast a training would be, measured for a moment in a process of its own.

So the caller needs no torch, and its threads are left alone. That process runs this module as
`python -m core.jobs.estimate`: a spec on standard input, its estimate on standard output.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from core.bench.estimate import estimate as bench_estimate
from core.devices import numbered, resolve_device
from core.jobs.launcher import quiet_threads
from core.jobs.spec import TrainSpec, check, corpus_folder, spec_from_dict
from core.jobs.state import Job
from core.jobs.status import sentence
from core.paths import ROOT
from core.pictures.sweep_spec import seconds_of as sweep_seconds

TIMEOUT_SECONDS = 180.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingEstimate:
    """Size and speed; `seconds` are those of the steps alone.

    Loading, the answers on the way and the measuring at the end come on top. Whatever else runs
    meanwhile slows the measurement down as it would slow down the job.
    """

    n_parameters: int
    n_steps: int
    steps_per_second: float
    tokens_per_second: float
    seconds: float


def estimate(spec: TrainSpec) -> TrainingEstimate:
    """A few steps of this training on this machine. Raises ValueError if they fail."""
    check(spec)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "core.jobs.estimate"],
            input=json.dumps(spec.to_dict()),
            capture_output=True,
            check=False,
            cwd=ROOT,
            encoding="utf-8",
            env={**os.environ, **quiet_threads(spec.threads)},
            timeout=TIMEOUT_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise ValueError(f"a few steps took more than {TIMEOUT_SECONDS:.0f} s") from None
    said = done.stdout.splitlines() or done.stderr.splitlines() or ["no answer"]
    if done.returncode:
        raise ValueError(f"a few steps could not be measured: {said[-1]}")
    return TrainingEstimate(**json.loads(said[-1]))


def seconds_ahead(jobs: Iterable[Job], device: str) -> float | None:
    """How long the jobs of a device here will take that come before a new one; None if unknown."""
    total = 0.0
    for job in jobs:
        if job.is_active and job.there is None and job.slot == numbered(device):
            left = _seconds_left(job)
            if left is None:
                return None
            total += left
    return total


def _seconds_left(job: Job) -> float | None:
    if job.status is not None and job.status.seconds_left is not None:
        return job.status.seconds_left
    if job.state == "queued" and job.bench is not None:
        return bench_estimate(job.bench.spec).seconds
    if job.state == "queued" and job.look is not None:
        return sweep_seconds(job.look.spec)
    if job.state != "queued" or job.spec is None or job.spec.minutes is None:
        return None
    return 60 * job.spec.minutes * (1 - job.progress)


def main() -> int:
    """Print one JSON object; or one sentence, and 1 is returned."""
    try:
        print(json.dumps(asdict(measure(spec_from_dict(json.load(sys.stdin))))))
    except Exception as error:  # noqa: BLE001 - whatever it was, the caller has to say so
        print(sentence(error))
        return 1
    return 0


def measure(spec: TrainSpec) -> TrainingEstimate:
    """Time a few steps of a throw-away training, here and now."""
    import torch

    from core.runs.kinds import kind_of
    from core.runs.speed import TRIAL_STEPS, measure_speed

    resolve_device(spec.device)
    torch.set_num_threads(spec.threads)
    kind, recipe = kind_of(spec.recipe), spec.recipe
    data = kind.load_data(recipe, corpus_folder(recipe))
    vocabulary = kind.make_vocabulary(recipe, data)
    make = kind.make_trainers(recipe, data, vocabulary, spec.seed, None, where=spec.where)
    trainer = make(TRIAL_STEPS)
    speed = measure_speed(trainer, clock=time.perf_counter)
    by_time = round((spec.minutes or 0) * 60 * speed.steps_per_second)
    n_steps = by_time if spec.steps is None else spec.steps
    return TrainingEstimate(
        n_parameters=trainer.model.n_parameters,
        n_steps=max(1, min(n_steps, spec.limits.steps)),
        steps_per_second=speed.steps_per_second,
        tokens_per_second=speed.tokens_per_second,
        seconds=n_steps / speed.steps_per_second,
    )


if __name__ == "__main__":
    sys.exit(main())
