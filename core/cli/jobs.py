"""`jobs`: trainings in the background, as the page has them."""

import argparse
import json
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

from core import paths
from core.catalogue import TRAINED, settable_sizes
from core.cli import sweeps
from core.cli.arguments import add_device
from core.cli.places import add_place, device_asked, launcher_asked, queue_of
from core.cli.resuming import add_again, resume
from core.cli.sweeps import line
from core.jobs import actions
from core.jobs.estimate import estimate
from core.jobs.folder import is_sweep_id, job_folder, log_tail
from core.jobs.keep import keep
from core.jobs.leftovers import leftovers
from core.jobs.spec import TrainSpec, train_spec
from core.jobs.state import list_all, show
from core.models.config import Positions
from core.runs.journal import read_metrics
from core.training.presets import PRESETS
from core.training.recipe import Overrides
from core.training.where import PRECISIONS

LOOK_EVERY_SECONDS = 0.5
N_LOG_LINES = 10


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """The options of the verb."""
    verbs = parser.add_subparsers(dest="action", required=True)
    listing = verbs.add_parser("list", help="all jobs, newest first, and what is left over")
    _action(listing, _list)
    _action(verbs.add_parser("show", help="one job, or a sweep with its means"), _show, "id")
    begin = verbs.add_parser("start", help="put a training into the queue")
    _add_spec(begin)
    add_place(begin)
    _action(begin, _start)
    together = verbs.add_parser(
        "sweep", help="put trainings into the queue that differ in seed, learning rate or preset"
    )
    _add_spec(together, n_presets="+")
    add_place(together)
    sweeps.add_values(together)
    _action(together, _sweep)
    guess = verbs.add_parser("estimate", help="size and speed, from a few steps of it")
    _add_spec(guess)
    _action(guess, _estimate)
    stopping = verbs.add_parser("stop", help="end a job, or all of a sweep; they can go on later")
    _action(stopping, _stop, "id")
    going_on = verbs.add_parser("resume", help="go on from the last checkpoint: a job, or a sweep")
    add_again(going_on)
    _action(going_on, resume, "id")
    removing = verbs.add_parser(
        "remove",
        help="delete what no worker holds: a job, all of a sweep, or a folder without job.json",
    )
    _action(removing, _remove, "id")
    cleaning = verbs.add_parser(
        "clean",
        help="remove what killed workers and verbs have left, and end workers whose folder is "
        "gone; jobs, and folders that hold something trained, stay",
    )
    _action(cleaning, _clean)
    keeping = verbs.add_parser("keep", help="make a finished job a checkpoint")
    _action(keeping, _keep, "id", "name")


def _action(
    parser: argparse.ArgumentParser,
    act: Callable[[argparse.Namespace], tuple[dict[str, Any], str]],
    *positional: str,
) -> None:
    for name in positional:
        parser.add_argument(name)
    parser.add_argument("--json", action="store_true", help="one JSON object to standard output")

    def run(options: argparse.Namespace) -> None:
        report, text = act(options)
        print(json.dumps(report, ensure_ascii=False) if options.json else text)

    parser.set_defaults(run=run)


def _add_spec(parser: argparse.ArgumentParser, *, n_presets: str | None = None) -> None:
    parser.add_argument("--preset", choices=sorted(PRESETS), required=True, nargs=n_presets)
    parser.add_argument(
        "--start-from", metavar="NAME", help="the checkpoint that a fine-tuning begins with"
    )
    parser.add_argument("--name", default="", help="a title; the preset's name unless told")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--minutes", type=float, help="turned into steps by a measurement")
    length.add_argument("--steps", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, help="one less than the cores unless told")
    add_device(parser, here=False)
    parser.add_argument(
        "--precision",
        choices=PRECISIONS,
        default="float32",
        help="of products of matrices: tf32 and bfloat16 are quicker, on a GPU alone",
    )
    parser.add_argument("--processes", type=int, default=1, help="that share the threads out")
    parser.add_argument("--width", type=int)
    parser.add_argument("--layers", type=int)
    parser.add_argument("--heads", type=int)
    parser.add_argument("--positions", choices=get_args(Positions))
    parser.add_argument("--attention", choices=TRAINED)
    for size in settable_sizes().values():
        metavar = size.option.removeprefix("--").replace("-", "_").upper()
        parser.add_argument(size.option, type=int, help=size.help, dest=size.name, metavar=metavar)
    parser.add_argument("--learning-rate", type=float, help="of the matrices, at its peak")


