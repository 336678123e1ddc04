"""`heads`: every head of a checkpoint in a table, what it looks at, brings, adds and is worth."""

import argparse
import json
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, get_args

from core.checkpoints.shelf import content_hash
from core.checkpoints.store import Checkpoint, load_checkpoint
from core.cli.arguments import checkpoint_folder
from core.cli.evaluating import corpus_of
from core.data.corpus import TrainingCorpus, questions_digest
from core.inspection.ablate import effect, head_means
from core.inspection.answered import answered
from core.inspection.head_record import HeadRecord, save_record
from core.inspection.head_rows import HeadRow, HeadTable, Together
from core.inspection.head_table import Progress, head_tables, measure_heads, prepare
from core.inspection.heads import HeadsOff, Mode, head_name, parse_head
from core.runs.card import machine

INSTEAD = {"zero": "zero", "mean": "its mean over the dev questions"}
KEYS = "layer head caption weight_on_name contribution attribution accuracy_without".split()
NAMES = "head|looks at|weight on name|contribution|attribution|accuracy without".split("|")


def add_heads(parser: argparse.ArgumentParser) -> None:
    """The options of the verb, without --checkpoint."""
    parser.description = __doc__
    parser.add_argument("--split", choices=("train", "held-out", "dev", "test"), default="dev")
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="the course's own files")
    parser.add_argument(
        "--mode",
        choices=get_args(Mode),
        default="zero",
        help="what takes a head's place: zero, or its mean over the dev questions",
    )
    parser.add_argument(
        "--off", nargs="+", metavar="HEAD", help="only these heads, off together: L1H5 L0H2"
    )
    parser.add_argument(
        "--record",
        action="store_true",
        help="write the table, in both modes, beside the checkpoint: the pages show it at once",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object to standard output")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Measure every head, write what was asked for, print."""
    folder = checkpoint_folder(options.checkpoint)
    stored = load_checkpoint(folder)
    corpus = corpus_of(stored, options.corpus)
    if options.off:
        report = _off(stored, corpus, options)
        print(json.dumps(report, ensure_ascii=False) if options.json else _off_text(report))
        return
    table = (_record if options.record else _measure)(folder, stored, corpus, options)
    report = {
        "checkpoint": stored.name,
        "split": options.split,
        "total": table.total,
        "mode": table.mode,
        "accuracy": table.accuracy,
        "heads": [_row(row) for row in table.rows],
        "rank_agreement": table.agreement,
        "together": {"most": _together(table.most), "least": _together(table.least)},
    }
    print(json.dumps(report, ensure_ascii=False) if options.json else _text(report, table))


def _measure(
    _: Path, stored: Checkpoint, corpus: TrainingCorpus, options: argparse.Namespace
) -> HeadTable:
    prepared = prepare(stored, corpus.questions(options.split))
    return measure_heads(stored, prepared, _in_place(stored, corpus, options.mode), _progress())


def _record(
    folder: Path, stored: Checkpoint, corpus: TrainingCorpus, options: argparse.Namespace
) -> HeadTable:
    """Both modes, into a file beside the weights."""
    asked, started = corpus.questions(options.split), time.perf_counter()
    tables, means = head_tables(stored, asked, corpus.dev, progress=_progress())
    record = HeadRecord(
        checkpoint=stored.name,
        split=options.split,
        tables=tables,
        means=means,
        seconds=time.perf_counter() - started,
        machine=machine(),
        weights=content_hash(folder),
        data=questions_digest(asked),
    )
    save_record(folder, record)
    return tables[options.mode]


def _off(stored: Checkpoint, corpus: TrainingCorpus, options: argparse.Namespace) -> dict[str, Any]:
    """Some heads off together, and what is left of the answers."""
    heads = tuple(parse_head(text) for text in options.off)
    known = answered(stored, corpus.questions(options.split))
    accuracy, off = known.accuracy, _in_place(stored, corpus, options.mode)
    found = effect(stored, known, replace(off, heads=heads))
    return {
        "checkpoint": stored.name,
        "split": options.split,
        "total": len(known.questions),
        "mode": options.mode,
        "off": [head_name(*head) for head in found.heads],
        "accuracy": accuracy,
        "accuracy_without": found.accuracy,
        "changed": int(found.changed.sum()),
        "log_probability_change": float(found.answer_change.mean()),
    }


def _in_place(stored: Checkpoint, corpus: TrainingCorpus, mode: Mode) -> HeadsOff:
    """What takes the place of heads that are off."""
    if mode == "zero":
        return HeadsOff()
    return HeadsOff(mode=mode, means=head_means(stored.model, answered(stored, corpus.dev)))


def _off_text(report: dict[str, Any]) -> str:
    return (
        f"{report['checkpoint']}, {report['split']}: {report['accuracy']:.1%} of "
        f"{report['total']} with every head, {report['accuracy_without']:.1%} without "
        f"{', '.join(report['off'])} ({report['mode']} in their place); {report['changed']} "
        f"answers change, log-probability {report['log_probability_change']:+.2f} on average"
    )


def _together(off: Together) -> dict[str, Any]:
    return {"heads": [head_name(*at) for at in off.heads], "accuracy_without": off.accuracy_without}


def _row(row: HeadRow) -> dict[str, Any]:
    values = asdict(row)
    return {key: values[key] for key in KEYS}


def _text(report: dict[str, Any], table: HeadTable) -> str:
    """The heads that matter most first."""
    lines = [[*NAMES]]
    for row in table.by_importance:
        numbers = (row.weight_on_name, row.contribution, row.attribution)
        shown = ["-" if value is None else f"{value:.2g}" for value in numbers]
        name = head_name(row.layer, row.head)
        lines.append([name, row.caption, *shown, f"{row.accuracy_without:.1%}"])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rows = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in lines]
    agreed = "; ".join(
        f"{pair.replace('_', ' ')}: {'not defined' if value is None else f'{value:.2f}'}"
        for pair, value in report["rank_agreement"].items()
    )
    start = (
        f"{report['checkpoint']}, {report['split']}: {report['accuracy']:.1%} of "
        f"{report['total']} with every head; a head that is off gives {INSTEAD[table.mode]}"
    )
    together = [
        f"those that matter {which}, off together "
        f"({', '.join(head_name(*at) for at in off.heads)}): {off.accuracy_without:.1%}"
        for which, off in (("most", table.most), ("least", table.least))
    ]
    return "\n".join([start, *rows, *together, f"rank agreement (Spearman): {agreed}"])


def _progress() -> Progress | None:
    return _show_progress if sys.stderr.isatty() else None


def _show_progress(done: int, total: int) -> None:
    print(f"\r{done} of {total} heads", end="\n" if done == total else "", file=sys.stderr)
