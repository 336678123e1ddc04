"""The lesson "what pretraining buys": one model trained twice, and only one of them reads first.

Both runs together take less than five minutes on two cores: the times below, and some seconds
before and after each for loading and measuring. The run without sentences needs less, for after
half a minute it knows the answers to its training questions by heart.
"""

from collections.abc import Iterable, Sequence

from core.jobs.spec import TrainSpec, train_spec
from core.jobs.state import Job
from core.training.presets import preset
from core.training.recipe import Overrides

SCRATCH_MINUTES, PRETRAINED_MINUTES = 0.5, 3.0
SCRATCH_NAME, PRETRAINED_NAME = "Lesson: questions only", "Lesson: sentences first"


def lesson_specs() -> tuple[TrainSpec, TrainSpec]:
    """The run that sees questions only, and the one that is pretrained; they follow each other."""
    small = preset("notable-small")
    scratch = train_spec(
        "notable-scratch",
        name=SCRATCH_NAME,
        minutes=SCRATCH_MINUTES,
        overrides=Overrides(width=small.width, n_layers=small.n_layers, n_heads=small.n_heads),
    )
    return scratch, train_spec(small.name, name=PRETRAINED_NAME, minutes=PRETRAINED_MINUTES)


def lesson_runs(jobs: Iterable[Job], specs: Sequence[TrainSpec]) -> tuple[Job | None, ...]:
    """The newest job of each spec, whatever it is called; `jobs` are the newest first."""
    found = list(jobs)
    return tuple(
        next((job for job in found if _what(job.spec) == _what(spec)), None) for spec in specs
    )


def _what(spec: TrainSpec | None) -> object:
    return None if spec is None else (spec.preset, spec.overrides, spec.minutes, spec.steps)
