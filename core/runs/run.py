"""A training in its folder: begun, gone on with, stepped, saved, finished.

The folder is a checkpoint folder with two more files while it trains: run.json (recipe, seed,
steps: fixed at the start) and state.safetensors (whole, replaced at every save, there before the
first step); a third, made.json, where the kind makes something of the data first. Whoever steps a
run decides when to save; a run that dies goes on from its last save. A run whose folder is removed
or replaced ends by GoneError and writes nothing more.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

from core.checkpoints.progress import Progress, silent
from core.checkpoints.shelf import CARD, SNAPSHOTS, VOCABULARY, not_shipped, weights_path
from core.checkpoints.state import load_state, save_state
from core.checkpoints.store import load_checkpoint, read_vocabulary, save_checkpoint, save_weights
from core.data.vocabulary import Vocabulary
from core.files import read_json, write_json
from core.runs.card import finish_card, machine, measure_snapshots
from core.runs.fine_tuning import describe_start
from core.runs.folder import (
    MADE,
    RUN,
    STATE,
    Anchor,
    Settings,
    read_settings,
    refuse_lost,
    write_settings,
)
from core.runs.kinds import Kind, kind_of, kind_of_dict
from core.runs.speed import steps_for_minutes
from core.runs.under_way import Run
from core.training.loop import StepRecord, Trainer
from core.training.ranges import ASKED, MOST_STEPS, refuse_outside
from core.training.recipe import Recipe
from core.training.team import team_of
from core.training.where import HERE, Where


def start_run(
    recipe: Recipe,
    folder: Path,
    *,
    minutes: float | None,
    steps: int | None,
    seed: int,
    corpus_folder: Path | None,
    command: Callable[[int], str],
    tuning: bool = False,
    most_steps: int | None = None,
    start_from: Path | None = None,
    make_folder: bool = True,
    told: Progress = silent,
    where: Where = HERE,
) -> Run:
    """A new run in a folder without one; minutes become steps by a short measurement.

    `command` says for a number of steps what repeats the run. With `tuning` only what its kind
    allows for is measured: dev and test stay unseen. `start_from` is the checkpoint whose
    parameters and vocabulary it begins with. Without `make_folder` the folder must be there.
    `told` hears what is made before the first step. `where` it runs is kept with it.
    Raises ValueError if the folder holds a checkpoint, or what another run has left.
    """
    if (folder / CARD).exists() and not not_shipped(folder):  # its command may be repeated there
        raise ValueError(f"{folder} already holds a checkpoint: name another folder")
    refuse_lost(folder)
    refuse_outside({"seed": seed, "steps": steps, "minutes": minutes}, ASKED)
    kind = kind_of(recipe)
    data = kind.load_data(recipe, corpus_folder)
    team = team_of(where)
    digest = data.digest
    made = team.of_first(kind.make(recipe, data, seed, told) if team.is_first else {})
    data = kind.with_made(data, made) if made else data
    vocabulary, weights = _beginning(kind, recipe, data, start_from)
    make = kind.make_trainers(recipe, data, vocabulary, seed, weights, where=where)
    n_steps = _n_steps(recipe, make, minutes=minutes, steps=steps, most_steps=most_steps)
    trainer = make(n_steps)
    settings = Settings(
        recipe=recipe.to_dict(),
        seed=seed,
        n_steps=n_steps,
        data_sha256=digest,
        corpus_folder=None if corpus_folder is None else str(corpus_folder.resolve()),
        tuning=tuning,
        command=command(n_steps),
        start_from=None if start_from is None else describe_start(start_from),
        has_made=bool(made),
        where=where,
    )
    if team.is_first:
        if make_folder:
            folder.mkdir(parents=True, exist_ok=True)
        write_json(folder / VOCABULARY, vocabulary.to_dict())
        if made:
            write_json(folder / MADE, made)
        # In this order: a run always has a state, so that a state that is lost is noticed.
        _write_state(folder, trainer, seconds=0.0, memory={})
        write_settings(folder, settings)
    team.wait()
    return Run(folder, settings, kind, recipe, data, vocabulary, trainer, Anchor(folder / RUN))


def resume_run(
    folder: Path, *, corpus_folder: Path | None = None, where: Where | None = None
) -> Run:
    """A run that goes on from its last saved state; `corpus_folder` if the files have moved.

    `where` it goes on; where it was unless told. From then on the run says so.
    Raises ValueError if there is nothing to resume, its state is lost or the data changed.
    """
    settings = read_settings(folder)
    anchor = Anchor(folder / RUN)
    where = settings.where if where is None else where
    kind, recipe = _kind_and_recipe(folder, settings)
    if corpus_folder is None and settings.corpus_folder is not None:
        corpus_folder = Path(settings.corpus_folder)
    data = kind.load_data(recipe, corpus_folder)
    if data.digest != settings.data_sha256:
        raise ValueError(f"{folder}: the corpus has changed since this run began")
    if settings.has_made:
        data = kind.with_made(data, read_json(folder / MADE))
    vocabulary = read_vocabulary(folder / VOCABULARY)
    make = kind.make_trainers(recipe, data, vocabulary, settings.seed, None, where=where)
    trainer = make(settings.n_steps)
    n_numbers = sum(tensor.numel() for tensor in trainer.model.state_dict().values())
    tensors, meta = load_state(folder / STATE, n_numbers=n_numbers)
    trainer.load_state(tensors, meta["cursor"])
    moved = settings.gone_on(where, step=trainer.cursor.step)
    if moved is not settings:
        anchor.check()
        anchor.close()
        trainer.team.wait()  # all have read and checked what is written now
        if trainer.team.is_first:
            write_settings(folder, moved)
        trainer.team.wait()
        anchor = Anchor(folder / RUN)
    return Run(
        folder,
        moved,
        kind,
        recipe,
        data,
        vocabulary,
        trainer,
        anchor,
        saved_step=trainer.cursor.step,
        seconds=meta["seconds"],
        memory=meta.get("memory", {}),
    )


def advance(run: Run) -> Iterator[StepRecord]:
    """Train to the last step; counts the run's seconds and writes its snapshots.

    Raises GoneError after a step during which the folder went away.
    """
    snapshots = _snapshot_steps(run)
    before, started = run.seconds, time.monotonic()

    def is_due(step: int) -> bool:
        return step in snapshots or (run.probe_every > 0 and step % run.probe_every == 0)

    for record in run.trainer.steps(is_due):
        run.seconds = before + time.monotonic() - started
        run.anchor.check()
        if record.step in snapshots and run.writes:
            path = run.folder / SNAPSHOTS / f"{record.step:06d}.safetensors"
            save_weights(path, run.trainer.model, dtype=torch.float16)
        yield record


def save(run: Run) -> None:
    """Replace the state by the present one; only between two steps. Raises GoneError."""
    run.anchor.check()
    if run.writes:
        _write_state(run.folder, run.trainer, seconds=run.seconds, memory=run.memory)
    run.saved_step = run.step


def finish(run: Run) -> dict[str, Any]:
    """Turn the folder of a run at its last step into a checkpoint; returns the card.

    Raises GoneError if the folder goes away before it is one.
    """
    settings, kind, check = run.settings, run.kind, run.anchor.check
    card: dict[str, Any] = {
        "name": run.folder.name,
        **settings.for_card(),
        "seconds": round(run.seconds, 2),
        "machine": machine(settings.where.device),
        "n_parameters": run.n_parameters,
        "dtype": "float16",
        **kind.tells(run.data),
    }
    if settings.start_from is not None:
        card["start_from"] = settings.start_from
    if settings.has_made:
        card |= kind.card(read_json(run.folder / MADE))
    check()
    save_checkpoint(run.folder, run.trainer.model, run.vocabulary, card)
    splits = kind.tuning_splits if settings.tuning else kind.splits
    card = finish_card(run.folder, card, kind, run.data, splits, check)
    if not settings.tuning:
        measure_snapshots(run.folder, card, kind, run.data, _snapshot_steps(run), check)
    check()
    run.anchor.close()
    # In this order: a run without a state could not be told from one that has lost it.
    for name in (RUN, STATE, MADE):
        (run.folder / name).unlink(missing_ok=True)
    return card


def _beginning(
    kind: Kind, recipe: Recipe, data: Any, start_from: Path | None
) -> tuple[Vocabulary, Path | None]:
    """The vocabulary, and the file of the first parameters if they are not the seed's own."""
    if start_from is None:
        return kind.make_vocabulary(recipe, data), None
    return load_checkpoint(start_from).vocabulary, weights_path(start_from)


