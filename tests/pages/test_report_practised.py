"""The examples on the report card are what the objectives make of the invented sentence."""

import random
from collections.abc import Callable

import pytest

from core.data import objectives
from core.data.own_vocabulary import MASK
from core.evaluation.report_card import OBJECTIVES
from core.training.presets import COURSE
from pages.report_card.pretraining import MEANINGS, SENTENCE

NAME = "Orla Vantimmel"
MARK = ord(MASK)
FACTS = [
    SENTENCE[start:end]
    for start, end in objectives.salient_spans(SENTENCE, numbers=False)
    if SENTENCE[start:end] != NAME
]


class Drawn(random.Random):
    """Draws what it is told, as long as that may be drawn: of all corruptions one is shown."""

    def __init__(self, *numbers: int) -> None:
        super().__init__()
        self.numbers = [*numbers]

    def randint(self, a: int, b: int) -> int:
        number = self.numbers.pop(0)
        assert a <= number <= b
        return number


def ids(text: str) -> list[int]:
    return [ord(character) for character in text]


def text(made: list[int]) -> str:
    """What was made, as the page writes it: a space on either side of each mark."""
    parts = "".join(map(chr, made)).split(MASK)
    return f" {MASK} ".join(part.strip() for part in parts).strip()


def in_order(generator: random.Random) -> list[int]:
    facts = list(map(ids, FACTS))
    return objectives.ordered_facts(ids(NAME), facts, mark=MARK, n_most=10, generator=generator)


def shuffled(generator: random.Random) -> list[int]:
    facts = list(map(ids, FACTS))
    return objectives.shuffled_facts(ids(NAME), facts, mark=MARK, n_most=10, generator=generator)


def cued(_: random.Random) -> list[int]:
    place = SENTENCE.index(FACTS[0])
    (recipe,) = [recipe for recipe in COURSE if recipe.name == "course-pieces"]
    words = objectives.words_before(SENTENCE, place, n_most=recipe.n_cue_words)
    return objectives.cued_fact(ids(f"{NAME} {' '.join(words)}"), ids(FACTS[0]), mark=MARK)


def salient(_: random.Random) -> list[int]:
    before, after = SENTENCE.split(FACTS[0])
    return objectives.salient_span_corruption(ids(before), ids(FACTS[0]), ids(after), mark=MARK)


def corrupted(_: random.Random) -> list[int]:
    span = MEANINGS["span corruption"][1].rsplit(f"{MASK} ")[-1]
    drawn = Drawn(len(SENTENCE), len(span), SENTENCE.index(span))
    return objectives.span_corruption(ids(SENTENCE), mark=MARK, block_size=128, generator=drawn)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("facts in order", in_order),
        ("shuffled facts", shuffled),
        ("facts after a cue", cued),
        ("salient spans", salient),
        ("span corruption", corrupted),
    ],
)
def test_an_example_is_one_that_its_objective_makes(
    name: str, make: Callable[[random.Random], list[int]]
):
    _, example = MEANINGS[name]
    generator = random.Random(0)
    made = (text(make(generator)) for _ in range(100))
    assert example in made


def test_every_objective_has_its_line():
    assert {*MEANINGS} == {*OBJECTIVES.values()}
