"""`ablation` and `seeds`: what pretraining buys, and how far a figure moves with the seed alone.

Tables of trainings: each is trained once, and goes on where it was stopped.
"""

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from core import paths
from core.checkpoints.shelf import CARD
from core.cli.arguments import add_device, named_file
from core.cli.train import begin, tell, train
from core.files import read_json, write_json
from core.jobs.sweeps import jobs_of_sweep
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


def add_table(
    parser: argparse.ArgumentParser, *, minutes: float, runs: Path, out: Path | None
) -> None:
    """The options that every table of trainings has."""
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="the course's own files")
    parser.add_argument("--minutes", type=float, default=minutes, help="of each training")
    parser.add_argument("--steps", type=int, help="of each training, in the place of minutes")
    parser.add_argument("--runs", type=Path, default=runs, metavar="DIR", help="goes on with these")
    parser.add_argument("--out", type=named_file, default=out, metavar="FILE")
    add_device(parser)
    parser.add_argument(
        "--sweep", metavar="ID", help="the table of this sweep's finished jobs; nothing is trained"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object to standard output")


def cards_of_sweep(sweep_id: str) -> list[dict[str, Any]]:
    """The cards of its jobs by rising seed. Raises ValueError while one has not finished."""
    jobs = jobs_of_sweep(paths.RUNS, sweep_id)
    if unfinished := [job for job in jobs if job.state != "finished"]:
        job = unfinished[0]
        raise ValueError(f"job {job.id} of {sweep_id} is {job.state}: a table needs finished ones")
    cards = [read_json(paths.RUNS / job.id / CARD) for job in jobs]
    return sorted(cards, key=lambda card: card["seed"])


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
    add_table(parser, minutes=10.0, runs=RUNS / "ablation", out=None)
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
    Only held-out training questions are measured. A stopped run goes on when it is called again.
    """
    rows, file = ABLATIONS[options.of]
    options.steps = options.steps or rows[0].recipe.n_steps
    if options.sweep is None:
        cards = [
            trained(row.recipe, options, seed=options.seed, tuning=True, steps=options.steps)
            for row in rows
        ]
    else:
        cards = _cards_of_rows(rows, options.sweep)
    table: dict[str, Any] = {
        "minutes": None if options.steps or options.sweep else options.minutes,
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


def _cards_of_rows(rows: Sequence[Variation], sweep_id: str) -> list[dict[str, Any]]:
    """The one card of each row, all of one seed and as many steps. Raises ValueError."""
    found = {
        kind_of_dict(card["recipe"]).read_recipe(card["recipe"]): card
        for card in cards_of_sweep(sweep_id)
    }
    if {*found} != {row.recipe for row in rows} or len(_lengths(found.values())) > 1:
        names = ", ".join(row.recipe.name for row in rows)
        raise ValueError(
            f"{sweep_id}: needed is one job of each of these presets, all of one seed and as many "
            f"steps: {names}"
        )
    return [found[row.recipe] for row in rows]


def _lengths(cards: Iterable[dict[str, Any]]) -> set[tuple[int, int]]:
    return {(card["seed"], card["n_steps"]) for card in cards}


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
    if options.sweep is None:
        cards: list[dict[str, Any]] = []
        for seed in options.seeds:
            steps = cards[0]["n_steps"] if cards else options.steps
            recipe = preset(options.preset)
            cards.append(trained(recipe, options, seed=seed, tuning=False, steps=steps))
    else:
        cards = _cards_of_seeds(options.sweep)
    accuracies = [card["figures"]["dev"]["accuracy"] for card in cards]
    table: dict[str, Any] = {
        "preset": cards[0]["recipe"]["name"],
        "minutes": None if options.sweep else options.minutes,
        "machine": cards[0]["machine"],
        "split": "dev",
        "mean": mean(accuracies),
        "range": [min(accuracies), max(accuracies)],
        "runs": [_seed_row(card) for card in cards],
    }
    write_json(options.out, table)
    if options.json:
        print(json.dumps(table, ensure_ascii=False))
    else:
        low, high = table["range"]
        print(f"{table['preset']}: {table['mean']:.1%} of dev ({low:.1%} to {high:.1%})")


def _cards_of_seeds(sweep_id: str) -> list[dict[str, Any]]:
    """Raises ValueError unless they differ in their seed alone."""
    cards = cards_of_sweep(sweep_id)
    if any(
        (card["recipe"], card["n_steps"]) != (cards[0]["recipe"], cards[0]["n_steps"])
        for card in cards
    ):
        raise ValueError(f"the jobs of {sweep_id} differ in more than their seed, or in steps")
    return cards


def _seed_row(card: dict[str, Any]) -> dict[str, Any]:
    return {
        "seed": card["seed"],
        "n_steps": card["n_steps"],
        "seconds": card["seconds"],
        "machine": card["machine"],
        "held_out": card["figures"]["held_out"],
        **card["figures"]["dev"],
    }
