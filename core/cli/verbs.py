"""What each verb does: call the core, print a sentence or one JSON object."""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from core.checkpoints.files import write_json, write_whole
from core.checkpoints.store import load_checkpoint
from core.cli import train as training
from core.cli.paths import JUDGED, PEOPLE
from core.cli.places import checkpoint_folder, load_corpus
from core.data.biographies import biographies
from core.data.people import load_people, question_text
from core.data.reference import compare, load_judgements, load_reference, table_figures
from core.evaluation import accuracy
from core.generation.greedy import answer
from core.inspection.trace import trace as trace_model

DEFAULT_SENTENCES = 6


def ask(options: argparse.Namespace) -> None:
    """Answer one question."""
    stored = load_checkpoint(checkpoint_folder(options.checkpoint))
    (given,) = answer(stored.model, stored.vocabulary, [options.question])
    report = {
        "question": options.question,
        "answer": given.text,
        "probability": given.probability,
        "expected": expected_answer(options.question),
    }
    _print(
        options,
        report,
        f"{given.text}\nprobability {given.probability:.2g}, {_expectation(report)}",
    )


def evaluate(options: argparse.Namespace) -> None:
    """Answer a split and set the result beside the baselines."""
    folder = checkpoint_folder(options.checkpoint)
    stored = load_checkpoint(folder)
    kind = stored.card.get("recipe", {}).get("corpus", "notable")
    corpus = load_corpus(kind, n_sentences=DEFAULT_SENTENCES, folder=options.corpus)
    if options.record:
        training.finish_card(folder, stored.card, corpus)
    asked = corpus.held_out if options.split == "held-out" else corpus.questions(options.split)
    started = time.perf_counter()
    result = accuracy.evaluate(stored.model, stored.vocabulary, asked)
    seconds = time.perf_counter() - started
    place, constant = accuracy.constant_baseline(corpus.known(), asked)
    low, high = accuracy.wilson_interval(result.correct, result.total)
    report = {
        "checkpoint": stored.name,
        "split": options.split,
        "correct": result.correct,
        "total": result.total,
        "accuracy": result.accuracy,
        "interval_95": [low, high],
        "constant_answer": place,
        "constant_baseline": constant,
        "nearest_name_baseline": accuracy.nearest_name_baseline(corpus.known(), asked),
        "seconds": seconds,
    }
    _print(
        options,
        report,
        f"{stored.name}, {options.split}: {result.correct} of {result.total} "
        f"({result.accuracy:.1%}, 95 % interval {low:.1%} to {high:.1%}) in {seconds:.1f} s; "
        f"always {place}: {constant:.1%}; nearest name: {report['nearest_name_baseline']:.1%}",
    )


def trace(options: argparse.Namespace) -> None:
    """Record every head while one question is answered, and prove the record."""
    stored = load_checkpoint(checkpoint_folder(options.checkpoint))
    record = trace_model(stored.model, stored.vocabulary, options.question)
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
    }
    if options.out is not None:
        write_json(options.out, record.to_dict())
    _print(
        options,
        report,
        f"{record.answer}\n{record.n_layers} layers, {record.n_heads} heads, "
        f"{len(record.labels)} tokens; replay difference {proof.replay_max_difference:.1e}, "
        f"row sums within {proof.row_sum_max_error:.1e}, future exactly zero: "
        f"{proof.future_exactly_zero}, {proof.dtype}",
    )


def train(options: argparse.Namespace) -> None:
    """Train a preset into a folder, or go on with a stopped run."""
    if options.resume is not None:
        fixed = [n for n in ("minutes", "steps", "seed", "out") if getattr(options, n) is not None]
        fixed += ["tuning"] if options.tuning else []
        if fixed:
            raise ValueError(f"--{fixed[0]} is fixed since the run began; leave it out")
        run = training.resume_run(options.resume, corpus_folder=options.corpus)
    elif options.out is None:
        raise ValueError("--out DIR is needed with --preset")
    else:
        run = training.start_run(
            options.preset,
            options.out,
            minutes=options.minutes,
            steps=options.steps,
            seed=options.seed or 0,
            corpus_folder=options.corpus,
            tuning=options.tuning,
        )
    card = training.train(run, log=lambda line: print(line, file=sys.stderr, flush=True))
    _print(options, card, f"{run.folder}: {json.dumps(card['figures'])}")


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
    write_whole(out, lambda temporary: _write(temporary, text))
    _print(options, {"out": str(out), "lines": len(lines)}, f"{len(lines)} lines in {out}")


def expected_answer(question: str) -> str | None:
    """The known birthplace if the question is the template about somebody in the table."""
    known = {question_text(p.name): p.birthplace for p in load_people(PEOPLE)}
    return known.get(question.strip())


def _expectation(report: dict[str, Any]) -> str:
    expected = report["expected"]
    if expected is None:
        return "nobody known to the table is asked about"
    return "right" if report["answer"] == expected else f"wrong: {expected} is expected"


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _print(options: argparse.Namespace, report: dict[str, Any], text: str) -> None:
    print(json.dumps(report, ensure_ascii=False) if options.json else text)
