"""The lesson: the same model twice, within five minutes, found again whatever it is called."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from core.jobs import actions
from core.jobs.launcher import Launcher
from core.jobs.lesson import lesson_runs, lesson_specs
from core.jobs.spec import TrainSpec
from core.jobs.state import list_jobs


def test_both_runs_train_the_same_model_and_only_one_reads_sentences():
    scratch, pretrained = lesson_specs()
    assert scratch.recipe.model_config(100) == pretrained.recipe.model_config(100)
    assert scratch.recipe.vocabulary == pretrained.recipe.vocabulary
    assert scratch.seed == pretrained.seed
    mixtures = [
        {kind for phase in spec.recipe.phases for kind, part in phase.mixture.items() if part}
        for spec in (scratch, pretrained)
    ]
    assert mixtures[0] == {"questions"} < mixtures[1]


def test_the_times_leave_some_of_the_five_minutes_for_loading_and_measuring():
    assert sum(spec.minutes or 99 for spec in lesson_specs()) <= 4


def test_the_newest_run_of_each_is_found_by_what_it_trains(
    runs: Path, launcher: Launcher, start: Callable[..., Path]
):
    specs = lesson_specs()
    assert lesson_runs(list_jobs(runs), specs) == (None, None)
    start()
    scratch, pretrained = specs
    others = (replace(scratch, minutes=1.0), replace(scratch, preset="notable-small"))
    ids = [actions.start(runs, spec, launcher) for spec in (scratch, *others, pretrained)]
    assert _found(runs, specs) == [ids[0], ids[3]]
    again = actions.start(runs, replace(scratch, name="my own"), launcher)
    newest = max(again, ids[0])  # jobs of one second are sorted by their random digits
    assert _found(runs, specs) == [newest, ids[3]]


def _found(runs: Path, specs: tuple[TrainSpec, ...]) -> list[str]:
    return [job.id for job in lesson_runs(list_jobs(runs), specs) if job is not None]
