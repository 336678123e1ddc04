"""`ablation` and `seeds`: what pretraining buys, and how far a figure moves with the seed alone.

Tables of trainings: each is trained once, and goes on where it was stopped. With --on they are jobs
of one sweep, here or on a cluster, which is waited for; with --sweep it is read.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from statistics import mean
from typing import Any

from core.checkpoints.shelf import CARD
from core.cli.arguments import add_device, device_here, named_file
from core.cli.places import add_place
from core.cli.table_sweeps import (
    cards_of_rows,
    cards_of_seeds,
    refuse_mixtures,
    rows_as_jobs,
    seeds_as_jobs,
)
from core.cli.train import begin, tell, train
from core.files import read_json, write_json
from core.paths import ASSETS, RUNS
from core.runs.folder import RUN
from core.runs.kinds import kind_of, kind_of_dict
from core.runs.run import resume_run
from core.training.presets import ABLATION, PRESETS, SELF_TAUGHT, preset
from core.training.recipe import Recipe
from core.training.speech_presets import HEARD
from core.training.variation import Variation
from core.training.where import Where

TABLES = ASSETS / "report_card"
ABLATIONS = {
    "pretraining": (ABLATION, "ablation.json"),
    "self-taught": (SELF_TAUGHT, "self_taught.json"),
    "hearing": (HEARD, "hearing.json"),
}


def add_table(parser: argparse.ArgumentParser, *, minutes: float, runs: Path) -> None:
    """The options that every table of trainings has."""
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="the course's own files")
    parser.add_argument("--minutes", type=float, default=minutes, help="of each training")
    parser.add_argument("--steps", type=int, help="of each training, in the place of minutes")
    parser.add_argument("--runs", type=Path, default=runs, metavar="DIR", help="goes on with these")
    parser.add_argument("--out", type=named_file, metavar="FILE")
    add_device(parser, here=False)
    add_place(parser, on=None)
    parser.add_argument(
        "--sweep", metavar="ID", help="the table of this sweep's finished jobs; nothing is trained"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object to standard output")


def _swept(options: argparse.Namespace, train_as_jobs: Callable[[], str]) -> str | None:
    """The sweep that the table is made of, once it has finished; None if it is to be trained here,
    and then on a device that is at hand. Raises ValueError.
    """
    refuse_mixtures(options)
    if options.on is not None:
        return train_as_jobs()
    if options.sweep is None:
        options.device = device_here(options.device)
    return options.sweep


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
    `options.runs` is named after recipe, length and seed, so that other lengths are other runs.
    Raises ValueError if the folder holds another training.
    """
    length = f"{options.minutes:g}min" if options.steps is None else f"{options.steps}steps"
    folder: Path = options.runs / f"{recipe.name}-{length}-{seed}"
    if (folder / CARD).exists() and not (folder / RUN).exists():
        return _finished(folder, recipe, options, seed=seed, steps=steps)
    tell(f"{folder.name}:")
    where = Where(device=options.device)
    if (folder / RUN).exists():
        run = resume_run(folder, corpus_folder=options.corpus, where=where)
    else:
        run = begin(
            recipe,
            folder,
            minutes=options.minutes if steps is None else None,
            steps=steps,
            seed=seed,
            corpus_folder=options.corpus,
            tuning=tuning,
            where=where,
        )
    return train(run, log=tell)


def _finished(
    folder: Path, recipe: Recipe, options: argparse.Namespace, *, seed: int, steps: int | None
) -> dict[str, Any]:
    card = read_json(folder / CARD)
    digest = kind_of(recipe).load_data(recipe, options.corpus).digest
    wanted = (seed, recipe, digest, card["n_steps"] if steps is None else steps)
    read = kind_of_dict(card["recipe"]).read_recipe(card["recipe"])
    found = (card["seed"], read, card["data_sha256"], card["n_steps"])
    if found != wanted:
        raise ValueError(f"{folder} holds another training: name other --runs")
    return card


def add_ablation(parser: argparse.ArgumentParser) -> None:
    """The options of the verb."""
    add_table(parser, minutes=10.0, runs=RUNS / "ablation")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--of",
        choices=tuple(ABLATIONS),
        default="pretraining",
        help="what differs: the pretraining, how many questions of the readers are practised, or "
        "what a recogniser's decoder is (of as many steps as its presets have)",
    )
    parser.set_defaults(run=ablation)


