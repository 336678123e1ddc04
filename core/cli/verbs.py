"""What each verb does: call the core, print a sentence or one JSON object."""

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.checkpoints.any import load_any
from core.checkpoints.store import Checkpoint
from core.cli.arguments import progress_line
from core.cli.tracing import refuse_other_files, write_trace
from core.data.biographies import biographies
from core.data.characters import legible
from core.data.foreign_vocabulary import typing_note
from core.data.outside_vocabulary import OutsideVocabulary
from core.data.people import BIRTHPLACE, is_right, load_people
from core.data.reference import compare, load_judgements, load_reference, table_figures
from core.files import write_text
from core.inspection.trace import trace as trace_model
from core.inspection.trace_json import said_of
from core.inspection.traced import AttentionTrace
from core.paths import JUDGED, PEOPLE

PROVED = (
    "replay_max_difference row_sum_max_error future_exactly_zero same_argmax head_sum_max_error"
).split()
GIVEN = " of this target, which was given and not written"


def ask(options: argparse.Namespace) -> None:
    """Answer one question, and prove that the heads' weights are what the model used."""
    record = _traced(_load(options), options)
    proof = record.proof
    report = {
        "question": options.question,
        "answer": record.answer,
        "probability": record.probability,
        "expected": expected_answer(options.question),
        "proof": {name: getattr(proof, name) for name in PROVED},
        **_target_report(record),
    }
    ending = _target_lines(record) if record.teacher_forced else f", {_expectation(report)}"
    _print(
        options,
        report,
        f"{_aloud(record.answer)}probability {record.probability:.2g}{ending}",
    )


def trace(options: argparse.Namespace) -> None:
    """Record every head while one question is answered, and prove the record."""
    refuse_other_files(options)
    stored = _load(options)
    record = _traced(stored, options)
    proof = record.proof
    report = {
        "answer": record.answer,
        "replay_max_difference": proof.replay_max_difference,
        "row_sum_max_error": proof.row_sum_max_error,
        "future_exactly_zero": proof.future_exactly_zero,
        "dtype": proof.dtype,
        "n_layers": record.n_layers,
        "n_heads": record.n_heads,
        "tokens": list(record.labels),
        **_target_report(record),
    }
    given = f"probability {record.probability:.2g}{GIVEN}; " if record.teacher_forced else ""
    if options.out is not None:
        write_trace(options, stored, record)
    _print(
        options,
        report,
        f"{_aloud(record.answer)}{given}{record.n_layers} layers, {record.n_heads} heads, "
        f"{len(record.labels)} tokens; replay difference {proof.replay_max_difference:.1e}, "
        f"row sums within {proof.row_sum_max_error:.1e}, future exactly zero: "
        f"{proof.future_exactly_zero}, {proof.dtype}",
    )


def check(options: argparse.Namespace) -> None:
    """The table's own figures and, with a reference, where birthplaces differ."""
    people = load_people(PEOPLE)
    report: dict[str, Any] = dict(table_figures(people))
    lines = [f"{key}: {value:.4g}" for key, value in report.items()]
    if options.reference is not None:
        result = compare(people, load_reference(options.reference), load_judgements(JUDGED))
        report |= {
            "shared": result.shared,
            "agreed": result.agreed,
            "judged": len(result.judged),
            "right_share": result.right / max(1, result.shared),
            "unjudged": [list(row) for row in result.unjudged],
        }
        lines.append(
            f"{result.shared} names are in both, {result.agreed} birthplaces agree, "
            f"{len(result.judged)} differ and were judged; right after judging: "
            f"{report['right_share']:.1%}"
        )
        lines += [
            f"{j.name}: {j.ours} | {j.reference} | {j.verdict} | {j.reason}" for j in result.judged
        ]
        lines += [f"NOT JUDGED {name}: {ours} | {theirs}" for name, ours, theirs in result.unjudged]
    _print(options, report, "\n".join(lines))
    if report.get("unjudged"):
        raise ValueError(f"{len(report['unjudged'])} disagreements have no line in {JUDGED.name}")


def corpus(options: argparse.Namespace) -> None:
    """Write the pretraining sentences."""
    lines = biographies(load_people(PEOPLE), n_sentences=options.sentences, seed=options.seed)
    text = "".join(f"{line.text}\n" for line in lines)
    out: Path = options.out
    write_text(out, text)
    _print(options, {"out": str(out), "lines": len(lines)}, f"{len(lines)} lines in {out}")


def expected_answer(question: str) -> str | None:
    """The known birthplace if the question is the template about somebody in the table."""
    known = {BIRTHPLACE.question(p.name): p.birthplace for p in load_people(PEOPLE)}
    return known.get(question.strip())


def _traced(stored: Checkpoint, options: argparse.Namespace) -> AttentionTrace:
    return trace_model(
        stored, options.question, max_new_tokens=options.tokens, target=options.target
    )


def _target_report(record: AttentionTrace) -> dict[str, Any]:
    """That a target was given, and how likely each of its tokens is; else nothing."""
    if not record.teacher_forced:
        return {}
    return {"teacher_forced": True, "steps": said_of(record)["steps"]}


def _target_lines(record: AttentionTrace) -> str:
    """That it was given, and a line a token with the next best."""
    lines = [
        f"{step.label}: {step.probability:.2g}; next best "
        + ", ".join(f"{other.label} {other.probability:.2g}" for other in step.next_best)
        for step in record.steps
    ]
    return "\n".join([GIVEN, *lines])


def _load(options: argparse.Namespace) -> Checkpoint:
    """The checkpoint; standard error says what has to be typed if it is not a text."""
    stored = load_any(options.checkpoint, progress=progress_line(), device=options.device)
    vocabulary = stored.vocabulary
    if note := typing_note(vocabulary):
        print(note, file=sys.stderr)
    if not options.chat:
        return stored
    if not isinstance(vocabulary, OutsideVocabulary):
        raise ValueError(f"--chat: {stored.name} has no chat template: give it plain text")
    in_chat = vocabulary.as_chat()
    print(f"goes in: {legible(in_chat.text_in(options.question))}", file=sys.stderr)
    return replace(stored, vocabulary=in_chat)


def _aloud(answer: str) -> str:
    """The answer alone on the first line; that there is none is said as on the pages, and again."""
    return f"{answer}\n" if answer.strip() else "(nothing)\nthe model gives no answer; "


def _expectation(report: dict[str, Any]) -> str:
    expected = report["expected"]
    if expected is None:
        return "nobody known to the table is asked about"
    return "right" if is_right(report["answer"], expected) else f"wrong: {expected} is expected"


def _print(options: argparse.Namespace, report: dict[str, Any], text: str) -> None:
    print(json.dumps(report, ensure_ascii=False) if options.json else legible(text))
