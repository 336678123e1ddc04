"""What is asked of a model: of whom, in which words, and what is right. Free of torch.

A checkpoint's card names its task; that of our own trainings is the corpus of their recipe, if the
recipe is of the first kind (core.runs.kinds): others learn from something else. A model without a
task is given free texts, and nobody can say whether what it writes is right.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from core.data.course import load_course
from core.data.people import (
    BIRTHPLACE,
    Person,
    Question,
    Template,
    birthplace_question,
    leave_out,
    load_people,
)
from core.paths import PEOPLE, UNREAD

if TYPE_CHECKING:
    from core.data.corpus import TrainingCorpus


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Questions of one template, whose prompts end with the vocabulary's mark, as answers do.

    `is_shipped`: its questions lie in this repository; else their folder has to be named.
    `left_out` names the people of the table, one a line, whom its corpus says and asks nothing of.
    """

    name: str
    template: Template
    example: str
    is_shipped: bool
    left_out: Path | None = None

    def corpus(self, *, n_sentences: int, folder: Path | None) -> "TrainingCorpus":
        """Its documents, and its questions by split with their right answers.

        Raises ValueError if a folder is needed and not told, or holds something else.
        """
        from core.data.corpus import course_corpus, notable_corpus

        if self.is_shipped:
            return notable_corpus(self.people(), n_sentences=n_sentences)
        if folder is None:
            raise ValueError("the course's files are not shipped: name their folder with --corpus")
        return course_corpus(load_course(folder))

    def people(self) -> list[Person]:
        """Of whom its corpus tells. Raises ValueError if it is not made of the shipped table."""
        return self._table()[0]

    def unread(self) -> list[Question]:
        """About the people of the table whom its corpus leaves out: they are of no split."""
        if self.left_out is None:
            return []
        return [birthplace_question(person) for person in self._table()[1]]

    def _table(self) -> tuple[list[Person], list[Person]]:
        if not self.is_shipped:
            raise ValueError(f"there is no table of the people of the task {self.name!r}")
        people = load_people(PEOPLE)
        return (people, []) if self.left_out is None else leave_out(people, self.left_out)


_ADA = BIRTHPLACE.question("Ada Lovelace")
NOTABLE = Task(name="notable", template=BIRTHPLACE, example=_ADA, is_shipped=True)
COURSE = Task(name="course", template=BIRTHPLACE, example=_ADA, is_shipped=False)
# What is held out is read and only never asked; of these people nothing is read.
NOTABLE_UNREAD = Task(
    name="notable-unread", template=BIRTHPLACE, example=_ADA, is_shipped=True, left_out=UNREAD
)
TASKS = {task.name: task for task in (NOTABLE, NOTABLE_UNREAD, COURSE)}


def task_of(card: Mapping[str, Any]) -> Task | None:
    """The task that a card names, by itself or by its recipe; None if it names none known here."""
    recipe = card.get("recipe")
    trained = cast(dict[str, Any], recipe) if isinstance(recipe, dict) else {}
    name = card.get("task", None if "kind" in trained else trained.get("corpus"))
    return TASKS.get(name) if isinstance(name, str) else None
