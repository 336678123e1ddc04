"""A small training that one process takes alone, or two together as torchrun runs them."""

import os
import signal
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save_file
from torch import Tensor

from core.data import task
from core.data.corpus import make_vocabulary
from core.jobs.ranks import speaking
from core.runs import loop
from core.runs import run as driver
from core.runs.run import Run, resume_run, save, start_run
from core.training import examples, speech
from core.training.examples import training_data
from core.training.loop import Trainer, trainer_factory
from core.training.recipe import Phase, Recipe
from core.training.speech import speech_trainers, speech_vocabulary
from core.training.team import joined
from core.training.where import Where
from tests.tiny_speech import tiny_recipe

TWO = Where(processes=2)
N_STEPS = 50
SIZES: dict[str, Any] = {
    "block_size": 64,
    "n_layers": 1,
    "n_heads": 2,
    "width": 16,
    "n_sentences": 2,
}
MIXED = Phase(name="mixed", share=0.6, shuffled_facts=1, span_corruption=1, questions=1)
ANSWERS = Phase(name="answers", share=0.4, questions=1, answer_only=True)
TINY = Recipe(
    name="tiny",
    phases=(MIXED, ANSWERS),
    vocabulary="char",
    tokens_per_batch=400,
    optimizer="adamw",
    clip_norm=1e6,  # a factor for all gradients would hide a factor between two of them
    n_snapshots=1,
    **SIZES,
)


@dataclass(frozen=True)
class Said:
    frames: NDArray[np.float32]
    text: str


def prepare(people: Path) -> None:
    """Small pools, and the invented people in the place of the shipped ones."""
    task.PEOPLE, examples.POOL_SIZE, speech.POOL_SIZE = people, 12, 12


def reading(recipe: Recipe, where: Where, *, double: bool = False) -> Trainer:
    corpus = task.TASKS["notable"].corpus(n_sentences=2, folder=None)
    vocabulary = make_vocabulary(corpus, "char", n_pieces=0)
    data = training_data(corpus.documents, corpus.train, vocabulary, recipe)
    make = trainer_factory(recipe, data, vocabulary_size=vocabulary.size, seed=0, where=where)
    trainer = make(N_STEPS)
    if double:
        trainer.model.double()
    return trainer


def hearing(where: Where) -> Trainer:
    """Texts of different lengths, so that a mean of means is not the mean. In float64, since CTC
    adds up more than the sixth digit of float32 can bear.
    """
    draw = np.random.default_rng(0)
    data = [
        Said(draw.normal(size=(20 + 9 * i, 40)).astype(np.float32), "ada " * (1 + i % 4))
        for i in range(12)
    ]
    recipe = tiny_recipe(optimizer="adamw", dropout=0.0, clip_norm=1e6, tokens_per_batch=300)
    trainer = speech_trainers(recipe, data, speech_vocabulary(), 0, None, where=where)(4)
    trainer.model.double()
    plain = trainer.loss
    trainer.loss = lambda model, batch: plain(model, replace(batch, frames=batch.frames.double()))
    return trainer


def gradients(trainer: Trainer, name: str) -> dict[str, Tensor]:
    """Of the first step."""
    next(trainer.steps())
    named = trainer.model.named_parameters()
    return {f"{name}.{key}": p.grad for key, p in named if p.grad is not None}


def computed(where: Where) -> dict[str, Tensor]:
    """All that two processes have in common with one."""
    found = gradients(reading(TINY, where), "reading") | gradients(hearing(where), "hearing")
    lonely = replace(TINY, examples_per_batch=1)
    found |= gradients(reading(lonely, where), "one row")
    exact = reading(TINY, where, double=True)
    list(exact.steps())
    found |= {f"weights.{name}": t for name, t in exact.model.state_dict().items()}
    muon = replace(TINY, optimizer="muon", clip_norm=1.0)
    losses = [record.loss for record in reading(muon, where).steps()]
    return found | {"losses": torch.tensor(losses)}


def begin(folder: Path, where: Where) -> Run:
    options: dict[str, Any] = {"minutes": None, "steps": 6, "seed": 0, "corpus_folder": None}
    return start_run(TINY, folder, command=lambda steps: f"train {steps}", where=where, **options)


def take(run: Run, until: int, *, asks: bool = True) -> tuple[str, int]:
    """Step a run until a step at which this process asks to stop; the ending and the step."""
    ending = loop.train(
        run,
        after_step=lambda _: None,
        save=lambda: save(run),
        is_stopped=lambda: asks and run.step == until,
    )
    return ending, run.step


def kill_second_at(step: int, run: Run) -> None:
    """The second process is gone after a step; all before it were saved."""
    loop.SAVE_EVERY_SECONDS = -1.0

    def after_step(record: object) -> None:
        if not run.writes and run.step == step:
            os.kill(os.getpid(), signal.SIGKILL)

    loop.train(run, after_step=after_step, save=lambda: save(run))


def _refuse(*_: object, **__: object) -> None:
    raise AssertionError("only the first process writes")


def main(folder: Path, work: Path, people: Path) -> None:
    torch.set_num_threads(1)
    prepare(people)
    with speaking(folder), joined(TWO) as team:
        save_file(computed(TWO), work / f"{team.rank}.safetensors")
        if not team.is_first:
            for name in ("write_json", "write_settings", "save_state", "save_weights"):
                setattr(driver, name, _refuse)
        stopped = take(begin(work / "stopped", TWO), 3, asks=not team.is_first)
        again = resume_run(work / "alone", where=TWO)
        (work / f"{team.rank}.txt").write_text(f"{stopped} {take(again, 99)}")
        kill_second_at(3, begin(work / "killed", TWO))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
