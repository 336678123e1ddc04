"""`evaluate`: answer a split, beside what needs no model; record it, or write the predictions.

Or a question set (core.cli.evaluate_set).
"""

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from core.checkpoints.any import folder_of, load_any
from core.checkpoints.shelf import content_hash
from core.checkpoints.store import Checkpoint
from core.cli.arguments import add_device, named_file, progress_line, typed
from core.cli.evaluate_set import report_set, write_predictions
from core.cli.questions import add_questions, corpus_of, named_set
from core.data.characters import legible
from core.data.corpus import TrainingCorpus, questions_digest
from core.data.people import Question, load_people
from core.evaluation.accuracy import grade
from core.evaluation.mistakes import count_kinds, countries_in, countries_of, mistakes
from core.evaluation.report_card import evaluation_file
from core.evaluation.shares import (
    ceiling,
    constant_answer,
    constant_baseline,
    lookup_baseline,
    nearest_name_baseline,
)
from core.files import write_json
from core.generation.greedy import Answer, answer
from core.intervals import wilson_interval
from core.paths import PEOPLE
from core.runs.card import machine, write_figures
from core.runs.kind import figure

MEASURED = (
    "correct accuracy interval_95 constant_baseline nearest_name_baseline lookup_baseline "
    "ceiling kinds"
).split()


def add_evaluate(parser: argparse.ArgumentParser) -> None:
    """The options of the verb, without --checkpoint."""
    add_questions(parser)
    parser.add_argument(
        "--record",
        action="store_true",
        help="write the figure into the card, and this report beside it",
    )
    parser.add_argument(
        "--predictions", type=named_file, metavar="FILE", help="write one answer a line, in order"
    )
    parser.add_argument(
        "--before",
        type=typed,
        default="",
        metavar="TEXT",
        help="stands in front of every question: does the answer hang on where the name stands?",
    )
    add_device(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object to standard output")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Answer, compare, write what was asked for, print."""
    if (questions := named_set(options)) is not None:
        report_set(questions, options)
        return
    folder = folder_of(options.checkpoint)
    stored = load_any(options.checkpoint, progress=progress_line(), device=options.device)
    corpus, split = corpus_of(stored, options.corpus), options.split or "dev"
    asked = corpus.questions(split)
    answered = all(question.answer is not None for question in asked)
    _check_record(options, split, answered=answered)
    started = time.perf_counter()
    texts = [options.before + question.text for question in asked]
    given = answer(stored, texts)
    seconds = time.perf_counter() - started
    nothing: dict[str, Any] = dict.fromkeys(MEASURED)
    report: dict[str, Any] = {
        "checkpoint": stored.name,
        "split": split,
        **({"before": options.before} if options.before else {}),
        "total": len(asked),
        "constant_answer": constant_answer(_known(corpus, asked)),
        **(_measured(stored, corpus, asked, given) if answered else nothing),
        "seconds": seconds,
        "machine": machine(),
        "weights_sha256": content_hash(folder),
        "data_sha256": questions_digest(asked),
    }
    if options.record:
        _record(folder, stored.card, report)
    if options.predictions is not None:
        write_predictions(options.predictions, given)
    text = (
        json.dumps(report, ensure_ascii=False) if options.json else legible(_text(report, options))
    )
    print(text)


def _check_record(options: argparse.Namespace, split: str, *, answered: bool) -> None:
    if options.record and not answered:
        raise ValueError(f"--record: the {split} split comes without answers")
    if options.record and options.before:
        raise ValueError("--record is for the questions as they are: leave out --before")


def _record(folder: Path, card: dict[str, Any], report: dict[str, Any]) -> None:
    split = report["split"]
    write_figures(folder, card, {split: figure(report["correct"], report["total"])})
    write_json(evaluation_file(folder, split), report)


def _known(corpus: TrainingCorpus, asked: Sequence[Question]) -> list[Question]:
    """What the baselines may use: never the questions that are asked."""
    here = set(asked)
    return [question for question in corpus.known() if question not in here] or corpus.known()


def _measured(
    stored: Checkpoint, corpus: TrainingCorpus, asked: list[Question], given: list[Answer]
) -> dict[str, Any]:
    """Everything that only a split with answers can say."""
    result, known, texts = grade(asked, given), _known(corpus, asked), corpus.texts(asked)
    written = [entry.text.strip() for entry in given]
    found = mistakes(asked, written, known, _countries(stored, asked, written))
    return {
        "correct": result.correct,
        "accuracy": result.accuracy,
        "interval_95": list(wilson_interval(result.correct, result.total)),
        "constant_baseline": constant_baseline(known, asked)[1],
        "nearest_name_baseline": nearest_name_baseline(known, asked),
        "lookup_baseline": lookup_baseline(known, asked, texts),
        "ceiling": ceiling(asked, texts),
        "kinds": count_kinds(found),
    }


def _countries(stored: Checkpoint, asked: list[Question], written: list[str]) -> Mapping[str, str]:
    """The table's own countries for people in the table, GeoNames' for the course's people."""
    if stored.task is not None and stored.task.is_shipped:
        return countries_in(load_people(PEOPLE))
    return countries_of({*written, *(question.answer or "" for question in asked)})


def _text(report: dict[str, Any], options: argparse.Namespace) -> str:
    where = "" if options.predictions is None else f"\npredictions in {options.predictions}"
    before = f", each behind {options.before!r}" if options.before else ""
    start = f"{report['checkpoint']}, {report['split']}{before}: "
    if report["correct"] is None:
        return (
            f"{start}{report['total']} questions answered in {report['seconds']:.1f} s; this split "
            f"comes without answers, so nobody can say here how many are right{where}"
        )
    low, high = report["interval_95"]
    kinds = ", ".join(f"{name.replace('_', ' ')} {n}" for name, n in report["kinds"].items())
    return (
        f"{start}{report['correct']} of {report['total']} ({report['accuracy']:.1%}, "
        f"95 % interval {low:.1%} to {high:.1%}) in {report['seconds']:.1f} s\n"
        f"always {report['constant_answer']}: {report['constant_baseline']:.1%}; "
        f"nearest name: {report['nearest_name_baseline']:.1%}; "
        f"lookup in the text: {report['lookup_baseline']:.1%}; "
        f"ceiling: {report['ceiling']:.1%}\nwrong answers: {kinds}{where}"
    )
