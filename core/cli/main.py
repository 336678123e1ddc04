"""The parser of `python -m core <verb>`.

With --json exactly one JSON object goes to standard output and everything else to standard error.
A ValueError is the user's, an OSError the system's: one line, exit status 2.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from core.cli import verbs
from core.cli.ablation import add_ablation
from core.cli.bench import add_bench
from core.cli.evaluating import add_evaluate
from core.cli.heads import add_heads
from core.cli.importing import add_import
from core.cli.jobs import add_jobs
from core.cli.montecarlo import add_montecarlo
from core.cli.seeds import add_seeds
from core.cli.train import add_train
from core.cli.typed import typed
from core.data.biographies import PATTERNS
from core.data.characters import legible

DEFAULT_CHECKPOINT = "notable-pretrained"


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, without the usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"error: {legible(message)} (see {self.prog} --help)\n")


def main(arguments: Sequence[str]) -> int:
    """Run one verb; returns the exit status."""
    options = build_parser().parse_args(arguments)
    try:
        options.run(options)
    except (ValueError, OSError) as error:
        print(f"error: {legible(' '.join(str(error).split()))}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return 0


def build_parser() -> argparse.ArgumentParser:
    """All verbs and their options."""
    parser = Parser(prog="python -m core", description=__doc__)
    commands = parser.add_subparsers(dest="verb", required=True)
    _add_ask(commands.add_parser("ask", help="answer one question"))
    evaluate = commands.add_parser("evaluate", help="answer all questions of a split")
    _add_checkpoint(evaluate)
    add_evaluate(evaluate)
    _add_trace(
        commands.add_parser("trace", help="record every head while one question is answered")
    )
    heads = commands.add_parser("heads", help="what each head looks at, brings, and is worth")
    _add_checkpoint(heads)
    add_heads(heads)
    add_train(commands.add_parser("train", help="train a preset, or go on with a stopped run"))
    add_ablation(
        commands.add_parser("ablation", help="what pretraining buys: trainings that differ in one")
    )
    add_seeds(commands.add_parser("seeds", help="mean and range of one preset over seeds"))
    add_jobs(commands.add_parser("jobs", help="trainings in the background"))
    _add_data(commands.add_parser("data", help="look at the table of people"))
    _add_corpus(commands.add_parser("corpus", help="write the pretraining sentences, one a line"))
    add_montecarlo(
        commands.add_parser("montecarlo", help="draw outputs under perturbed keys, beside theory")
    )
    add_bench(commands.add_parser("bench", help="time, memory and error of attention mechanisms"))
    add_import(commands.add_parser("import", help="read a .params file of the course's code"))
    return parser


def _add_ask(ask: argparse.ArgumentParser) -> None:
    ask.add_argument("question", type=typed)
    _add_checkpoint(ask)
    _add_json(ask)
    ask.set_defaults(run=verbs.ask)


def _add_trace(trace: argparse.ArgumentParser) -> None:
    trace.add_argument("question", type=typed)
    _add_checkpoint(trace)
    trace.add_argument("--out", type=Path, help="write the whole trace as JSON to this file")
    _add_json(trace)
    trace.set_defaults(run=verbs.trace)


def _add_data(data: argparse.ArgumentParser) -> None:
    actions = data.add_subparsers(dest="action", required=True)
    check = actions.add_parser("check", help="figures, and birthplaces against a reference")
    check.add_argument("--reference", type=Path)
    _add_json(check)
    check.set_defaults(run=verbs.check)


def _add_corpus(corpus: argparse.ArgumentParser) -> None:
    corpus.add_argument("--out", type=Path, required=True)
    corpus.add_argument("--sentences", type=int, default=6, help=f"a person, 1 to {len(PATTERNS)}")
    corpus.add_argument("--seed", type=int, default=0)
    _add_json(corpus)
    corpus.set_defaults(run=verbs.corpus)


def _add_checkpoint(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--checkpoint", default=DEFAULT_CHECKPOINT, help="a shipped name, or a folder"
    )


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object to standard output")
