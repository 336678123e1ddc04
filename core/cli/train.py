"""`train`: a run in this terminal, with a bar; saved about once a minute and when interrupted."""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from shlex import quote
from typing import Any

from tqdm import tqdm

from core.data.task import TASKS
from core.jobs.folder import JOB
from core.runs import loop
from core.runs.folder import RUN, STATE
from core.runs.run import Run, finish, resume_run, save, start_run
from core.training.presets import FINE_TUNING, PRESETS, preset
from core.training.recipe import Recipe
from core.training.step import StepRecord, TrainingDivergedError

N_PROBES = 20


def add_train(parser: argparse.ArgumentParser) -> None:
    """The options of the verb."""
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--preset", choices=sorted(set(PRESETS) - set(FINE_TUNING)))
    what.add_argument("--resume", type=Path, metavar="DIR")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--minutes", type=float, help="turned into steps by a measurement")
    length.add_argument("--steps", type=int)
    parser.add_argument("--out", type=Path, metavar="DIR", help="needed with --preset")
    parser.add_argument("--seed", type=int, help="0 unless told")
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="the course's own files")
    parser.add_argument(
        "--tuning",
        action="store_true",
        help="measure held-out training questions only, and leave dev and test alone",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object to standard output")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Train a preset into a folder, or go on with a stopped run."""
    if options.resume is not None:
        training = _resumed(options)
    elif options.out is None:
        raise ValueError("--out DIR is needed with --preset")
    else:
        training = _started(options)
    card = train(training, log=tell)
    if options.json:
        print(json.dumps(card, ensure_ascii=False))
    else:
        print(f"{training.folder}: {json.dumps(card['figures'])}")


def train(run: Run, *, log: Callable[[str], None]) -> dict[str, Any]:
    """Train to the end and ship the result into the run's folder; returns the card."""
    every = max(1, run.n_steps // N_PROBES)
    losses: list[float] = []
    bar = tqdm(total=run.n_steps, initial=run.step, unit="step", mininterval=2.0, disable=None)

    def after_step(record: StepRecord) -> None:
        losses.append(record.loss)
        bar.update()
        if record.step % every == 0 or record.step == run.n_steps:
            log(_progress(run, record, losses))
            losses.clear()

    try:
        with bar:
            ending = loop.train(run, after_step=after_step, save=lambda: save(run))
    except TrainingDivergedError as error:
        state = run.folder / STATE
        kept = f"the last good state is in {state}" if run.saved_step else "nothing was saved yet"
        raise ValueError(f"{error}; {kept}") from None
    if ending == "stopped":
        raise ValueError(f"stopped; continue with --resume {quote(str(run.folder))}")
    return finish(run)


def tell(line: str) -> None:
    """Progress is not the report: it goes to standard error."""
    print(line, file=sys.stderr, flush=True)


def _resumed(options: argparse.Namespace) -> Run:
    fixed = [n for n in ("minutes", "steps", "seed", "out") if getattr(options, n) is not None]
    fixed += ["tuning"] if options.tuning else []
    if fixed:
        raise ValueError(f"--{fixed[0]} is fixed since the run began; leave it out")
    folder: Path = options.resume
    if (folder / JOB).exists():
        raise ValueError(f"{folder} is a job: continue it with jobs resume {quote(folder.name)}")
    return resume_run(folder, corpus_folder=options.corpus)


def _started(options: argparse.Namespace) -> Run:
    return begin(
        preset(options.preset),
        options.out,
        minutes=options.minutes,
        steps=options.steps,
        seed=options.seed or 0,
        corpus_folder=options.corpus,
        tuning=options.tuning,
    )


def begin(
    recipe: Recipe,
    folder: Path,
    *,
    minutes: float | None,
    steps: int | None,
    seed: int,
    corpus_folder: Path | None,
    tuning: bool,
) -> Run:
    """A new run whose card will hold the command that repeats it."""
    if (folder / RUN).exists():
        resume = f"--resume {quote(str(folder))}"
        raise ValueError(f"{folder} already holds a run: continue it with {resume}")
    return start_run(
        recipe,
        folder,
        minutes=minutes,
        steps=steps,
        seed=seed,
        corpus_folder=corpus_folder,
        command=lambda steps: _command(recipe, folder, steps=steps, seed=seed, tuning=tuning),
        tuning=tuning,
        told=tell,
    )


def _command(recipe: Recipe, folder: Path, *, steps: int, seed: int, tuning: bool) -> str:
    """What repeats the run anywhere; the course's files are where A5_DATA says."""
    parts = [f"python -m core train --preset {recipe.name} --steps {steps} --seed {seed}"]
    if recipe.corpus in TASKS and not TASKS[recipe.corpus].is_shipped:
        parts.append('--corpus "$A5_DATA"')
    if tuning:
        parts.append("--tuning")
    return " ".join([*parts, "--out", quote(f"checkpoints/{folder.name}")])


def _progress(run: Run, record: StepRecord, losses: list[float]) -> str:
    found = run.probe()
    mean = sum(losses) / len(losses)
    return (
        f"step {record.step} of {run.n_steps} ({record.phase}), {run.seconds:.0f} s, "
        f"loss {mean:.3f}, held-out {found.correct}/{found.total}"
    )
