"""`ablation`: what pretraining buys, by trainings that differ in one thing each."""

import argparse
import json
from typing import Any

from core.cli.repeats import TABLES, add_table, trained
from core.files import write_json
from core.paths import RUNS
from core.training.presets import ABLATION, Variation


def add_ablation(parser: argparse.ArgumentParser) -> None:
    """The options of the verb."""
    add_table(parser, minutes=10.0, runs=RUNS / "ablation", out=TABLES / "ablation.json")
    parser.add_argument("--seed", type=int, default=0)
    parser.set_defaults(run=ablation)


def ablation(options: argparse.Namespace) -> None:
    """Train every row that is not there yet, one after the other, and write the table.

    Only held-out training questions are measured. A stopped run goes on when it is called again.
    """
    cards = [
        trained(variation.recipe, options, seed=options.seed, tuning=True) for variation in ABLATION
    ]
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


def _row(variation: Variation, card: dict[str, Any]) -> dict[str, Any]:
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