def ablation(options: argparse.Namespace) -> None:
    """Train every row that is not there yet, one after the other, and write the table.

    With --steps all rows have as many, whatever the machine does meanwhile.
    Only held-out training questions are measured, but that jobs leave what every job does in their
    cards. A stopped run goes on when it is called again.
    """
    rows, file = ABLATIONS[options.of]
    options.steps = options.steps or rows[0].recipe.n_steps
    minutes = None if options.steps else options.minutes
    sweep = _swept(options, lambda: rows_as_jobs(options, rows))
    if sweep is None:
        cards = [
            trained(row.recipe, options, seed=options.seed, tuning=True, steps=options.steps)
            for row in rows
        ]
    else:
        cards, minutes = cards_of_rows(rows, sweep)
    table: dict[str, Any] = {
        "minutes": minutes,
        "seed": cards[0]["seed"],
        "machine": cards[0]["machine"],
        "split": "held-out",
        "total": cards[0]["figures"]["held_out"]["total"],
        "runs": [_ablation_row(v, card) for v, card in zip(rows, cards, strict=True)],
    }
    write_json(options.out or TABLES / file, table)
    if options.json:
        print(json.dumps(table, ensure_ascii=False))
    else:
        print("\n".join(map(_ablation_line, table["runs"])))


def _ablation_row(variation: Variation, card: dict[str, Any]) -> dict[str, Any]:
    return {
        "preset": variation.recipe.name,
        "label": variation.label,
        "differs": variation.differs,
        "n_steps": card["n_steps"],
        "seconds": card["seconds"],
        "machine": card["machine"],
        "n_parameters": card["n_parameters"],
        **card["figures"]["held_out"],
    }


def _ablation_line(run: dict[str, Any]) -> str:
    line = f"{run['label']}: {run['accuracy']:.1%}"
    error = run.get("character_error")
    return line if error is None else f"{line}, character error {error:.1%}"


def add_seeds(parser: argparse.ArgumentParser) -> None:
    """The options of the verb."""
    parser.add_argument("--preset", choices=sorted(PRESETS), default="course-pieces")
    add_table(parser, minutes=30.0, runs=RUNS / "seeds")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2], metavar="SEED")
    parser.set_defaults(run=seeds)


def seeds(options: argparse.Namespace) -> None:
    """Train a preset with every seed that is not there yet; write dev accuracies, mean and range.

    All have as many steps as the minutes gave for the first: nothing but the seed differs. The
    accuracies are those of the cards, measured once at the end of each training.
    Raises ValueError for a seed named twice.
    """
    if len(set(options.seeds)) < len(options.seeds):
        raise ValueError(f"each seed once, not {' '.join(map(str, options.seeds))}")
    sweep = _swept(options, lambda: seeds_as_jobs(options))
    if sweep is None:
        cards: list[dict[str, Any]] = []
        for seed in options.seeds:
            steps = cards[0]["n_steps"] if cards else options.steps
            recipe = preset(options.preset)
            cards.append(trained(recipe, options, seed=seed, tuning=False, steps=steps))
    else:
        cards = cards_of_seeds(sweep)
    accuracies = [card["figures"]["dev"]["accuracy"] for card in cards]
    table: dict[str, Any] = {
        "preset": cards[0]["recipe"]["name"],
        "minutes": options.minutes if sweep is None else None,
        "machine": cards[0]["machine"],
        "split": "dev",
        "mean": mean(accuracies),
        "range": [min(accuracies), max(accuracies)],
        "runs": [_seed_row(card) for card in cards],
    }
    write_json(options.out or TABLES / "seeds.json", table)
    if options.json:
        print(json.dumps(table, ensure_ascii=False))
    else:
        low, high = table["range"]
        print(f"{table['preset']}: {table['mean']:.1%} of dev ({low:.1%} to {high:.1%})")


def _seed_row(card: dict[str, Any]) -> dict[str, Any]:
    return {
        "seed": card["seed"],
        "n_steps": card["n_steps"],
        "seconds": card["seconds"],
        "machine": card["machine"],
        "held_out": card["figures"]["held_out"],
        **card["figures"]["dev"],
    }
