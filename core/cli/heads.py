"""`heads`: every head of a checkpoint in a table, what it looks at, brings, adds and is worth."""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

from core.checkpoints.store import load_checkpoint
from core.cli.evaluating import corpus_of
from core.cli.places import checkpoint_folder
from core.inspection.ablate import Mode, head_means
from core.inspection.answered import answered
from core.inspection.captions import head_name
from core.inspection.head_table import HeadRow, HeadTable, head_table

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
    parser.add_argument("--json", action="store_true", help="one JSON object to standard output")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Measure every head, print."""
    stored = load_checkpoint(checkpoint_folder(options.checkpoint))
    corpus = corpus_of(stored, options.corpus)
    asked = corpus.questions(options.split)
    means = None
    if options.mode == "mean":
        known = answered(stored.model, stored.vocabulary, corpus.dev)
        means = head_means(stored.model, known)
    table = head_table(
        stored.model,
        stored.vocabulary,
        asked,
        mode=options.mode,
        means=means,
        progress=_show_progress if sys.stderr.isatty() else None,
    )
    report: dict[str, Any] = {
        "checkpoint": stored.name,
        "split": options.split,
        "total": table.total,
        "mode": table.mode,
        "accuracy": table.accuracy,
        "heads": [_row(row) for row in table.rows],
        "rank_agreement": table.agreement,
    }
    print(json.dumps(report, ensure_ascii=False) if options.json else _text(report, table))


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
    return "\n".join([start, *rows, f"rank agreement (Spearman): {agreed}"])


def _show_progress(done: int, total: int) -> None:
    print(f"\r{done} of {total} heads", end="\n" if done == total else "", file=sys.stderr)
