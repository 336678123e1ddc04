"""`seeds`: how far a figure moves when nothing but the seed changes."""

import argparse
import json
from statistics import mean
from typing import Any

from core.cli.repeats import TABLES, add_table, trained
from core.files import write_json
from core.paths import RUNS
from core.training.presets import PRESETS, preset


def add_seeds(parser: argparse.ArgumentParser) -> None:
    """The options of the verb."""
    parser.add_argument("--preset", choices=sorted(PRESETS), default="course-pieces")
    add_table(parser, minutes=30.0, runs=RUNS / "seeds", out=TABLES / "seeds.json")
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
    recipe = preset(options.preset)
    cards: list[dict[str, Any]] = []
    for seed in options.seeds:
        steps = cards[0]["n_steps"] if cards else None
        cards.append(trained(recipe, options, seed=seed, tuning=False, steps=steps))
    accuracies = [card["figures"]["dev"]["accuracy"] for card in cards]
    table: dict[str, Any] = {
        "preset": recipe.name,
        "minutes": options.minutes,
        "machine": cards[0]["machine"],
        "split": "dev",
        "mean": mean(accuracies),
        "range": [min(accuracies), max(accuracies)],
        "runs": [_row(card) for card in cards],
    }
    write_json(options.out, table)
    if options.json:
        print(json.dumps(table, ensure_ascii=False))
    else:
        low, high = table["range"]
        print(f"{recipe.name}: {table['mean']:.1%} of dev ({low:.1%} to {high:.1%})")


def _row(card: dict[str, Any]) -> dict[str, Any]:
    return {
        "seed": card["seed"],
        "n_steps": card["n_steps"],
        "seconds": card["seconds"],
        "machine": card["machine"],
        "held_out": card["figures"]["held_out"],
        **card["figures"]["dev"],
    }
