"""What is asked about a model's knowledge, and beside what its answers are held. Free of torch.

Of the table's people the lists are stored (core.knowledge.stored); of the course's people they are
made anew each time, and of a question set from its subjects.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.data.characters import read_lines
from core.data.corpus import TrainingCorpus
from core.data.people import Person, Question, Rule, Template, load_people
from core.data.question_set import QuestionSet
from core.data.task import Task
from core.knowledge.file import TASK
from core.knowledge.groups import N_NAMES, Named, Source, drawn, made_groups
from core.knowledge.record import GroupName
from core.knowledge.stored import read_groups
from core.paths import GROUPS, PEOPLE, UNREAD

OF_PEOPLE = ("by_continent", "by_pronoun", "by_century")
NO_PEOPLE = "the course's files say neither continent nor pronoun nor year of birth of anybody"
NOTHING_FITS = "no name of this kind can be made of these names"
NO_TRAINING = "of a question set nobody knows what was asked in training, nor of whom"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Groups of names, and what is known beside them.

    known: whose places are known from questions; the nearest name is one of theirs. trained: the
    answers of training. people: the table, where there is one. `base` is how a name of one's own is
    asked about. `rule` says what is right. `in_set`: it is a question set's.
    """

    split: str
    groups: dict[GroupName, tuple[Named, ...]]
    known: tuple[Question, ...]
    trained: tuple[str, ...]
    base: Source
    people: tuple[Person, ...] = ()
    rule: Rule = "exact"
    stores_names: bool = True
    lacking: dict[str, str]

    @property
    def in_set(self) -> bool:
        return self.base.in_set

    @property
    def read(self) -> GroupName:
        return "set" if self.in_set else "read"

    @property
    def never(self) -> GroupName:
        """The group that nobody can have read about: real people, if there are any."""
        return "unread" if self.groups.get("unread") else "invented"

    @property
    def digest(self) -> str:
        """sha256 of every name that is asked about, of what is given and what is right."""
        rows = [
            [group, [[named.name, named.text, named.place] for named in names]]
            for group, names in self.groups.items()
        ]
        return hashlib.sha256(json.dumps([self.rule, rows]).encode()).hexdigest()

    def cut(self, most: int) -> "Asking":
        """The first `most` names of each group, for a quick look."""
        return replace(self, groups={group: names[:most] for group, names in self.groups.items()})


def asking_of(task: Task, corpus: TrainingCorpus) -> Asking:
    """Of a task. The table's own people are asked by the stored lists. Raises ValueError where a
    list names somebody who was never asked about.
    """
    people = tuple(load_people(PEOPLE)) if task.is_shipped else ()
    base = Source(name="", place=None, before=task.template.before, behind=task.template.behind)
    groups = (
        _of_table(task, corpus, people)
        if task.is_shipped
        else groups_of_corpus(corpus, task.template)
    )
    without: dict[str, str] = {} if people else dict.fromkeys(OF_PEOPLE, NO_PEOPLE)
    return _asking(
        split=TASK,
        groups=groups,
        known=tuple(corpus.known()),
        trained=tuple(question.answer or "" for question in corpus.train),
        base=base,
        people=people,
        stores_names=task.is_shipped,
        lacking=without,
    )


def asking_of_set(asked: QuestionSet, *, n: int = N_NAMES) -> Asking:
    """Of a question set: its questions, and the same prompts with other names in them.

    Raises ValueError where no subject is named, and for a set whose file would be the task's.
    """
    if asked.name == TASK:
        raise ValueError(f"a question set cannot be called {TASK}: figures of a task are kept so")
    sources = [_of_set(question) for question in asked.questions if question.span is not None]
    if not sources:
        raise ValueError(
            f"the question set {asked.name} says of no prompt where its subject stands: other "
            "names cannot take its place; add a column subject"
        )
    itself = tuple(source.itself for source in sources)
    text = "\n".join(question.text for question in asked.questions)
    made = made_groups(sources, sources, (named.name for named in itself), text, n=n)
    return _asking(
        split=asked.name,
        groups={"set": itself, **made},
        known=tuple(question for question in asked.questions if question.span is not None),
        trained=tuple(question.answer or "" for question in asked.questions),
        base=sources[0],
        rule=asked.rule,
        lacking=dict.fromkeys((*OF_PEOPLE, "by_frequency", "continents_of_invented"), NO_TRAINING),
    )


