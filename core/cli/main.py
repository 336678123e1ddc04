"""The parser of `python -m core <verb>`.

With --json exactly one JSON object goes to standard output and everything else to standard error.
A ValueError is the user's, an OSError the system's: one line, exit status 2.
Ctrl-C: one line, 130. A reader who has gone (`| head -1`) is no error: silence and 141, which is
what a shell says of any other program that the closed pipe ends, as 130 is of one that Ctrl-C ends.
Python itself would give 1, but so does every traceback.
"""

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn, TextIO

from core.cli import verbs
from core.cli.arguments import add_device, named_file, positive, typed
from core.cli.bench import add_bench
from core.cli.evaluating import add_evaluate
from core.cli.heads import add_heads
from core.cli.importing import add_import
from core.cli.jobs import add_jobs
from core.cli.knowledge import add_knowledge
from core.cli.lessons import add_lesson
from core.cli.look import add_look
from core.cli.memory import add_memory
from core.cli.montecarlo import add_montecarlo
from core.cli.opening import add_open
from core.cli.reader import add_reader
from core.cli.repeated import add_repeated
from core.cli.speech import add_speech
from core.cli.tables import add_ablation, add_seeds
from core.cli.tracing import add_trace_file
from core.cli.train import add_train
from core.data.biographies import PATTERNS
from core.data.characters import legible

DEFAULT_CHECKPOINT = "notable-pretrained"
REFUSED, INTERRUPTED, UNHEARD = 2, 130, 141


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, without the usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"error: {legible(message)} (see {self.prog} --help)\n")


def main(arguments: Sequence[str]) -> int:
    """Run one verb; returns the exit status."""
    try:
        return _run(arguments)
    except BrokenPipeError as error:
        if error.filename is None:  # not a file that was asked for, but what is printed
            return UNHEARD
        return _end(REFUSED, f"error: {error}")
    except (ValueError, OSError) as error:
        said = " ".join(map(str.strip, str(error).splitlines()))
        return _end(REFUSED, f"error: {legible(said)}")
    except KeyboardInterrupt:
        return _end(INTERRUPTED, "interrupted")


def _run(arguments: Sequence[str]) -> int:
    """The status is 0 unless a verb gives another."""
    try:
        _refuse_bytes(arguments)
        options = build_parser().parse_args(arguments)
        return options.run(options) or 0
    finally:
        for stream in (sys.stdout, sys.stderr):
            _deliver(stream)


def _refuse_bytes(arguments: Sequence[str]) -> None:
    """Python hands over a byte that is no UTF-8 as half a character, which no text may hold."""
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError as error:
            raise ValueError(
                f"{argument!a} is not UTF-8 from position {error.start} on: arguments are texts "
                "and names in UTF-8"
            ) from None


def _deliver(stream: TextIO | None) -> None:
    """Find out here whether all was taken: at its exit Python would print a traceback."""
    if stream is None:  # closed by whoever started this
        return
    try:
        stream.flush()
    except OSError:
        with suppress(OSError):
            stream.close()  # what is left in it would be tried again at the exit
        raise


def _end(status: int, line: str) -> int:
    with suppress(OSError):  # nobody may be there to read it
        print(line, file=sys.stderr)
    with suppress(OSError):
        _deliver(sys.stderr)
    return status


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
    knowledge = commands.add_parser("knowledge", help="what a model knows, and what it makes up")
    _add_checkpoint(knowledge)
    add_knowledge(knowledge)
    repeated = commands.add_parser("repeated", help="heads while random tokens are said twice")
    _add_checkpoint(repeated)
    add_repeated(repeated)
    add_train(commands.add_parser("train", help="train a preset, or go on with a stopped run"))
    add_ablation(
        commands.add_parser("ablation", help="what pretraining buys: trainings that differ in one")
    )
    add_reader(
        commands.add_parser("reader", help="find birthplaces in sentences, as self-teaching does")
    )
    add_seeds(commands.add_parser("seeds", help="mean and range of one preset over seeds"))
    add_jobs(commands.add_parser("jobs", help="trainings in the background"))
    _add_data(commands.add_parser("data", help="look at the table of people"))
    _add_corpus(commands.add_parser("corpus", help="write the pretraining sentences, one a line"))
    add_memory(commands.add_parser("memory", help="what a state recalls, overwrites and costs"))
    add_montecarlo(
        commands.add_parser("montecarlo", help="draw outputs under perturbed keys, beside theory")
    )
    add_bench(commands.add_parser("bench", help="time, memory and error of attention mechanisms"))
    add_import(
        commands.add_parser("import", help="read a file of the course's code, nanoGPT or minGPT")
    )
    add_speech(commands.add_parser("speech", help="speech: sentences to learn from; what is heard"))
    add_lesson(commands.add_parser("lesson", help="lessons, and whether their figures hold"))
    add_look(commands.add_parser("look", help="networks that look at pictures, and their sweep"))
    add_open(commands.add_parser("open", help="anyone's model: a folder or a GGUF file"))
    return parser


def _add_ask(ask: argparse.ArgumentParser) -> None:
    ask.add_argument("question", type=typed)
    _add_checkpoint(ask)
    _add_writing(ask)
    add_device(ask)
    _add_json(ask)
    ask.set_defaults(run=verbs.ask)


def _add_trace(trace: argparse.ArgumentParser) -> None:
    trace.add_argument("question", type=typed)
    _add_checkpoint(trace)
    _add_writing(trace)
    trace.add_argument(
        "--out",
        type=named_file,
        help="write the whole trace to this file: as JSON, or to FILE.trace, which the pages open",
    )
    add_trace_file(trace)
    add_device(trace)
    _add_json(trace)
    trace.set_defaults(run=verbs.trace)


def _add_writing(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tokens", type=positive, default=40, metavar="K", help="write at most K tokens (40)"
    )
    parser.add_argument(
        "--chat",
        action="store_true",
        help="put the model's own chat template around the text; what goes in is shown",
    )
    parser.add_argument(
        "--target",
        type=typed,
        metavar="TEXT",
        help="of an encoder-decoder: what its decoder is given, token by token, in the place of "
        "what it would write; said is how likely that is",
    )


def _add_data(data: argparse.ArgumentParser) -> None:
    actions = data.add_subparsers(dest="action", required=True)
    check = actions.add_parser("check", help="figures, and birthplaces against a reference")
    check.add_argument("--reference", type=Path)
    _add_json(check)
    check.set_defaults(run=verbs.check)


def _add_corpus(corpus: argparse.ArgumentParser) -> None:
    corpus.add_argument("--out", type=named_file, required=True)
    corpus.add_argument("--sentences", type=int, default=6, help=f"a person, 1 to {len(PATTERNS)}")
    corpus.add_argument("--seed", type=int, default=0)
    _add_json(corpus)
    corpus.set_defaults(run=verbs.corpus)


def _add_checkpoint(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--checkpoint",
        default=DEFAULT_CHECKPOINT,
        help="a shipped name, an opened model, a folder, or a GGUF file",
    )


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object to standard output")