def _n_steps(
    recipe: Recipe,
    make_trainer: Callable[[int], Trainer],
    *,
    minutes: float | None,
    steps: int | None,
    most_steps: int | None,
) -> int:
    """As many as told, or as the minutes give; else the recipe's own length."""
    n_steps = recipe.n_steps if steps is None and minutes is None else steps
    if n_steps is not None:
        return n_steps
    wanted = recipe.minutes if minutes is None else minutes
    found = steps_for_minutes(make_trainer, wanted, clock=time.perf_counter)
    return min(found, MOST_STEPS if most_steps is None else most_steps)


def _write_state(folder: Path, trainer: Trainer, *, seconds: float, memory: dict[str, Any]) -> None:
    tensors, cursor = trainer.state()
    save_state(folder / STATE, tensors, {"cursor": cursor, "seconds": seconds, "memory": memory})


def _kind_and_recipe(folder: Path, settings: Settings) -> tuple[Kind, Recipe]:
    """Raises ValueError, also for a model that could not be made."""
    try:
        kind = kind_of_dict(settings.recipe)
        return kind, kind.read_recipe(settings.recipe)
    except ValueError as error:
        raise ValueError(f"{folder / RUN}: {error}") from None


def _snapshot_steps(run: Run) -> set[int]:
    """Dense early and sparse late: each snapshot lies about twice as far as the one before."""
    n, n_steps = run.recipe.n_snapshots, run.n_steps
    return {max(1, round(n_steps / 2 ** (n - 1 - i))) for i in range(n)}