def groups_of_corpus(
    corpus: TrainingCorpus,
    template: Template,
    *,
    kinds: Mapping[str, str] | None = None,
    unread: Sequence[str] = (),
    n: int = N_NAMES,
) -> dict[GroupName, tuple[Named, ...]]:
    """Every group but "unread", by the rules. `kinds` says who may be combined with whom; of those
    in `unread` nobody is asked, and no name is made.
    """
    left_out = {*unread}
    questions = {
        split: [q for q in corpus.questions(split) if q.name not in left_out]
        for split in ("train", "held-out", "dev", "test")
    }
    trained = {question.name.casefold() for question in corpus.train}
    never = [q for split in ("dev", "test") for q in questions[split] if q.answer is not None]
    read = {q.name.casefold(): _itself(q) for q in never if q.name.casefold() not in trained}
    asked = list({q.name.casefold(): _itself(q) for q in questions["train"]}.values())
    everybody = {q.name: q for split in questions.values() for q in split}
    sources = [_source(q, template, kinds) for q in everybody.values()]
    bases = [_source(q, template, kinds) for q in questions["train"]]
    names = [name for name, _ in corpus.documents] + [source.name for source in sources]
    text = "\n".join(line for _, lines in corpus.documents for line in lines)
    return {
        "asked": drawn(asked, n),
        "read": tuple(read.values()),
        **made_groups(sources, bases, [*names, *unread], text, n=n),
    }


def table_groups(
    corpus: TrainingCorpus, people: Sequence[Person], template: Template, unread: Sequence[str]
) -> dict[GroupName, tuple[Named, ...]]:
    """The groups of the table by the rules, as assets/make_groups.py stores them."""
    kinds = {person.name: f"{person.continent}, {person.pronoun}" for person in people}
    return groups_of_corpus(corpus, template, kinds=kinds, unread=unread)


def _of_table(
    task: Task, corpus: TrainingCorpus, people: Sequence[Person]
) -> dict[GroupName, tuple[Named, ...]]:
    """By the stored lists. Whoever any corpus leaves out is of no other group in all of them, so
    that their figures can be compared: "unread" where they are left out, else "left_out" those of
    them who were never asked about.
    """
    places = {person.name: person.birthplace for person in people}
    unread, trained = {*read_lines(UNREAD)}, {question.name for question in corpus.train}
    never = [*corpus.dev, *corpus.test]
    groups: dict[GroupName, tuple[Named, ...]] = {
        "asked": (),
        "read": tuple(_itself(q) for q in never if q.name not in unread),
    }
    if left_out := task.unread():
        groups["unread"] = tuple(map(_itself, left_out))
    else:
        groups["left_out"] = tuple(_itself(q) for q in never if q.name in unread)
    for group, rows in read_groups(GROUPS).items():
        groups[group] = tuple(_stored(name, person, places, task.template) for name, person in rows)
    if strangers := [named.name for named in groups["asked"] if named.name not in trained]:
        raise ValueError(f"{GROUPS.name}: {strangers[0]} is not asked about in training")
    return groups


def _stored(name: str, person: str, places: Mapping[str, str], template: Template) -> Named:
    if person and person not in places:
        raise ValueError(f"{GROUPS.name}: {person} stands not in {PEOPLE.name}")
    return Named(name=name, text=template.question(name), place=places.get(person), person=person)


def _source(question: Question, template: Template, kinds: Mapping[str, str] | None) -> Source:
    return Source(
        name=question.name,
        place=question.answer,
        before=template.before,
        behind=template.behind,
        kind="" if kinds is None else kinds[question.name],
    )


def _of_set(question: Question) -> Source:
    start, end = question.span or (0, 0)
    return Source(
        name=question.name,
        place=question.answer,
        before=question.text[:start],
        behind=question.text[end:],
        in_set=True,
    )


def _itself(question: Question) -> Named:
    return Named(
        name=question.name, text=question.text, place=question.answer, person=question.name
    )


def _asking(
    *, groups: dict[GroupName, tuple[Named, ...]], lacking: dict[str, str], **values: Any
) -> Asking:
    """With no group that has no name; why it is not there is said."""
    kept: dict[GroupName, tuple[Named, ...]] = {g: names for g, names in groups.items() if names}
    empty = dict.fromkeys((group for group in groups if group not in kept), NOTHING_FITS)
    return Asking(groups=kept, lacking={**lacking, **empty}, **values)
