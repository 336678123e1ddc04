"""`evaluate --questions`: how many of a set are right, with every wrong answer; the predictions."""

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.checkpoints.any import load_any, weights_digest_of
from core.checkpoints.store import asking
from core.cli.arguments import progress_line
from core.data.characters import legible
from core.data.people import is_right
from core.data.question_set import QuestionSet
from core.evaluation.accuracy import grade
from core.files import write_text
from core.generation.greedy import Answer, answer
from core.intervals import wilson_interval
from core.runs.card import machine


def report_set(asked: QuestionSet, options: argparse.Namespace) -> None:
    """Answer, compare, write what was asked for, print. Raises ValueError for --record and
    --before: a card has figures of its task, and a set says itself what stands before.
    """
    for option in ("record", "before"):
        if getattr(options, option):
            raise ValueError(
                f"--{option} is for the questions of a task: leave it out with --questions"
            )
    stored = load_any(options.checkpoint, progress=progress_line(), device=options.device)
    stored = asking(stored, asked)
    started = time.perf_counter()
    given = answer(stored, [question.text for question in asked.questions])
    seconds, result = time.perf_counter() - started, grade(asked.questions, given)
    report = {
        "checkpoint": stored.name,
        "split": asked.name,
        "questions": len(asked.questions),
        "right": asked.right,
        "total": result.total,
        "correct": result.correct,
        "accuracy": result.accuracy,
        "interval_95": list(wilson_interval(result.correct, result.total)),
        "wrong": wrong_answers(asked, given),
        "seconds": seconds,
        "machine": machine(),
        "weights_sha256": weights_digest_of(options.checkpoint),
        "data_sha256": asked.digest,
    }
    if options.predictions is not None:
        write_predictions(options.predictions, given)
    print(json.dumps(report, ensure_ascii=False) if options.json else legible(_text(report)))


def wrong_answers(asked: QuestionSet, given: Sequence[Answer]) -> list[dict[str, Any]]:
    """Prompt, what was written and what would have been right, in the order of the set."""
    return [
        {"prompt": question.text, "given": entry.text.strip(), "expected": question.answer}
        for question, entry in zip(asked.questions, given, strict=True)
        if not is_right(entry.text, question.answer or "", question.rule)
    ]


def write_predictions(path: Path, given: list[Answer]) -> None:
    """The course's format: one answer a line, in the order of the questions."""
    text = "".join(" ".join(entry.text.split()) + "\n" for entry in given)
    write_text(path, text)


def _text(report: dict[str, Any]) -> str:
    low, high = report["interval_95"]
    first = (
        f"{report['checkpoint']}, {report['split']}: {report['correct']} of {report['total']} "
        f"({report['accuracy']:.1%}, 95 % interval {low:.1%} to {high:.1%}) in "
        f"{report['seconds']:.1f} s"
    )
    wrong = [
        f"{line['prompt']} → {line['given'] or '(nothing)'}; right: {line['expected']}"
        for line in report["wrong"]
    ]
    return "\n".join([first, f"an answer is {report['right']}", *wrong])
