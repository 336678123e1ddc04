"""`look`: networks of pictures. Convolution with and without pooling, and attention over patches,
are trained at several rates from several seeds, measured, and three of them kept.
"""

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from core import paths
from core.cli.arguments import add_device, device_here, named_file
from core.cli.places import add_place
from core.cli.table_sweeps import device_of_jobs, finished, refuse_mixtures, waited_for
from core.evaluation.picture_figures import (
    NetworkFigure,
    accuracy_by_shift,
    best_rate,
    does_pooling_help,
    network_figure,
    network_figures,
    pooling_by_rate,
)
from core.files import is_stored
from core.jobs.look_job import VERB, look_jobs, sweep_of_all, title
from core.jobs.looking import described, measured, refuse_other_pictures
from core.jobs.ship_networks import fresh_figures, ship
from core.pictures.networks import NETWORKS, PADDINGS, POOLING, STRIDES
from core.pictures.pictures import Pictures
from core.pictures.sources import load_pictures
from core.pictures.sweep import Run, Sweep, read_sweep, write_sweep
from core.pictures.sweep_spec import Case, SweepSpec
from core.runs.stopping import now_and_then, stop_requests

DEFAULT = SweepSpec()


def add_look(parser: argparse.ArgumentParser) -> None:
    """The options of the verb."""
    parser.description = __doc__
    verbs = parser.add_subparsers(dest="action", required=True)
    training = verbs.add_parser("train", help="every network at every rate from every seed")
    _add_spec(training)
    add_device(training, here=False)
    add_place(training, on=None)
    training.add_argument(
        "--sweep", metavar="ID", help="put this sweep's finished jobs together; nothing is trained"
    )
    training.add_argument(
        "--out", type=named_file, metavar="FILE", help="keep it; one begun there goes on"
    )
    _action(training, _train)
    evaluating = verbs.add_parser("evaluate", help="how good each network is")
    evaluating.add_argument(
        "--file", type=Path, metavar="FILE", help="a sweep; the recorded one unless told"
    )
    evaluating.add_argument(
        "--fresh", action="store_true", help="measure the shipped networks again, here and now"
    )
    evaluating.add_argument("--source", default=DEFAULT.source, help="the pictures for --fresh")
    add_device(evaluating)
    _action(evaluating, _evaluate)
    recording = verbs.add_parser(
        "record", help="the sweep that is shipped, and the networks of its first seed"
    )
    _add_spec(recording)
    add_device(recording)
    _action(recording, _record)


def _action(
    parser: argparse.ArgumentParser,
    act: Callable[[argparse.Namespace], tuple[dict[str, Any], str]],
) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object to standard output")

    def run(options: argparse.Namespace) -> None:
        report, text = act(options)
        print(json.dumps(report, ensure_ascii=False) if options.json else text)

    parser.set_defaults(run=run)


def _add_spec(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--source", default=DEFAULT.source, help="which pictures (digits)")
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=list(NETWORKS))
    parser.add_argument("--rates", nargs="+", type=float, default=list(DEFAULT.rates))
    parser.add_argument("--patch-rate", type=float, default=DEFAULT.patch_rate)
    parser.add_argument("--seeds", type=int, default=DEFAULT.seeds, help="how many (5)")
    parser.add_argument("--first-seed", type=int, default=DEFAULT.first_seed)
    parser.add_argument("--epochs", type=int, default=DEFAULT.epochs)
    parser.add_argument("--batch", type=int, default=DEFAULT.batch)
    parser.add_argument("--padding", type=int, choices=PADDINGS, default=DEFAULT.padding)
    parser.add_argument("--threads", type=int, default=DEFAULT.threads)


def _spec(options: argparse.Namespace) -> SweepSpec:
    return SweepSpec(
        source=options.source,
        networks=tuple(options.networks),
        rates=tuple(options.rates),
        patch_rate=options.patch_rate,
        seeds=options.seeds,
        first_seed=options.first_seed,
        epochs=options.epochs,
        batch=options.batch,
        padding=options.padding,
        threads=options.threads,
    )


