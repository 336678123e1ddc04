"""`train`: a run in this terminal, with a bar; saved about once a minute and when interrupted."""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from shlex import quote
from typing import Any

from tqdm import tqdm

from core.checkpoints.shelf import CARD
from core.data.task import TASKS
from core.devices import AUTO, resolve_device
from core.files import read_json
from core.jobs.folder import JOB
from core.jobs.ranks import is_stopped_by, speaking
from core.jobs.status import is_of_device, sentence
from core.jobs.torchrun import run_ranks
from core.runs import loop
from core.runs.folder import RUN, STATE, read_settings
from core.runs.run import Run, finish, resume_run, save, start_run
from core.training.presets import FINE_TUNING, PRESETS, preset
from core.training.recipe import Recipe
from core.training.step import StepRecord, TrainingDivergedError
from core.training.team import joined
from core.training.where import HERE, PRECISIONS, Where

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
    parser.add_argument(
        "--device", metavar="D", help="auto, cpu, cuda, cuda:N or mps; cpu unless told"
    )
    parser.add_argument(
        "--precision", choices=PRECISIONS, help="of products of matrices; float32 unless told"
    )
    parser.add_argument(
        "--processes",
        type=int,
        metavar="N",
        help="that share out each batch; with cuda a card each",
    )
    # Of one of several processes: where they hear and speak (core.jobs.ranks).
    parser.add_argument("--ranks", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true", help="one JSON object to standard output")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Train a preset into a folder, or go on with a stopped run."""
    folder, where = _checked(options)
    if options.ranks is not None:
        _as_rank(options.ranks, where, lambda: _opened(options, where))
        return
    if where.processes > 1:
        said = run_ranks(lambda ranks: _arguments(options, where, ranks), where.processes)
        if "stopped" in said:
            raise ValueError(stopped(folder))
        card = read_json(folder / CARD)
    else:
        card = train(_opened(options, where), log=tell)
    if options.json:
        print(json.dumps(card, ensure_ascii=False))
    else:
        print(f"{folder}: {json.dumps(card['figures'])}")


def train(run: Run, *, log: Callable[[str], None]) -> dict[str, Any]:
    """Train to the end and ship the result into the run's folder; returns the card."""
    if steps(run, log=log) == "stopped":
        raise ValueError(stopped(run.folder))
    return finish(run)


def steps(
    run: Run, *, log: Callable[[str], None], is_stopped: Callable[[], bool] = lambda: False
) -> loop.Ending:
    """Take a run's steps, with a bar; says how they ended. Of several processes one tells."""
    if run.writes and run.settings.where != HERE:
        log(f"{run.folder.name}: {run.settings.where.said}")
    run.probe_every = every = max(1, run.n_steps // N_PROBES)
    losses: list[float] = []
    hidden = None if run.writes else True
    bar = tqdm(total=run.n_steps, initial=run.step, unit="step", mininterval=2.0, disable=hidden)

    def after_step(record: StepRecord) -> None:
        losses.append(record.loss)
        bar.update()
        if record.step % every == 0 or record.step == run.n_steps:
            if run.writes:
                log(_progress(run, record, losses))
            losses.clear()

    try:
        with bar:
            return loop.train(
                run, after_step=after_step, save=lambda: save(run), is_stopped=is_stopped
            )
    except RuntimeError as error:
        is_known = isinstance(error, TrainingDivergedError)
        if not is_known and not is_of_device(error):
            raise
        state = run.folder / STATE
        kept = f"the last good state is in {state}" if run.saved_step else "nothing was saved yet"
        raise ValueError(f"{error if is_known else sentence(error)}; {kept}") from None


def stopped(folder: Path) -> str:
    """What is said of a run that was stopped."""
    return f"stopped; continue with --resume {quote(str(folder))}"


def _as_rank(folder: Path, where: Where, opened: Callable[[], Run]) -> None:
    """Train as one of several processes; the first finishes what they have trained."""
    with speaking(folder) as said, joined(where) as team:
        run = opened()
        if steps(run, log=tell, is_stopped=is_stopped_by(folder)) == "stopped":
            said["stopped"] = True
        elif team.is_first:
            finish(run)


def tell(line: str) -> None:
    """Progress is not the report: it goes to standard error."""
    print(line, file=sys.stderr, flush=True)


def _checked(options: argparse.Namespace) -> tuple[Path, Where]:
    """The run's folder, and where it trains: where it was unless told, or the processor."""
    if options.resume is not None:
        folder = _resumable(options)
        before = read_settings(folder).where
    elif options.out is None:
        raise ValueError("--out DIR is needed with --preset")
    else:
        folder, before = options.out, HERE
    processes = before.processes if options.processes is None else options.processes
    device = resolve_device(before.device if options.device is None else options.device)
    if processes > 1 and options.device in (None, AUTO, "cuda"):
        device = device.partition(":")[0]  # each has a card of its own
    return folder, before.moved(device, precision=options.precision, processes=processes)


def _arguments(options: argparse.Namespace, where: Where, ranks: Path) -> list[str]:
    """What starts one of several processes that do the same."""
    parts = ["-m", "core", "train", "--ranks", str(ranks), "--processes", str(where.processes)]
    parts += ["--device", where.device, "--precision", where.precision]
    for name in ("preset", "resume", "minutes", "steps", "out", "seed", "corpus"):
        value = getattr(options, name)
        parts += [] if value is None else [f"--{name}", str(value)]
    return [*parts, "--tuning"] if options.tuning else parts


def _opened(options: argparse.Namespace, where: Where) -> Run:
    if options.resume is None:
        return _started(options, where)
    return resume_run(options.resume, corpus_folder=options.corpus, where=where)


def _resumable(options: argparse.Namespace) -> Path:
    """The folder of a run that goes on; refuses what is fixed, and jobs."""
    fixed = [n for n in ("minutes", "steps", "seed", "out") if getattr(options, n) is not None]
    fixed += ["tuning"] if options.tuning else []
    if fixed:
        raise ValueError(f"--{fixed[0]} is fixed since the run began; leave it out")
    folder: Path = options.resume
    if (folder / JOB).exists():
        raise ValueError(f"{folder} is a job: continue it with jobs resume {quote(folder.name)}")
    return folder


def _started(options: argparse.Namespace, where: Where) -> Run:
    return begin(
        preset(options.preset),
        options.out,
        minutes=options.minutes,
        steps=options.steps,
        seed=options.seed or 0,
        corpus_folder=options.corpus,
        tuning=options.tuning,
        where=where,
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
    where: Where = HERE,
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
        command=lambda steps: _command(
            recipe, folder, steps=steps, seed=seed, tuning=tuning, where=where
        ),
        tuning=tuning,
        told=tell,
        where=where,
    )


def _command(
    recipe: Recipe, folder: Path, *, steps: int, seed: int, tuning: bool, where: Where
) -> str:
    """What repeats the run anywhere; the course's files are where A5_DATA says."""
    parts = [f"python -m core train --preset {recipe.name} --steps {steps} --seed {seed}"]
    if recipe.corpus in TASKS and not TASKS[recipe.corpus].is_shipped:
        parts.append('--corpus "$A5_DATA"')
    if tuning:
        parts.append("--tuning")
    usual = HERE.to_dict()
    parts += [f"--{key} {value}" for key, value in where.to_dict().items() if value != usual[key]]
    return " ".join([*parts, "--out", quote(f"checkpoints/{folder.name}")])


def _progress(run: Run, record: StepRecord, losses: list[float]) -> str:
    found = run.probe()
    mean = sum(losses) / len(losses)
    return (
        f"step {record.step} of {run.n_steps} ({record.phase}), {run.seconds:.0f} s, "
        f"loss {mean:.3f}, held-out {found.correct}/{found.total}"
    )
