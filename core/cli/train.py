"""`python -m core train`: consumes the training generator and keeps what it yields on disk.

A run's folder is a checkpoint folder with two more files while it trains: run.json (recipe, seed,
steps: fixed at the start) and state.safetensors (whole, replaced at every save).
"""

import platform
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from core.checkpoints.files import read_json, write_json
from core.checkpoints.state import load_state, save_state
from core.checkpoints.store import (
    CARD,
    SNAPSHOTS,
    VOCABULARY,
    CheckpointError,
    load_checkpoint,
    save_checkpoint,
    save_weights,
    write_card,
)
from core.cli.places import load_corpus
from core.cli.stopping import stop_requests
from core.data.corpus import TrainingCorpus, make_vocabulary
from core.data.people import Question
from core.data.vocabulary import Vocabulary, vocabulary_from_dict
from core.evaluation.accuracy import evaluate
from core.models.gpt import GPT
from core.training.examples import training_data
from core.training.loop import StepRecord, Trainer, TrainingDivergedError, steps_for_minutes
from core.training.presets import preset
from core.training.recipe import Recipe, recipe_from_dict

RUN, STATE = "run.json", "state.safetensors"
CARRIED = ("recipe", "seed", "n_steps", "data_sha256", "command")  # from run.json into the card
SAVE_EVERY_SECONDS = 60.0
N_PROBES = 20


@dataclass(slots=True)
class Run:
    """A training under way: where it writes, what it trains, how long it took so far."""

    folder: Path
    settings: dict[str, Any]
    recipe: Recipe
    corpus: TrainingCorpus
    vocabulary: Vocabulary
    trainer: Trainer
    seconds: float = 0.0

    @property
    def model(self) -> GPT:
        return self.trainer.model


def start_run(
    name: str,
    folder: Path,
    *,
    minutes: float | None,
    steps: int | None,
    seed: int,
    corpus_folder: Path | None,
    tuning: bool = False,
) -> Run:
    """A new run in an empty folder; minutes become steps by a short measurement.

    With `tuning` only held-out training questions are measured: dev and test stay unseen.
    """
    recipe = preset(name)
    if (folder / RUN).exists():
        raise ValueError(f"{folder} already holds a run: continue it with --resume {folder}")
    if (folder / CARD).exists():
        raise ValueError(f"{folder} already holds a checkpoint: name another folder")
    corpus = load_corpus(recipe.corpus, n_sentences=recipe.n_sentences, folder=corpus_folder)
    vocabulary = make_vocabulary(corpus, recipe.vocabulary, n_pieces=recipe.n_pieces)
    make = _trainer_factory(recipe, corpus, vocabulary, seed)
    if steps is None:
        wanted = recipe.minutes if minutes is None else minutes
        steps = steps_for_minutes(lambda: make(10_000), wanted, clock=time.perf_counter)
    trainer = make(steps)
    settings = {
        "recipe": asdict(recipe),
        "seed": seed,
        "n_steps": steps,
        "data_sha256": corpus.digest,
        "corpus_folder": None if corpus_folder is None else str(corpus_folder.resolve()),
        "tuning": tuning,
        "command": _command(recipe, folder, steps=steps, seed=seed, tuning=tuning),
    }
    write_json(folder / VOCABULARY, vocabulary.to_dict())
    write_json(folder / RUN, settings)
    return Run(folder, settings, recipe, corpus, vocabulary, trainer)


def resume_run(folder: Path, *, corpus_folder: Path | None = None) -> Run:
    """A run that goes on from its last saved state; `corpus_folder` if the files have moved.

    Raises ValueError if there is nothing to resume or the data changed.
    """
    settings = _settings(folder)
    recipe = recipe_from_dict(settings["recipe"])
    if corpus_folder is None and settings["corpus_folder"] is not None:
        corpus_folder = Path(settings["corpus_folder"])
    corpus = load_corpus(recipe.corpus, n_sentences=recipe.n_sentences, folder=corpus_folder)
    if corpus.digest != settings["data_sha256"]:
        raise ValueError(f"{folder}: the corpus has changed since this run began")
    vocabulary = vocabulary_from_dict(read_json(folder / VOCABULARY))
    trainer = _trainer_factory(recipe, corpus, vocabulary, settings["seed"])(settings["n_steps"])
    run = Run(folder, settings, recipe, corpus, vocabulary, trainer)
    if (folder / STATE).exists():
        tensors, meta = load_state(folder / STATE)
        trainer.load_state(tensors, meta["cursor"])
        run.seconds = meta["seconds"]
    return run


