"""One question, every measure of every head: each that of its own tool."""

from collections.abc import Callable

import numpy as np
import pytest

from core.data.people import Question
from core.data.vocabulary import Vocabulary
from core.inspection.ablate import effect, head_means
from core.inspection.answered import answered
from core.inspection.attribution import attribution
from core.inspection.head_record import SCORES
from core.inspection.head_rows import MEASURES
from core.inspection.head_table import HeadExample, head_example
from core.inspection.heads import HeadsOff, every_head
from core.inspection.readings import read_trace
from core.inspection.trace import trace
from core.models.gpt import GPT
from tests.with_task import with_task

TEXT = "Where was Ada Arden born?"


@pytest.fixture(scope="module")
def found(variant: GPT, characters: Vocabulary) -> HeadExample:
    return head_example(with_task(variant, characters), trace(with_task(variant, characters), TEXT))


def test_every_measure_is_that_of_its_own_tool(
    variant: GPT, characters: Vocabulary, found: HeadExample
):
    known = answered(with_task(variant, characters), [Question(TEXT, None, "")])
    readings = read_trace(trace(with_task(variant, characters), TEXT))
    added = attribution(with_task(variant, characters), TEXT, relative=True).heads
    for index, head in enumerate(every_head(variant.shape)):
        alone = effect(with_task(variant, characters), known, HeadsOff(heads=(head,)))
        assert found.values("log_probability_lost")[index] == pytest.approx(
            -float(alone.answer_change[0])
        )
        assert found.answers[index].text == alone.answers[0].text
        assert found.changed[index] == bool(alone.changed[0])
        shown = found.values("attribution")[index]
        assert (shown is not None) == variant.writes_to_tokens(head[0])
        assert shown is None or shown == pytest.approx(float(added[head]))
        for name, values in (
            ("weight_on_name", readings.weight_on_name),
            ("contribution", readings.contribution),
            ("distance", readings.scores.distance),
        ):
            shown, number = found.values(name)[index], values[head]
            assert (shown is None) == bool(np.isnan(number))
            assert shown is None or shown == pytest.approx(float(number))


def test_every_name_has_a_value_a_head_and_accuracy_has_none(found: HeadExample):
    n_heads = found.attribution.size
    assert all(len(found.values(name)) == n_heads for name in {*MEASURES, *SCORES})
    assert found.values("accuracy_lost") == [None] * n_heads


def test_the_head_that_the_answer_hangs_on_comes_first(found: HeadExample):
    lost = [found.log_probability_lost[at] for at in found.by_importance]
    assert lost == sorted(lost, reverse=True)
    assert sorted(found.by_importance) == list(np.ndindex(found.attribution.shape))


def test_the_mean_may_take_a_heads_place(
    make_variant: Callable[[str], GPT], characters: Vocabulary, questions: list[Question]
):
    model = make_variant("rotary")
    means = head_means(model, answered(with_task(model, characters), questions))
    record = trace(with_task(model, characters), TEXT)
    found = head_example(with_task(model, characters), record, HeadsOff(mode="mean", means=means))
    zero = head_example(with_task(model, characters), record)
    known = answered(with_task(model, characters), [Question(TEXT, None, "")])
    alone = effect(
        with_task(model, characters), known, HeadsOff(heads=((1, 2),), mode="mean", means=means)
    )
    assert found.log_probability_lost[1, 2] == pytest.approx(-float(alone.answer_change[0]))
    assert not np.allclose(found.log_probability_lost, zero.log_probability_lost)
    with pytest.raises(ValueError, match="mode 'mean' needs the heads' means"):
        head_example(with_task(model, characters), record, HeadsOff(mode="mean"))


def test_it_tells_after_each_head_how_many_are_done(variant: GPT, characters: Vocabulary):
    stored, told = with_task(variant, characters), list[tuple[int, int]]()
    head_example(stored, trace(stored, TEXT), progress=lambda *done: told.append(done))
    n_heads = len(every_head(variant.shape))
    assert told == [(n + 1, n_heads) for n in range(n_heads)]