def _train(options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    refuse_mixtures(options)
    if options.on is not None or options.sweep is not None:
        return _said(_swept_by_jobs(options))
    spec, device = _spec(options), device_here(options.device)
    return _said(_swept(spec, load_pictures(spec.source), options.out, device))


def _record(options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    spec = _spec(options)
    pictures = load_pictures(spec.source)
    sweep = _swept(spec, pictures, paths.LOOK, options.device)
    shipped = ship(sweep, pictures, paths.PICTURE_NETWORKS, options.device)
    report, text = _said(sweep)
    lines = [f"{card.network}.safetensors: {card.correct} of {card.n_test}" for card in shipped]
    return {**report, "shipped": [card.to_dict() for card in shipped]}, "\n".join([text, *lines])


def _evaluate(options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    if options.fresh:
        if options.file is not None:
            raise ValueError("--file is a sweep; --fresh measures what is shipped: choose one")
        found = fresh_figures(paths.PICTURE_NETWORKS, load_pictures(options.source), options.device)
        return {"networks": [one.to_dict() for one in found]}, "\n".join(map(_line, found))
    return _said(read_sweep(options.file or paths.LOOK))


def _swept_by_jobs(options: argparse.Namespace) -> Sweep:
    """The same by a job for each seed, waited for, or put together of jobs that have finished."""
    sweep_id = options.sweep
    if sweep_id is None:
        spec = _spec(options)
        jobs = look_jobs(spec, device=device_of_jobs(options))
        sweep_id = waited_for(options, jobs, "train", name=title(spec))
    sweep = sweep_of_all([paths.RUNS / job.id for job in finished(sweep_id, VERB)])
    if options.out is not None:
        write_sweep(options.out, sweep)
    return sweep


def _swept(spec: SweepSpec, pictures: Pictures, out: Path | None, device: str) -> Sweep:
    """The whole sweep; what is trained is kept after each training. Ctrl-C ends it in between."""
    torch.set_num_threads(spec.threads)
    sweep = _begun(spec, pictures, out, device)
    with stop_requests() as stop:
        asked = now_and_then(stop.is_set)
        done = {run.case for run in sweep.runs}
        for run in measured(spec, pictures, done=done, is_stopped=asked, tell=_tell, device=device):
            sweep = replace(sweep, runs=(*sweep.runs, run))
            if out is not None:
                write_sweep(out, sweep)
            _tell_run(sweep, run)
    if not sweep.is_whole:
        raise KeyboardInterrupt
    return sweep


def _begun(spec: SweepSpec, pictures: Pictures, out: Path | None, device: str) -> Sweep:
    """What the file has of this sweep; else an empty one. Raises ValueError for another's file."""
    if out is None or not is_stored(out):
        return described(spec, pictures, device)
    begun = read_sweep(out)
    if replace(begun.spec, threads=spec.threads) != spec:
        raise ValueError(f"{out} holds another sweep: name another file, or remove it")
    refuse_other_pictures(begun, pictures)
    return begun


def _said(sweep: Sweep) -> tuple[dict[str, Any], str]:
    """The report of a sweep and its lines."""
    rows = network_figures(sweep)
    by_rate = [
        network_figure(sweep, name, rate)
        for name in sweep.spec.networks
        for rate in sweep.spec.rates_of(name)
        if sweep.of(name, rate)
    ]
    report: dict[str, Any] = {
        "pictures": sweep.pictures.name,
        "networks": [row.to_dict() for row in rows],
        "by_rate": [row.to_dict() for row in by_rate],
        "shifts": {
            row.name: [mean.mean for mean in accuracy_by_shift(sweep, row.name)] for row in rows
        },
    }
    lines = [f"{sweep.pictures.n_test:,} test pictures of {sweep.pictures.name}"]
    lines += [_line(row) for row in by_rate]
    if {POOLING, STRIDES} <= {row.name for row in rows}:
        answer = does_pooling_help(sweep)
        report["pooling"] = answer.to_dict()
        report["pooling_by_rate"] = [one.to_dict() for one in pooling_by_rate(sweep)]
        lines.append(_answer(sweep, report["pooling"]))
    return report, "\n".join(lines)


def _line(row: NetworkFigure) -> str:
    interval = "" if row.low is None or row.high is None else f" ({row.low:.2%} to {row.high:.2%})"
    lost = f", {row.diverged} diverged" if row.diverged else ""
    seeds = f"{row.seeds} seed{'' if row.seeds == 1 else 's'}"
    return (
        f"{row.name:<8} at {row.rate:<6g} {row.accuracy:.2%}{interval}, {seeds}{lost}, "
        f"{row.parameters:,} parameters"
    )


def _answer(sweep: Sweep, found: dict[str, Any]) -> str:
    rates = " and ".join(f"{best_rate(sweep, name):g}" for name in (POOLING, STRIDES))
    mean = found["difference"]
    if mean is None or mean["low"] is None:
        return f"pooling less strides at {rates}: too few runs to tell"
    return (
        f"pooling less strides at {rates}: {100 * mean['mean']:+.2f} points "
        f"({100 * mean['low']:+.2f} to {100 * mean['high']:+.2f}), paired over {mean['n']} seeds: "
        f"{found['verdict']}"
    )


def _tell(case: Case, epoch: int) -> None:
    """A line that is written over, of a terminal alone."""
    if sys.stderr.isatty():
        what = f"epoch {epoch}" if epoch else "tests"
        sys.stderr.write(f"\r\x1b[K{case.network} at {case.rate:g}, seed {case.seed}: {what}")
        sys.stderr.flush()


def _tell_run(sweep: Sweep, run: Run) -> None:
    right = "diverged" if run.accuracy is None else f"{run.accuracy:.2%}"
    place = f"{len(sweep.runs)} of {len(sweep.spec.cases)}"
    clear = "\r\x1b[K" if sys.stderr.isatty() else ""
    said = f"{run.network} at {run.rate:g}, seed {run.seed}: {right} in {run.seconds:.0f} s"
    print(f"{clear}{place}: {said}", file=sys.stderr, flush=True)
