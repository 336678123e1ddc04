"""Tiny models, and what they are asked about the invented people."""

from collections.abc import Callable
from typing import Any

import pytest

from core.checkpoints.store import Checkpoint
from core.data.corpus import TrainingCorpus, notable_corpus
from core.data.people import BIRTHPLACE, Person, load_people
from core.data.vocabulary import Vocabulary
from core.knowledge.asking import NO_PEOPLE, Asking, groups_of_corpus
from core.knowledge.groups import Source
from core.models.gpt import GPT
from core.paths import PEOPLE, UNREAD
from tests.variants import BLOCK_SIZE, VARIANTS
from tests.with_task import with_task


@pytest.fixture(scope="session")
def table() -> list[Person]:
    return load_people(PEOPLE)


@pytest.fixture(scope="session")
def unread_names() -> list[str]:
    return UNREAD.read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="session")
def whole_corpus(table: list[Person]) -> TrainingCorpus:
    """Every sentence that any corpus of the table may hold."""
    return notable_corpus(table, n_sentences=18)


@pytest.fixture(scope="session", params=VARIANTS)
def tiny(
    request: pytest.FixtureRequest, make_gpt: Callable[..., GPT], characters: Vocabulary
) -> Checkpoint:
    """A tiny model of each variant over characters."""
    sizes: dict[str, Any] = {"block_size": BLOCK_SIZE, **VARIANTS[request.param]}
    model = make_gpt(seed=5, vocabulary_size=characters.size, **sizes)
    return with_task(model, characters)


@pytest.fixture(scope="session")
def small(make_gpt: Callable[..., GPT], characters: Vocabulary) -> Checkpoint:
    return with_task(
        make_gpt(3, vocabulary_size=characters.size, block_size=BLOCK_SIZE), characters
    )


@pytest.fixture(scope="session")
def asking(corpus: TrainingCorpus) -> Asking:
    """About the invented people, as if nothing were known of them but their questions."""
    return Asking(
        split="task",
        groups={
            g: names for g, names in groups_of_corpus(corpus, BIRTHPLACE, n=6).items() if names
        },
        known=tuple(corpus.known()),
        trained=tuple(question.answer or "" for question in corpus.train),
        base=Source(name="", place=None, before=BIRTHPLACE.before, behind=BIRTHPLACE.behind),
        lacking={"by_continent": NO_PEOPLE, "by_pronoun": NO_PEOPLE, "by_century": NO_PEOPLE},
    )
