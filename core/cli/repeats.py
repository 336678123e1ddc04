"""Trainings that a table is made of: each is trained once, and goes on where it was stopped."""

import argparse
from pathlib import Path
from typing import Any

from core.checkpoints.shelf import CARD
from core.cli.arguments import named_file
from core.cli.train import begin, tell, train
from core.data.task import TASKS
from core.files import read_json
from core.paths import ASSETS
from core.runs.folder import RUN
from core.runs.run import resume_run
from core.training.recipe import Recipe, recipe_from_dict

TABLES = ASSETS / "report_card"


def add_table(parser: argparse.ArgumentParser, *, minutes: float, runs: Path, out: Path) -> None:
    """The options that every table of trainings has."""
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="the course's own files")
    parser.add_argument("--minutes", type=float, default=minutes, help="of each training")
    parser.add_argument("--runs", type=Path, default=runs, metavar="DIR", help="goes on with these")
    parser.add_argument("--out", type=named_file, default=out, metavar="FILE")
    parser.add_argument("--json", action="store_true", help="one JSON object to standard output")


def trained(
    recipe: Recipe,
    options: argparse.Namespace,
    *,
    seed: int,
    tuning: bool,
    steps: int | None = None,
) -> dict[str, Any]:
    """The card of a finished training, which is begun or continued if need be.

    A new one has as many steps as the minutes of `options` give, or `steps`. Its folder below
    `options.runs` is named after recipe, minutes and seed, so that other lengths are other runs.
    Raises ValueError if the folder holds another training.
    """
    folder: Path = options.runs / f"{recipe.name}-{options.minutes:g}min-{seed}"
    if (folder / CARD).exists() and not (folder / RUN).exists():
        return _finished(folder, recipe, options, seed=seed, steps=steps)
    tell(f"{folder.name}:")
    if (folder / RUN).exists():
        run = resume_run(folder, corpus_folder=options.corpus)
    else:
        run = begin(
            recipe,
            folder,
            minutes=options.minutes if steps is None else None,
            steps=steps,
            seed=seed,
            corpus_folder=options.corpus,
            tuning=tuning,
        )
    return train(run, log=tell)


def _finished(
    folder: Path, recipe: Recipe, options: argparse.Namespace, *, seed: int, steps: int | None
) -> dict[str, Any]:
    card = read_json(folder / CARD)
    corpus = TASKS[recipe.corpus].corpus(n_sentences=recipe.n_sentences, folder=options.corpus)
    wanted = (seed, recipe, corpus.digest, card["n_steps"] if steps is None else steps)
    found = (card["seed"], recipe_from_dict(card["recipe"]), card["data_sha256"], card["n_steps"])
    if found != wanted:
        raise ValueError(f"{folder} holds another training: name other --runs")
    return card