def train(run: Run, *, log: Callable[[str], None]) -> dict[str, Any]:
    """Train to the end and ship the result into the run's folder; returns the card.

    Saves about once a minute, at the end and when it is interrupted, always between two steps; a
    run that dies otherwise goes on from its last save, or from the start if there is none yet.
    """
    n_steps = run.trainer.n_steps
    every = max(1, n_steps // N_PROBES)
    snapshots = _snapshot_steps(run.recipe, n_steps)
    last_save = started = time.monotonic()
    before, losses = run.seconds, list[float]()
    bar = tqdm(
        total=n_steps, initial=run.trainer.cursor.step, unit="step", mininterval=2.0, disable=None
    )
    with bar, stop_requests() as stop:
        for record in _steps(run):
            now = time.monotonic()
            run.seconds = before + now - started
            losses.append(record.loss)
            bar.update()
            if record.step in snapshots:
                _save_snapshot(run, record.step)
            if record.step % every == 0 or record.step == n_steps:
                log(_progress(run, record, losses))
                losses.clear()
            if now - last_save > SAVE_EVERY_SECONDS or stop.is_set() or record.step == n_steps:
                _save(run)
                last_save = now
            if stop.is_set():
                raise ValueError(f"stopped; continue with --resume {run.folder}")
    return _finish(run)


def finish_card(folder: Path, card: dict[str, Any], corpus: TrainingCorpus) -> dict[str, Any]:
    """Measure dev and test on what is stored and write the figures into the card."""
    stored = load_checkpoint(folder)
    figures = {
        split: _figure(stored.model, stored.vocabulary, questions)
        for split, questions in (("dev", corpus.dev), ("test", corpus.test))
        if all(question.answer is not None for question in questions)
    }
    card = {**card, "figures": {**card.get("figures", {}), **figures}}
    write_card(folder, card)
    return card


def _command(recipe: Recipe, folder: Path, *, steps: int, seed: int, tuning: bool) -> str:
    """What repeats the run anywhere; the course's files are where A5_DATA says."""
    parts = [f"python -m core train --preset {recipe.name} --steps {steps} --seed {seed}"]
    if recipe.corpus == "course":
        parts.append('--corpus "$A5_DATA"')
    if tuning:
        parts.append("--tuning")
    return " ".join([*parts, f"--out checkpoints/{folder.name}"])


def _trainer_factory(
    recipe: Recipe, corpus: TrainingCorpus, vocabulary: Vocabulary, seed: int
) -> Callable[[int], Trainer]:
    data = training_data(corpus.documents, corpus.train, vocabulary, recipe)

    def make(n_steps: int) -> Trainer:
        generator = torch.Generator().manual_seed(seed)
        model = GPT(recipe.model_config(vocabulary.size), generator=generator)
        return Trainer(model, data, recipe, n_steps=n_steps, seed=seed)

    return make


def _settings(folder: Path) -> dict[str, Any]:
    if not (folder / RUN).exists():
        finished = (folder / CARD).exists()
        raise ValueError(f"{folder}: " + ("this run is finished" if finished else "no run is here"))
    settings = read_json(folder / RUN)
    if missing := [name for name in (*CARRIED, "corpus_folder", "tuning") if name not in settings]:
        raise ValueError(f"{folder / RUN}: {', '.join(missing)} is missing")
    return settings


def _steps(run: Run) -> Iterator[StepRecord]:
    try:
        yield from run.trainer.steps()
    except TrainingDivergedError as error:
        state = run.folder / STATE
        kept = f"the last good state is in {state}" if state.exists() else "nothing was saved yet"
        raise ValueError(f"{error}; {kept}") from None


def _progress(run: Run, record: StepRecord, losses: list[float]) -> str:
    held_out = evaluate(run.model, run.vocabulary, run.corpus.held_out)
    mean = sum(losses) / len(losses)
    return (
        f"step {record.step} of {run.trainer.n_steps} ({record.phase}), {run.seconds:.0f} s, "
        f"loss {mean:.3f}, held-out {held_out.correct}/{held_out.total}"
    )


def _save(run: Run) -> None:
    tensors, cursor = run.trainer.state()
    save_state(run.folder / STATE, tensors, {"cursor": cursor, "seconds": run.seconds})


def _snapshot_steps(recipe: Recipe, n_steps: int) -> set[int]:
    """Dense early and sparse late: each snapshot lies about twice as far as the one before."""
    n = recipe.n_snapshots
    return {max(1, round(n_steps / 2 ** (n - 1 - i))) for i in range(n)}


def _save_snapshot(run: Run, step: int) -> None:
    save_weights(run.folder / SNAPSHOTS / f"{step:06d}.safetensors", run.model, dtype=torch.float16)


def _finish(run: Run) -> dict[str, Any]:
    held_out = _figure(run.model, run.vocabulary, run.corpus.held_out)
    card: dict[str, Any] = {
        "name": run.folder.name,
        **{key: value for key, value in run.settings.items() if key in CARRIED},
        "seconds": round(run.seconds, 1),
        "machine": machine(),
        "n_parameters": run.model.n_parameters,
        "dtype": "float16",
        "figures": {"held_out": held_out},
    }
    save_checkpoint(run.folder, run.model, run.vocabulary, card)
    if not run.settings["tuning"]:
        card = finish_card(run.folder, card, run.corpus)
        _measure_snapshots(run, card)
    # In this order: a run without a state would start again from the beginning.
    (run.folder / RUN).unlink(missing_ok=True)
    (run.folder / STATE).unlink(missing_ok=True)
    return card


def _measure_snapshots(run: Run, card: dict[str, Any]) -> None:
    curve: list[dict[str, Any]] = []
    for step in sorted(_snapshot_steps(run.recipe, run.trainer.n_steps)):
        stored = load_checkpoint(run.folder, snapshot=step)
        curve.append({"step": step, **_figure(stored.model, stored.vocabulary, run.corpus.dev)})
    if curve:
        write_card(run.folder, {**card, "snapshots": curve})


def _figure(model: GPT, vocabulary: Vocabulary, questions: list[Question]) -> dict[str, Any]:
    result = evaluate(model, vocabulary, questions)
    return {
        "correct": result.correct,
        "total": result.total,
        "accuracy": round(result.accuracy, 4),
    }


def machine() -> str:
    """What a measured number is stored with."""
    return (
        f"{platform.system()} {platform.machine()}, {torch.get_num_threads()} threads, "
        f"{torch.backends.cpu.get_cpu_capability()}, torch {torch.__version__}"
    )


__all__ = ["CheckpointError", "finish_card", "resume_run", "start_run", "train"]
