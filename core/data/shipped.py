"""The corpora that a training can read: the shipped table, or a folder with the course's files."""

from pathlib import Path

from core.data.corpus import TrainingCorpus, course_corpus, notable_corpus
from core.data.course import load_course
from core.data.people import load_people
from core.paths import PEOPLE


def load_corpus(kind: str, *, n_sentences: int, folder: Path | None) -> TrainingCorpus:
    """`notable` from the shipped table, `course` from a folder that the user names."""
    if kind == "notable":
        return notable_corpus(load_people(PEOPLE), n_sentences=n_sentences)
    if folder is None:
        raise ValueError("the course's files are not shipped: name their folder with --corpus")
    return course_corpus(load_course(folder))
