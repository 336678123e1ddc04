"""Ask a model every name of its groups, and make of it what is told: `Knowledge`."""

import time
from collections.abc import Sequence
from typing import Any

from core.checkpoints.progress import Progress, silent
from core.checkpoints.store import Checkpoint
from core.checkpoints.store import asking as asked_a_set
from core.data.people import Question, load_people
from core.data.question_set import QuestionSet
from core.evaluation.report_card import objectives_of, self_taught_share
from core.generation.greedy import Answer, answer, prompt_ids
from core.inspection.heads import head_name
from core.knowledge.asking import Asking, asking_of, asking_of_set
from core.knowledge.breakdowns import (
    by_century,
    by_continent,
    by_frequency,
    by_pronoun,
    continents_of,
)
from core.knowledge.groups import Named
from core.knowledge.measures import auroc, best_head, calibration
from core.knowledge.outcomes import (
    LABELS,
    N_EXAMPLES,
    NOTHING_READ,
    SELF_TAUGHT,
    Places,
    group_of,
    outcomes,
    places_of,
)
from core.knowledge.own_names import OwnName
from core.knowledge.record import (
    SIGNALS,
    Auroc,
    Continent,
    Example,
    Group,
    GroupName,
    Knowledge,
    Outcome,
)
from core.knowledge.signals import Signals, signals
from core.paths import PEOPLE, course_folder

NEGATED = "less entropy means read"
NOBODY_NAMED = "too few of the questions name somebody"
OWN = "own"
CONTINENTS = "continents_of_invented"
NOWHERE = "none of the answers to invented names lies on a continent that is known"


def measure(
    stored: Checkpoint,
    asking: Asking,
    *,
    weights: str = "",
    machine: str = "",
    progress: Progress = silent,
) -> Knowledge:
    """What a model knows and makes up, over all groups. `weights` is their digest.

    Cost: the answers to all names, and a pass with explicit weights over each question; memory for
    one batch of them. Raises ValueError for a model that cannot answer, for names that it cannot
    read, and where a group is missing that the figures are about.
    """
    if lost := [group for group in (asking.read, asking.never) if group not in asking.groups]:
        raise ValueError(f"there is no name of the group {lost[0]!r}: nothing can be told apart")
    started = time.perf_counter()
    reads = objectives_of(stored.card) != ()
    labels = _labels(stored, reads=reads)
    seen: dict[GroupName, Signals] = {
        group: _look(stored, asking, names, labels[group], progress)
        for group, names in asking.groups.items()
    }
    given = {group: _texts(found.answers) for group, found in seen.items()}
    places = places_of(asking, [text for texts in given.values() for text in texts])
    said = {group: outcomes(places, asking.groups[group], given[group]) for group in seen}
    continents = _continents(asking, given.get("invented", []))
    table, without = _separated(seen[asking.read], seen[asking.never])
    return Knowledge(
        checkpoint=stored.name,
        split=asking.split,
        groups={
            group: _group(asking, group, said[group], seen[group].answers, labels[group])
            for group in seen
        },
        read=asking.read,
        never=asking.never,
        auroc=table,
        **_of_read(asking, said[asking.read], seen[asking.read].answers),
        continents_of_invented=continents,
        lacking={**({} if continents else {CONTINENTS: NOWHERE}), **asking.lacking, **without},
        most_frequent=places.most_frequent,
        seconds=time.perf_counter() - started,
        machine=machine,
        weights=weights,
        data=asking.digest,
        reads=reads,
    )


def asking_for(stored: Checkpoint, *, n_sentences: int = 6) -> Asking:
    """What a checkpoint can be asked: the set that it is asked at the moment, or its task.

    The course's files lie where the environment says. Raises ValueError where there is neither.
    """
    if stored.asked is not None:
        return asking_of_set(stored.asked)
    if stored.task is None:
        raise ValueError(f"checkpoint {stored.name} has no task: ask it a question set")
    corpus = stored.task.corpus(n_sentences=n_sentences, folder=course_folder())
    return asking_of(stored.task, corpus)


