"""`knowledge`: what a model knows of people, what it makes up, and what gives it away."""

import argparse
import json
from dataclasses import replace
from pathlib import Path

from core.checkpoints.any import load_any, records_folder, weights_digest_of
from core.checkpoints.store import Checkpoint, asking
from core.cli.arguments import DONE, add_device, progress_line
from core.cli.knowledge_text import knowledge_text
from core.cli.questions import corpus_of, named_set
from core.data.characters import legible
from core.data.question_file import list_sets
from core.data.question_set import RULES
from core.knowledge.asking import Asking, asking_of, asking_of_set
from core.knowledge.file import knowledge_dict, save_knowledge
from core.knowledge.measuring import ask_own, measure
from core.knowledge.own_names import OwnName, read_names
from core.knowledge.record import Knowledge
from core.paths import question_folders
from core.runs.card import machine

LEAST = 4  # names of each group: of half of them there must be two


def add_knowledge(parser: argparse.ArgumentParser) -> None:
    """The options of the verb, without --checkpoint."""
    parser.description = __doc__
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="the course's own files")
    parser.add_argument(
        "--questions",
        metavar="FILE",
        help="a set of your own in the place of the task's people: a table (prompt, answer, "
        f"subject) with tabs between, or one of {', '.join(list_sets(question_folders()))}",
    )
    parser.add_argument(
        "--right",
        choices=tuple(RULES),
        help="of such a set, what is right: the answer's first tokens (unless told), or the exact "
        "text",
    )
    parser.add_argument(
        "--names",
        type=Path,
        metavar="FILE",
        help="a group of your own beside the others: a table (name, perhaps place) with a tab "
        "between; it is not recorded",
    )
    parser.add_argument(
        "--most", type=int, metavar="N", help="only the first N names of each group: a quick look"
    )
    parser.add_argument(
        "--record",
        action="store_true",
        help="write the result beside the checkpoint: the page shows it at once",
    )
    add_device(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object to standard output")
    parser.set_defaults(run=run, split=None)


def run(options: argparse.Namespace) -> None:
    """Ask all names, write what was asked for, print."""
    if options.record and options.most is not None:
        raise ValueError("--record is for whole groups: leave out --most")
    if options.most is not None and options.most < LEAST:
        raise ValueError(f"--most {options.most}: at least {LEAST} names of each group are needed")
    own = None if options.names is None else (options.names.stem, read_names(options.names))
    progress = progress_line()
    stored = load_any(options.checkpoint, progress=progress, device=options.device)
    stored, asked = _asking(stored, options)
    found = measure(
        stored,
        asked if options.most is None else asked.cut(options.most),
        weights=weights_digest_of(options.checkpoint),
        machine=machine(),
        progress=progress,
    )
    if options.record:
        save_knowledge(records_folder(options.checkpoint), found)
    if own is not None:
        found = _with_own(stored, found, asked, own)
    progress(DONE)
    said = json.dumps(knowledge_dict(found), ensure_ascii=False) if options.json else None
    print(legible(knowledge_text(found)) if said is None else said)


def _asking(stored: Checkpoint, options: argparse.Namespace) -> tuple[Checkpoint, Asking]:
    """A set that is named, or the checkpoint's task."""
    questions = named_set(options)
    if questions is not None:
        return asking(stored, questions), asking_of_set(questions)
    corpus = corpus_of(stored, options.corpus)
    if stored.task is None:  # corpus_of has refused it
        raise ValueError(f"checkpoint {stored.name} has no task")
    return stored, asking_of(stored.task, corpus)


def _with_own(
    stored: Checkpoint, found: Knowledge, asked: Asking, own: tuple[str, tuple[OwnName, ...]]
) -> Knowledge:
    name, rows = own
    group, _ = ask_own(stored, rows, asked)
    groups = {**found.groups, name: replace(group, name=name, label=name)}
    return replace(found, groups=groups)
