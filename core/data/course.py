"""Reader for a folder with the course's own files (Stanford CS224N, assignment 5).

The files are not part of this project; a folder that holds them is named by the user.
"""

from dataclasses import dataclass
from pathlib import Path

from core.data.characters import read_lines
from core.data.people import BIRTHPLACE, Question

WIKI, TRAIN, DEV, TEST = (
    "wiki.txt",
    "birth_places_train.tsv",
    "birth_dev.tsv",
    "birth_test_inputs.tsv",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CourseData:
    """The four files: sentences, and questions with answers (test: without)."""

    sentences: list[str]
    train: list[Question]
    dev: list[Question]
    test: list[Question]

    def documents(self) -> list[tuple[str, str]]:
        """(name, sentence) pairs.

        Line i of wiki.txt belongs to row i of train, then dev, then test. The name is what the
        question says: splitting the sentence at its first full stop would break initials.
        """
        questions = [*self.train, *self.dev, *self.test]
        return [(q.name, s) for q, s in zip(questions, self.sentences, strict=True)]


def load_course(folder: Path) -> CourseData:
    """Read all four files. Raises ValueError naming file, line and what is wrong."""
    if not folder.is_dir():
        raise ValueError(f"{folder}: there is no such folder")
    data = CourseData(
        sentences=[line for line in read_lines(folder / WIKI) if line],
        train=_questions(folder / TRAIN, answered=True),
        dev=_questions(folder / DEV, answered=True),
        test=_questions(folder / TEST, answered=False),
    )
    n_questions = len(data.train) + len(data.dev) + len(data.test)
    if n_questions != len(data.sentences):
        raise ValueError(
            f"{folder / WIKI}: {len(data.sentences)} sentences, but the question files hold "
            f"{n_questions} questions; one sentence a question is needed"
        )
    return data


def name_in_question(text: str) -> str:
    """The name as the question says it; a question of another form is its own name."""
    span = BIRTHPLACE.name_span(text)
    return text if span is None else text[slice(*span)]


def _questions(path: Path, *, answered: bool) -> list[Question]:
    questions: list[Question] = []
    for number, line in enumerate(read_lines(path), 1):
        text, tab, answer = line.partition("\t")
        if answered and not tab:
            raise ValueError(f"{path}, line {number}: no tab between question and answer")
        if answered and not answer.strip():
            raise ValueError(f"{path}, line {number}: the answer is empty")
        if not text.strip():
            raise ValueError(f"{path}, line {number}: the question is empty")
        known = answer.strip() if answered else None
        questions.append(Question(text, known, name_in_question(text)))
    return questions
