"""A training in its folder: begun, gone on with, stepped, saved, finished.

The folder is a checkpoint folder with two more files while it trains: run.json (recipe, seed,
steps: fixed at the start) and state.safetensors (whole, replaced at every save, there before the
first step). Whoever steps a run decides when to save; a run that dies goes on from its last save.
A run whose folder is removed or replaced ends by GoneError and writes nothing more.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from core.checkpoints.shelf import CARD, VOCABULARY, WEIGHTS
from core.checkpoints.state import load_state, save_state
from core.checkpoints.store import (
    SNAPSHOTS,
    Checkpoint,
    load_checkpoint,
    load_weights,
    read_vocabulary,
    save_checkpoint,
    save_weights,
)
from core.data.corpus import TrainingCorpus, make_vocabulary
from core.data.task import TASKS
from core.data.vocabulary import Vocabulary
from core.files import read_json, write_json
from core.jobs.anchor import Anchor
from core.jobs.card import EVERY, TUNING, finish_card, machine, measure_snapshots
from core.jobs.origin import origin_of
from core.jobs.saved import RUN, STATE, refuse_lost
from core.models.gpt import GPT
from core.training.examples import training_data
from core.training.loop import StepRecord, Trainer, steps_for_minutes
from core.training.ranges import ASKED, MOST_STEPS, RUNNING, refuse_outside
from core.training.recipe import Recipe, recipe_from_dict

CARRIED = ("recipe", "seed", "n_steps", "data_sha256", "command")  # from run.json into the card


@dataclass(slots=True)
class Run:
    """A training under way: where it writes, what it trains, how long it took so far.

    `memory` is saved with the state for whoever steps the run: plain values only. `anchor` tells
    whether the folder is still there, `saved_step` is the step of the state on the disk.
    """

    folder: Path
    settings: dict[str, Any]
    recipe: Recipe
    corpus: TrainingCorpus
    vocabulary: Vocabulary
    trainer: Trainer
    anchor: Anchor
    saved_step: int = 0
    seconds: float = 0.0
    memory: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def model(self) -> GPT:
        return self.trainer.model

    @property
    def checkpoint(self) -> Checkpoint:
        """What is trained, as it is now, to be asked."""
        return Checkpoint(self.model, self.vocabulary, TASKS[self.recipe.corpus])


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
    origin: Path | None = None,
    make_folder: bool = True,
) -> Run:
    """A new run in a folder without one; minutes become steps by a short measurement.

    `command` says for a number of steps what repeats the run. With `tuning` only held-out
    training questions are measured: dev and test stay unseen. `origin` is the checkpoint whose
    parameters and vocabulary it begins with. Without `make_folder` the folder must be there.
    Raises ValueError if the folder holds a checkpoint, or what another run has left.
    """
    if (folder / CARD).exists():
        raise ValueError(f"{folder} already holds a checkpoint: name another folder")
    refuse_lost(folder)
    refuse_outside({"seed": seed, "steps": steps, "minutes": minutes}, ASKED)
    corpus = TASKS[recipe.corpus].corpus(n_sentences=recipe.n_sentences, folder=corpus_folder)
    begun = None if origin is None else load_checkpoint(origin)
    vocabulary = (
        make_vocabulary(corpus, recipe.vocabulary, n_pieces=recipe.n_pieces)
        if begun is None
        else begun.vocabulary
    )
    make = trainer_factory(recipe, corpus, vocabulary, seed, origin)
    if steps is None and minutes is None:
        steps = recipe.n_steps
    if steps is None:
        wanted = recipe.minutes if minutes is None else minutes
        steps = steps_for_minutes(lambda: make(10_000), wanted, clock=time.perf_counter)
        steps = min(steps, MOST_STEPS if most_steps is None else most_steps)
    trainer = make(steps)
    settings = {
        "recipe": recipe.to_dict(),
        "seed": seed,
        "n_steps": steps,
        "data_sha256": corpus.digest,
        "corpus_folder": None if corpus_folder is None else str(corpus_folder.resolve()),
        "tuning": tuning,
        "command": command(steps),
        "start_from": None if origin is None else origin_of(origin),
    }
    if make_folder:
        folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / VOCABULARY, vocabulary.to_dict())
    # In this order: a run always has a state, so that a state that is lost is noticed.
    _write_state(folder, trainer, seconds=0.0, memory={})
    write_json(folder / RUN, settings)
    return Run(folder, settings, recipe, corpus, vocabulary, trainer, Anchor(folder / RUN))


def resume_run(folder: Path, *, corpus_folder: Path | None = None) -> Run:
    """A run that goes on from its last saved state; `corpus_folder` if the files have moved.

    Raises ValueError if there is nothing to resume, its state is lost or the data changed.
    """
    settings = _settings(folder)
    anchor = Anchor(folder / RUN)
    recipe = _recipe(folder, settings)
    if corpus_folder is None and settings["corpus_folder"] is not None:
        corpus_folder = Path(settings["corpus_folder"])
    corpus = TASKS[recipe.corpus].corpus(n_sentences=recipe.n_sentences, folder=corpus_folder)
    if corpus.digest != settings["data_sha256"]:
        raise ValueError(f"{folder}: the corpus has changed since this run began")
    vocabulary = read_vocabulary(folder / VOCABULARY)
    trainer = trainer_factory(recipe, corpus, vocabulary, settings["seed"])(settings["n_steps"])
    n_numbers = sum(tensor.numel() for tensor in trainer.model.state_dict().values())
    tensors, meta = load_state(folder / STATE, n_numbers=n_numbers)
    trainer.load_state(tensors, meta["cursor"])
    return Run(
        folder,
        settings,
        recipe,
        corpus,
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
    for record in run.trainer.steps():
        run.seconds = before + time.monotonic() - started
        run.anchor.check()
        if record.step in snapshots:
            path = run.folder / SNAPSHOTS / f"{record.step:06d}.safetensors"
            save_weights(path, run.model, dtype=torch.float16)
        yield record


def save(run: Run) -> None:
    """Replace the state by the present one; only between two steps. Raises GoneError."""
    run.anchor.check()
    _write_state(run.folder, run.trainer, seconds=run.seconds, memory=run.memory)
    run.saved_step = run.trainer.cursor.step


def finish(run: Run) -> dict[str, Any]:
    """Turn the folder of a run at its last step into a checkpoint; returns the card.

    Raises GoneError if the folder goes away before it is one.
    """
    card: dict[str, Any] = {
        "name": run.folder.name,
        **{key: value for key, value in run.settings.items() if key in CARRIED},
        "seconds": round(run.seconds, 2),
        "machine": machine(),
        "n_parameters": run.model.n_parameters,
        "dtype": "float16",
    }
    if (origin := run.settings.get("start_from")) is not None:
        card["start_from"] = origin
    check = run.anchor.check
    check()
    save_checkpoint(run.folder, run.model, run.vocabulary, card)
    tuning = run.settings["tuning"]
    card = finish_card(run.folder, card, run.corpus, TUNING if tuning else EVERY, check)
    if not tuning:
        measure_snapshots(run.folder, card, run.corpus, _snapshot_steps(run), check)
    check()
    run.anchor.close()
    # In this order: a run without a state could not be told from one that has lost it.
    (run.folder / RUN).unlink(missing_ok=True)
    (run.folder / STATE).unlink(missing_ok=True)
    return card


def trainer_factory(
    recipe: Recipe,
    corpus: TrainingCorpus,
    vocabulary: Vocabulary,
    seed: int,
    begun: Path | None = None,
) -> Callable[[int], Trainer]:
    """Trainers of a number of steps, each from the seed's own first parameters or `begun`'s."""
    data = training_data(corpus.documents, corpus.train, vocabulary, recipe)

    def make(n_steps: int) -> Trainer:
        generator = torch.Generator().manual_seed(seed)
        model = GPT(recipe.model_config(vocabulary.size), generator=generator)
        if begun is not None:
            load_weights(model, begun / WEIGHTS)
        return Trainer(model, data, recipe, n_steps=n_steps, seed=seed)

    return make


def _write_state(folder: Path, trainer: Trainer, *, seconds: float, memory: dict[str, Any]) -> None:
    tensors, cursor = trainer.state()
    save_state(folder / STATE, tensors, {"cursor": cursor, "seconds": seconds, "memory": memory})


def _settings(folder: Path) -> dict[str, Any]:
    if not (folder / RUN).exists():
        refuse_lost(folder)
        finished = (folder / CARD).exists()
        raise ValueError(f"{folder}: " + ("this run is finished" if finished else "no run is here"))
    settings = read_json(folder / RUN)
    if missing := [name for name in (*CARRIED, "corpus_folder", "tuning") if name not in settings]:
        raise ValueError(f"{folder / RUN}: {', '.join(missing)} is missing")
    refuse_lost(folder)
    try:
        refuse_outside(settings, RUNNING)
    except ValueError as error:
        raise ValueError(f"{folder / RUN}: {error}") from None
    return settings


def _recipe(folder: Path, settings: dict[str, Any]) -> Recipe:
    """Raises ValueError, also for a model that could not be made."""
    try:
        recipe = recipe_from_dict(settings["recipe"])
        recipe.model_config(recipe.n_pieces or 1)
    except ValueError as error:
        raise ValueError(f"{folder / RUN}: {error}") from None
    return recipe


def _snapshot_steps(run: Run) -> set[int]:
    """Dense early and sparse late: each snapshot lies about twice as far as the one before."""
    n, n_steps = run.recipe.n_snapshots, run.trainer.n_steps
    return {max(1, round(n_steps / 2 ** (n - 1 - i))) for i in range(n)}
