"""`heads`: every head of a checkpoint in a table, what it looks at, brings, adds and is worth."""

import argparse
import json
import time
from dataclasses import asdict, replace
from typing import Any, get_args

from core.checkpoints.any import load_any, records_folder, weights_digest_of
from core.cli.arguments import add_device, progress_line
from core.cli.heads_text import off_text, progress_over, table_text
from core.cli.questions import Chosen, add_questions, choose_questions
from core.data.characters import legible
from core.inspection.ablate import effect, head_means
from core.inspection.answered import answered
from core.inspection.head_record import HeadRecord, save_record
from core.inspection.head_rows import HeadTable, Together, score_dict
from core.inspection.head_table import (
    Prepared,
    head_tables,
    measure_heads,
    prepare,
    read_head,
)
from core.inspection.heads import HeadsOff, Mode, every_head, head_name, parse_head
from core.inspection.strongest import strongest
from core.runs.card import machine

KEYS = "layer head caption weight_on_name contribution attribution accuracy_without".split()


def add_heads(parser: argparse.ArgumentParser) -> None:
    """The options of the verb, without --checkpoint."""
    parser.description = __doc__
    add_questions(parser)
    parser.add_argument(
        "--mode",
        choices=get_args(Mode),
        default="zero",
        help="what takes a head's place: zero, or its mean over the dev questions (of a set: over "
        "the set)",
    )
    parser.add_argument(
        "--off", nargs="+", metavar="HEAD", help="only these heads, off together: L1H5 L0H2"
    )
    parser.add_argument(
        "--top",
        type=int,
        metavar="N",
        help="switch off alone only the N heads that seem to matter, by direct attribution: for "
        "large models; what was measured and what not is said",
    )
    parser.add_argument(
        "--record",
        action="store_true",
        help="write the table, in both modes, beside the checkpoint: the pages show it at once",
    )
    add_device(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object to standard output")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Measure every head, write what was asked for, print."""
    _refuse_both(options)
    stored = load_any(options.checkpoint, progress=progress_line(), device=options.device)
    chosen = choose_questions(stored, options)
    if options.off:
        report = _off(chosen, options)
        print(json.dumps(report, ensure_ascii=False) if options.json else off_text(report))
        return
    if options.record:
        table = _record(chosen, options)
        report = _report(chosen, table)
    else:
        report, table = _measure(chosen, options)
    text = (
        json.dumps(report, ensure_ascii=False)
        if options.json
        else legible(table_text(report, table))
    )
    print(text)


def _refuse_both(options: argparse.Namespace) -> None:
    if options.top is not None and options.record:
        raise ValueError("--record writes a table of every head: leave out --top")
    if options.top is not None and options.off:
        raise ValueError("--off names the heads itself: leave out --top")


def _measure(chosen: Chosen, options: argparse.Namespace) -> tuple[dict[str, Any], HeadTable]:
    """The report and the table of every head, or of those that seem to matter."""
    progress = progress_over(_many(chosen))
    prepared = prepare(chosen.stored, chosen.questions)
    heads, said = every_head(chosen.stored.model.shape), ""
    if options.top is not None:
        heads, said = strongest(prepared, options.top)
    off = _in_place(chosen, options.mode)
    table = measure_heads(chosen.stored, prepared, off, progress, heads=heads)
    report = _report(chosen, table)
    if options.top is not None:
        report |= _left_out(chosen, prepared, table, said)
    return report, table


def _report(chosen: Chosen, table: HeadTable) -> dict[str, Any]:
    return {
        "checkpoint": chosen.stored.name,
        "split": chosen.split,
        **_set(chosen),
        "total": table.total,
        "mode": table.mode,
        "accuracy": table.accuracy,
        "heads": [_row(asdict(row), table, scored=chosen.asked is not None) for row in table.rows],
        "rank_agreement": table.agreement,
        "together": {"most": _together(table.most), "least": _together(table.least)},
    }


def _set(chosen: Chosen) -> dict[str, Any]:
    """What is said of a question set: how many questions, and what is right."""
    asked = chosen.asked
    return {} if asked is None else {"questions": len(asked.questions), "right": asked.right}


def _left_out(chosen: Chosen, prepared: Prepared, table: HeadTable, said: str) -> dict[str, Any]:
    """Every head in its row, with nothing where one was not switched off; and how few were."""
    scored = chosen.asked is not None
    rows = {row.at: asdict(row) for row in table.rows}
    nothing = {"accuracy_without": None}
    heads = every_head(chosen.stored.model.shape)
    known = [rows.get(at) or {**read_head(prepared, *at), **nothing} for at in heads]
    return {
        "heads": [_row(values, table, scored=scored) for values in known],
        "measured": [head_name(*at) for at in rows],
        "not_measured": len(heads) - len(rows),
        "chosen_by": said,
    }


def _row(values: dict[str, Any], table: HeadTable, *, scored: bool) -> dict[str, Any]:
    """One head; over a question set with its sink share and its scores with and without the first
    token, null where there is none.
    """
    row = {key: values[key] for key in KEYS}
    if scored:
        row |= score_dict(table.scores, values["layer"], values["head"])
    return row


def _record(chosen: Chosen, options: argparse.Namespace) -> HeadTable:
    """Both modes, into a file beside the weights."""
    started, progress = time.perf_counter(), progress_over(_many(chosen), len(get_args(Mode)))
    tables, means = head_tables(
        chosen.stored, chosen.questions, chosen.means_over, progress=progress
    )
    record = HeadRecord(
        checkpoint=chosen.stored.name,
        split=chosen.split,
        tables=tables,
        means=means,
        seconds=time.perf_counter() - started,
        machine=machine(),
        weights=weights_digest_of(options.checkpoint),
        data=chosen.digest,
        asked=chosen.asked,
    )
    save_record(records_folder(options.checkpoint), record)
    return tables[options.mode]


def _many(chosen: Chosen) -> int | None:
    """The questions of a set, whose time is told beforehand."""
    return None if chosen.asked is None else len(chosen.asked.questions)


def _off(chosen: Chosen, options: argparse.Namespace) -> dict[str, Any]:
    """Some heads off together, and what is left of the answers."""
    heads = tuple(parse_head(text) for text in options.off)
    known = answered(chosen.stored, chosen.questions)
    accuracy, off = known.accuracy, _in_place(chosen, options.mode)
    found = effect(chosen.stored, known, replace(off, heads=heads))
    return {
        "checkpoint": chosen.stored.name,
        "split": chosen.split,
        **_set(chosen),
        "total": len(known.questions),
        "mode": options.mode,
        "off": [head_name(*head) for head in found.heads],
        "accuracy": accuracy,
        "accuracy_without": found.accuracy,
        "changed": int(found.changed.sum()),
        "log_probability_change": float(found.answer_change.mean()),
    }


def _in_place(chosen: Chosen, mode: Mode) -> HeadsOff:
    """What takes the place of heads that are off."""
    if mode == "zero":
        return HeadsOff()
    known = answered(chosen.stored, chosen.means_over)
    return HeadsOff(mode=mode, means=head_means(chosen.stored.model, known))


def _together(off: Together) -> dict[str, Any]:
    return {"heads": [head_name(*at) for at in off.heads], "accuracy_without": off.accuracy_without}