def _spec(options: argparse.Namespace) -> TrainSpec:
    return train_spec(options.preset, seed=options.seed, **_besides(options))


def _besides(options: argparse.Namespace) -> dict[str, Any]:
    """What is the same for all trainings of a sweep."""
    overrides = Overrides(
        width=options.width,
        n_layers=options.layers,
        n_heads=options.heads,
        positions=options.positions,
        attention=options.attention,
        sizes={
            name: getattr(options, name)
            for name in settable_sizes()
            if getattr(options, name) is not None
        },
        learning_rate=options.learning_rate,
    )
    return {
        "name": options.name,
        "minutes": options.minutes,
        "steps": options.steps,
        "threads": options.threads,
        "overrides": overrides,
        "start_from": _checkpoint(options.start_from),
        "device": device_asked(
            options.device,
            vars(options).get("on", "local"),  # an estimate is always made here
            gpus=vars(options).get("gpus"),
            processes=options.processes,
        ),
        "precision": options.precision,
        "processes": options.processes,
    }


def _checkpoint(name: str | None) -> Path | None:
    """One of the shipped or kept checkpoints; no other folder can be named."""
    return None if name is None else paths.CHECKPOINTS / Path(name).name


def _list(_: argparse.Namespace) -> tuple[dict[str, Any], str]:
    jobs, left = list_all(paths.RUNS), leftovers(paths.RUNS)
    lines = [line(job) for job in jobs] or ["there are no jobs"]
    lines += [f"left over: {one.text}" for one in left]
    if not all(one.is_kept for one in left):
        lines.append("jobs clean removes what is left over")
    report = {"jobs": [job.row() for job in jobs], "leftovers": [one.row() for one in left]}
    return report, "\n".join(lines)


def _show(options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    if is_sweep_id(options.id):
        return sweeps.show(options.id)
    job = show(paths.RUNS, options.id)
    folder = job_folder(paths.RUNS, job.id)
    log = log_tail(folder, n_lines=N_LOG_LINES)
    measured = read_metrics(folder)
    report = {
        **job.row(),
        "message": job.message,
        "place": job.place,
        "spec": None if job.assignment is None else job.assignment.to_dict(),
        "status": None if job.status is None else asdict(job.status),
        "measurement": measured[-1] if measured else None,
        "log": log,
    }
    return report, "\n".join([line(job), *filter(None, [job.message]), *log])


def _start(options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    launcher, spec = launcher_asked(options, options.on), _spec(options)
    job_id = actions.start(paths.RUNS, spec, launcher)
    report = {"id": job_id, "device": spec.device, "on": options.on}
    return report, f"{job_id} is in the queue{queue_of(options.on)}"


def _sweep(options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    launcher = launcher_asked(options, options.on)
    sweep_id, ids = sweeps.start(options, _besides(options), launcher)
    said = f"{len(ids)} jobs of {sweep_id} are in the queue{queue_of(options.on)}"
    return {"ids": ids, "sweep": sweep_id}, "\n".join([*ids, said])


def _estimate(options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    result = estimate(_spec(options))
    return asdict(result), (
        f"{result.n_parameters:,} parameters, {result.tokens_per_second:,.0f} tokens a second, "
        f"{result.n_steps:,} steps in {result.seconds / 60:.1f} minutes"
    )


def _stop(options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """Ask, and press on until the worker is gone."""
    if is_sweep_id(options.id):
        return sweeps.stop(options.id, pause=lambda: time.sleep(LOOK_EVERY_SECONDS))
    actions.stop(paths.RUNS, options.id)
    while (job := show(paths.RUNS, options.id)).state == "stopping":
        time.sleep(LOOK_EVERY_SECONDS)
        with suppress(ValueError):  # it ended just now
            actions.stop(paths.RUNS, options.id)
    return {"id": job.id, "state": job.state}, line(job)


def _remove(options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    if is_sweep_id(options.id):
        return sweeps.remove(options.id)
    actions.remove(paths.RUNS, options.id)
    return {"id": options.id}, f"{options.id} is removed"


def _clean(_: argparse.Namespace) -> tuple[dict[str, Any], str]:
    removed = actions.clean(paths.RUNS)
    lines = [f"removed: {one.text}" for one in removed] or ["there is nothing to remove"]
    return {"removed": [one.row() for one in removed]}, "\n".join(lines)


def _keep(options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    folder = keep(paths.RUNS, options.id, options.name, checkpoints=paths.CHECKPOINTS)
    return {"id": options.id, "checkpoint": str(folder)}, f"{folder} is a checkpoint"
