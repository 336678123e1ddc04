"""`ablation`: what pretraining buys, by trainings that differ in one thing each."""

import argparse
import json
from pathlib import Path
from typing import Any

from core.checkpoints.files import CARD, read_json, write_json
from core.cli.paths import ASSETS, RUNS
from core.cli.train import begin, tell, train
from core.jobs.run import RUN, resume_run
from core.training.presets import ABLATION, Variation
from core.training.recipe import recipe_from_dict

DEFAULT_OUT = ASSETS / "report_card" / "ablation.json"


def add_ablation(parser: argparse.ArgumentParser) -> None:
    """The options of the verb."""
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="the course's own files")
    parser.add_argument("--minutes", type=float, default=10.0, help="of each training")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--runs", type=Path, default=RUNS / "ablation", metavar="DIR", help="goes on with these"
    )
    parser.add_argument("--out", type=Path, default=DEFAULT_OUT, metavar="FILE")
    parser.add_argument("--json", action="store_true", help="one JSON object to standard output")
    parser.set_defaults(run=ablation)


def ablation(options: argparse.Namespace) -> None:
    """Train every row that is not there yet, one after the other, and write the table.

    Only held-out training questions are measured. A stopped run goes on when it is called again.
    """
    cards = [_card(variation, options) for variation in ABLATION]
    table: dict[str, Any] = {
        "minutes": options.minutes,
        "seed": options.seed,
        "machine": cards[0]["machine"],
        "split": "held-out",
        "total": cards[0]["figures"]["held_out"]["total"],
        "runs": [_row(v, card) for v, card in zip(ABLATION, cards, strict=True)],
    }
    write_json(options.out, table)
    if options.json:
        print(json.dumps(table, ensure_ascii=False))
    else:
        print("\n".join(f"{run['label']}: {run['accuracy']:.1%}" for run in table["runs"]))


def _card(variation: Variation, options: argparse.Namespace) -> dict[str, Any]:
    recipe = variation.recipe
    folder: Path = options.runs / recipe.name
    if (folder / CARD).exists() and not (folder / RUN).exists():
        card = read_json(folder / CARD)
        if (card["seed"], recipe_from_dict(card["recipe"])) != (options.seed, recipe):
            raise ValueError(f"{folder} holds another training: name other --runs")
        return card
    tell(f"{variation.label}:")
    if (folder / RUN).exists():
        run = resume_run(folder, corpus_folder=options.corpus)
    else:
        run = begin(
            recipe,
            folder,
            minutes=options.minutes,
            steps=None,
            seed=options.seed,
            corpus_folder=options.corpus,
            tuning=True,
        )
    return train(run, log=tell)


def _row(variation: Variation, card: dict[str, Any]) -> dict[str, Any]:
    return {
        "preset": variation.recipe.name,
        "label": variation.label,
        "differs": variation.differs,
        "n_steps": card["n_steps"],
        "seconds": card["seconds"],
        "n_parameters": card["n_parameters"],
        **card["figures"]["held_out"],
    }
