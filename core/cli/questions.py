"""`--questions FILE`: a question set in the place of a split of the checkpoint's task."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.checkpoints.store import Checkpoint, asking
from core.data.corpus import TrainingCorpus, questions_digest
from core.data.people import Question
from core.data.question_file import list_sets, read_set
from core.data.question_set import FIRST_TOKENS, RULES, QuestionSet
from core.data.task import TASKS
from core.paths import question_folders

DEFAULT_SENTENCES = 6
SPLITS = ("train", "held-out", "dev", "test")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What a checkpoint is asked: a split of its task, or a set. `stored` is asked the set.

    A head that is off may give its mean over `means_over`: the dev questions, or those of the set.
    """

    stored: Checkpoint
    split: str
    questions: Sequence[Question]
    means_over: Sequence[Question]
    asked: QuestionSet | None

    @property
    def digest(self) -> str:
        """Of what a measured figure is about."""
        return questions_digest(self.questions) if self.asked is None else self.asked.digest


def add_questions(parser: argparse.ArgumentParser) -> None:
    """The options that say what is asked."""
    parser.add_argument("--split", choices=SPLITS, help="of the checkpoint's task; dev unless told")
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="the course's own files")
    parser.add_argument(
        "--questions",
        metavar="FILE",
        help="a set of your own in their place: a table (prompt, answer, perhaps subject) with "
        f"tabs between, or one of {', '.join(list_sets(question_folders()))}",
    )
    parser.add_argument(
        "--right",
        choices=tuple(RULES),
        help="of such a set, what is right: the answer's first tokens (unless told), or the exact "
        "text",
    )


def choose_questions(stored: Checkpoint, options: argparse.Namespace) -> Chosen:
    """The set that is named, or a split. Raises ValueError for both at once, and for what cannot
    be read.
    """
    asked = named_set(options)
    if asked is not None:
        return Chosen(
            stored=asking(stored, asked),
            split=asked.name,
            questions=asked.questions,
            means_over=asked.questions,
            asked=asked,
        )
    corpus, split = corpus_of(stored, options.corpus), options.split or "dev"
    return Chosen(
        stored=stored,
        split=split,
        questions=corpus.questions(split),
        means_over=corpus.dev,
        asked=None,
    )


def named_set(options: argparse.Namespace) -> QuestionSet | None:
    """The set that --questions names: a file, or a set that lies where sets lie."""
    named = options.questions
    if named is None:
        if options.right is not None:
            raise ValueError("--right is for a question set: name its file with --questions")
        return None
    for option in ("split", "corpus"):
        if getattr(options, option) is not None:
            raise ValueError(
                f"--questions is asked in the place of a task's questions: leave out --{option}"
            )
    path = Path(named)
    if not path.exists():
        path = list_sets(question_folders()).get(named, path)
    return read_set(path, options.right or FIRST_TOKENS)


def corpus_of(stored: Checkpoint, folder: Path | None) -> TrainingCorpus:
    """The corpus of a checkpoint's task; the course's files lie in `folder`.

    Raises ValueError for a checkpoint without a task: it has no questions.
    """
    if stored.task is None:
        raise ValueError(
            f"checkpoint {stored.name} has no questions: its card names no task known here "
            f"({', '.join(TASKS)}); name a question set with --questions FILE"
        )
    recipe = stored.card.get("recipe", {})
    sentences = recipe.get("n_sentences", DEFAULT_SENTENCES)
    return stored.task.corpus(n_sentences=sentences, folder=folder)
