"""`reader`: how well birthplaces are found in sentences, by what learned from training pairs."""

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from core.cli.arguments import named_file
from core.cli.tables import TABLES
from core.data.corpus import TrainingCorpus
from core.data.people import Question
from core.data.task import COURSE
from core.evaluation.shares import ceiling
from core.files import write_json
from core.intervals import wilson_interval
from core.reader.reading import Found, Readers, read
from core.reader.writing import is_sure, pairs_of, readers_of
from core.runs.card import machine
from core.runs.kind import figure

SUREST = 0.9


def add_reader(parser: argparse.ArgumentParser) -> None:
    """The options of the verb."""
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="the course's own files")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--tuning", action="store_true", help="leave dev alone: held-out questions only"
    )
    parser.add_argument("--record", action="store_true", help="write the figures into --out")
    parser.add_argument(
        "--out", type=named_file, default=TABLES / "reader.json", metavar="FILE", help="a table"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object to standard output")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Train readers on the questions asked in training, and let them read the others' sentences.

    Raises ValueError for --record beside --tuning.
    """
    if options.record and options.tuning:
        raise ValueError("--record is for all figures: leave out --tuning")
    corpus = COURSE.corpus(n_sentences=1, folder=options.corpus)
    started = time.perf_counter()
    with tqdm(unit="epoch", disable=None) as bar:

        def told(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        readers = readers_of(corpus, seed=options.seed, progress=told)
    seconds = time.perf_counter() - started
    report = {
        "machine": machine(),
        "seed": options.seed,
        "n_nets": len(readers.nets),
        "seconds": round(seconds, 1),
        **_measured(readers, corpus, tuning=options.tuning),
        "data_sha256": corpus.digest,
    }
    if options.record:
        write_json(options.out, report)
    print(json.dumps(report, ensure_ascii=False) if options.json else _text(report))


def _measured(readers: Readers, corpus: TrainingCorpus, *, tuning: bool) -> dict[str, Any]:
    """Right answers by split, how many stand in the text at all, and how many are kept."""
    splits = {"held_out": corpus.held_out} | ({} if tuning else {"dev": corpus.dev})
    found = {name: read(readers, pairs_of(corpus, asked)) for name, asked in splits.items()}
    others = [] if tuning else read(readers, pairs_of(corpus, corpus.test))
    written = [one for part in (*found.values(), others) for one in part]
    return {
        "in_sentence": {name: _in_sentence(corpus, asked) for name, asked in splits.items()},
        **{name: _figures(asked, found[name]) for name, asked in splits.items()},
        "kept": {"written": len(written), "kept": sum(map(is_sure, written))},
    }


def _in_sentence(corpus: TrainingCorpus, asked: Sequence[Question]) -> dict[str, Any]:
    return figure(round(ceiling(asked, corpus.texts(asked)) * len(asked)), len(asked))


def _figures(asked: Sequence[Question], found: Sequence[Found]) -> dict[str, Any]:
    """Exactly right answers: of all, with the interval, and of those that are surest."""
    right = [one.answer == question.answer for one, question in zip(found, asked, strict=True)]
    order = sorted(range(len(found)), key=lambda index: -found[index].probability)
    surest = order[: max(1, int(SUREST * len(order)))]
    return {
        **figure(sum(right), len(right)),
        "interval_95": list(wilson_interval(sum(right), len(right))),
        "surest_90": round(sum(right[index] for index in surest) / len(surest), 4),
    }


def _text(report: dict[str, Any]) -> str:
    kept, lines = report["kept"], list[str]()
    for name in ("held_out", "dev"):
        if name in report:
            one, low_high = report[name], report[name]["interval_95"]
            lines.append(
                f"{name.replace('_', '-')}: {one['correct']} of {one['total']} "
                f"({one['accuracy']:.1%}, 95 % interval {low_high[0]:.1%} to {low_high[1]:.1%}), "
                f"of the surest 90 % {one['surest_90']:.1%}; "
                f"{report['in_sentence'][name]['accuracy']:.1%} stand in the sentence at all"
            )
    return "\n".join(
        [
            f"{report['n_nets']} readers, trained in {report['seconds']:.0f} s",
            *lines,
            f"sure of {kept['kept']} of {kept['written']} answers",
        ]
    )
