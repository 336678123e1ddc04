"""`memory mqar`: train models to recall pairs, each at its best rate, over seeds."""

import argparse
import json
from pathlib import Path
from typing import Any

from core.checkpoints.shelf import CARD
from core.checkpoints.store import load_checkpoint
from core.cli.arguments import add_device, named_file
from core.cli.heads_text import aligned
from core.cli.train import tell, train
from core.evaluation.recalled import recalled
from core.files import read_json, write_json
from core.memory.mqar import (
    MODELS,
    RATES,
    RECORD,
    SEEDS,
    Found,
    Recall,
    Seed,
    Trained,
    best,
    label,
)
from core.paths import RUNS
from core.runs.folder import RUN
from core.runs.kinds import kind_of_dict
from core.runs.run import resume_run, start_run
from core.training.recall_presets import RECALL
from core.training.recall_recipe import RecallRecipe
from core.training.recipe import Overrides
from core.training.where import Where


def add_mqar(parser: argparse.ArgumentParser) -> None:
    """The options of the verb."""
    names = [model.name for model in MODELS]
    parser.add_argument("--models", nargs="+", choices=names, default=names, metavar="MODEL")
    parser.add_argument("--rates", type=float, nargs="+", default=list(RATES), metavar="RATE")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS), metavar="SEED")
    parser.add_argument(
        "--steps", type=int, help="of each training; those of the preset unless told"
    )
    parser.add_argument(
        "--runs",
        type=Path,
        default=RUNS / "mqar",
        metavar="DIR",
        help="where trainings lie; goes on with these",
    )
    add_device(parser)
    written = parser.add_mutually_exclusive_group()
    written.add_argument("--out", type=named_file, metavar="FILE", help="write the record here")
    written.add_argument(
        "--record",
        action="store_true",
        help=f"write it to assets/memory/{RECORD.name}; only of all models, rates and seeds",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object to standard output")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Train whatever is not there yet, one after the other; a stopped one goes on.

    Rates are compared on held-out texts, from the first seed; what is reported are dev texts.
    Raises ValueError for a seed or rate named twice, for a record of a part, and for a folder that
    holds another training.
    """
    for name, values in (("seed", options.seeds), ("rate", options.rates)):
        if len({*values}) < len(values):
            raise ValueError(f"each {name} once, not {' '.join(map(str, values))}")
    if options.record:
        _refuse_part(options)
    (recipe,) = RECALL
    chosen = [model for model in MODELS if model.name in options.models]
    found = tuple(_found(model, recipe, options) for model in chosen)
    machine = read_json(_folder(chosen[0], found[0].rate, options.seeds[0], options) / CARD)[
        "machine"
    ]
    record = Recall(
        machine=machine,
        command="python -m core memory mqar --record",
        n_steps=options.steps or recipe.n_steps or 0,
        pairs=recipe.pairs,
        found=found,
    )
    if options.record or options.out:
        write_json(options.out or RECORD, record.to_dict())
    print(json.dumps(record.to_dict()) if options.json else "\n".join(aligned(_lines(record))))


def _refuse_part(options: argparse.Namespace) -> None:
    """A part would take the place of the whole record."""
    whole = {"models": [model.name for model in MODELS], "rates": RATES, "seeds": SEEDS}
    given = [name for name, all_ in whole.items() if {*getattr(options, name)} != {*all_}]
    given += [] if options.steps is None else ["steps"]
    if given:
        raise ValueError(
            f"--record is of all models, rates and seeds, each as long as the preset says: leave "
            f"out --{given[0]}, or write to another file with --out"
        )


def _found(model: Trained, recipe: RecallRecipe, options: argparse.Namespace) -> Found:
    """A model's rates, and at the best of them its seeds."""
    first, *_ = options.seeds
    tried: dict[str, float] = {}
    for rate in options.rates:
        card = _card(model, recipe, rate, first, options)
        tried[f"{rate:g}"] = card["figures"]["held_out"]["accuracy"]
    rate = best(tried)
    seeds = tuple(_seed(model, recipe, rate, seed, options) for seed in options.seeds)
    return Found(model=model.name, tried=tried, rate=rate, seeds=seeds)


def _seed(
    model: Trained, recipe: RecallRecipe, rate: float, seed: int, options: argparse.Namespace
) -> Seed:
    card = _card(model, recipe, rate, seed, options)
    stored = load_checkpoint(_folder(model, rate, seed, options))
    asked = recalled(stored, "dev", recipe.pairs)
    shares = {str(n): round(one.correct / one.total, 4) for n, one in asked.items()}
    return Seed(seed=seed, recalled=shares, seconds=card["seconds"])


def _card(
    model: Trained, recipe: RecallRecipe, rate: float, seed: int, options: argparse.Namespace
) -> dict[str, Any]:
    """Of a training that is begun or continued if need be; it is measured on held-out texts."""
    folder, where = _folder(model, rate, seed, options), Where(device=options.device)
    changes = Overrides(attention=model.attention, sizes=model.sizes, learning_rate=rate)
    wanted, n_steps = changes.apply(recipe), options.steps or recipe.n_steps
    if (folder / CARD).exists() and not (folder / RUN).exists():
        card = read_json(folder / CARD)
        there = kind_of_dict(card["recipe"]).read_recipe(card["recipe"])
        if (there, card["seed"], card["n_steps"]) != (wanted, seed, n_steps):
            raise ValueError(f"{folder} holds another training: remove it, or name other --runs")
        return card
    tell(f"{folder.name}:")
    if (folder / RUN).exists():
        begun = resume_run(folder, where=where)
    else:
        begun = start_run(
            wanted,
            folder,
            minutes=None,
            steps=n_steps,
            seed=seed,
            corpus_folder=None,
            command=lambda n: f"python -m core memory mqar --models {model.name} --steps {n}",
            tuning=True,
            where=where,
        )
    return train(begun, log=tell)


def _folder(model: Trained, rate: float, seed: int, options: argparse.Namespace) -> Path:
    length = "" if options.steps is None else f"-{options.steps}steps"
    return options.runs / f"{model.name}-{rate:g}-seed{seed}{length}"


def _lines(record: Recall) -> list[list[str]]:
    head = ["recalled, %", *(f"{n} pairs" for n in record.pairs), "rate", "seeds"]
    rows = [
        [
            label(one.model),
            *(f"{100 * one.at(n).value:.1f}" for n in record.pairs),
            f"{one.rate:g}",
            str(len(one.seeds)),
        ]
        for one in record.found
    ]
    return [head, *rows]