def ask_own(
    stored: Checkpoint, rows: Sequence[OwnName], asking: Asking | None = None
) -> tuple[Group, tuple[Example, ...]]:
    """A group of one's own names, and every answer in their order; `asking` (that of `asking_for`
    unless told) says how names are asked about and what else is known.

    In a question set they take the place of the first subject. Cost: the answers. Raises ValueError
    for a name that the model cannot read, saying where it stands.
    """
    asking = asking or asking_for(stored)
    names = [asking.base.named(row.name, row.place, row.name) for row in rows]
    checkpoint = _asked(stored, asking, names)
    for row, named in zip(rows, names, strict=True):
        try:
            prompt_ids(checkpoint, named.text)
        except ValueError as error:
            raise ValueError(f"{row.where or row.name}: {error}") from None
    given = answer(checkpoint, [named.text for named in names])
    texts = _texts(given)
    places: Places = places_of(asking, texts)
    found = outcomes(places, names, texts)
    group = group_of(
        OWN, names, found, _pairs(given), label="your own names", n_examples=len(names)
    )
    return group, group.examples


def _labels(stored: Checkpoint, *, reads: bool) -> dict[str, str]:
    """What the groups are to this model: not every one has read, and one may have taught itself."""
    if not reads:
        return LABELS | NOTHING_READ
    return LABELS | SELF_TAUGHT if self_taught_share(stored.card) else LABELS


def _look(
    stored: Checkpoint, asking: Asking, names: Sequence[Named], label: str, progress: Progress
) -> Signals:
    def told(done: int, of: int) -> None:
        progress(f"{label}: {done} of {of} names")

    told(0, len(names))
    return signals(_asked(stored, asking, names), [named.text for named in names], progress=told)


def _asked(stored: Checkpoint, asking: Asking, names: Sequence[Named]) -> Checkpoint:
    """The checkpoint as it is asked about these names: in a set each prompt is a question of one,
    which says where the name stands and how much is written.
    """
    if not asking.in_set:
        return asked_a_set(stored, None)
    questions = tuple(Question(n.text, n.like, n.name, n.span, asking.rule) for n in names)
    return asked_a_set(
        stored, QuestionSet(name=asking.split, rule=asking.rule, questions=questions)
    )


def _group(
    asking: Asking, group: GroupName, said: Sequence[Outcome], given: Sequence[Answer], label: str
) -> Group:
    n_examples = N_EXAMPLES if asking.stores_names else 0
    return group_of(
        group, asking.groups[group], said, _pairs(given), label=label, n_examples=n_examples
    )


def _of_read(asking: Asking, said: Sequence[Outcome], given: Sequence[Answer]) -> dict[str, Any]:
    """What is told of the group that was read: calibration, and who is known."""
    names, people = asking.groups[asking.read], asking.people
    bins, error = calibration(_likely(given), [outcome == "right" for outcome in said])
    return {
        "calibration": bins,
        "ece": error,
        "by_continent": by_continent(people, names, said),
        "by_pronoun": by_pronoun(people, names, said),
        "by_century": by_century(people, names, said),
        "by_frequency": () if asking.in_set else by_frequency(asking.trained, names, said),
    }


def _separated(read: Signals, never: Signals) -> tuple[dict[str, Auroc], dict[str, str]]:
    """How well each signal tells the one from the other, and why one is not there."""
    table: dict[str, Auroc] = {}
    for name in SIGNALS:
        if name in read.lacking:
            continue
        found = _best(read, never) if name == "best_head" else _one(name, read, never)
        if found is not None:
            table[name] = found
    missing = [name for name in SIGNALS if name not in table]
    return table, {name: read.lacking.get(name, NOBODY_NAMED) for name in missing}


def _one(name: str, read: Signals, never: Signals) -> Auroc | None:
    values = read.values[name], never.values[name]
    if name == "entropy":
        return auroc(-values[0], -values[1], NEGATED)
    return auroc(*values)


def _best(read: Signals, never: Signals) -> Auroc | None:
    found = best_head(read.heads, never.heads)
    if found is None:
        return None
    at, measured = found
    note = ", ".join(filter(None, (head_name(*at), measured.note)))
    return Auroc(value=measured.value, low=measured.low, high=measured.high, note=note)


def _continents(asking: Asking, given: Sequence[str]) -> tuple[Continent, ...]:
    if asking.in_set or not given:
        return ()
    return continents_of(asking.people or load_people(PEOPLE), given, asking.trained)


def _texts(given: Sequence[Answer]) -> list[str]:
    return [found.text.strip() for found in given]


def _likely(given: Sequence[Answer]) -> list[float]:
    """Between 0 and 1, which rounding may miss."""
    return [min(1.0, max(0.0, found.probability)) for found in given]


def _pairs(given: Sequence[Answer]) -> list[tuple[str, float]]:
    return list(zip(_texts(given), _likely(given), strict=True))
