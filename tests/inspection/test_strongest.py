"""Heads that seem to matter before any is off, and models that cannot say so by attribution."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from core.checkpoints.store import Checkpoint, asking
from core.data.people import Question
from core.data.question_file import parse_set
from core.data.vocabulary import Vocabulary
from core.inspection.head_table import head_example, measure_heads, prepare
from core.inspection.heads import every_head
from core.inspection.strongest import strongest
from core.inspection.trace import trace
from core.models.seam import Ability
from tests.other_model import OtherModel, other_model

ROWS = "prompt\tanswer\tsubject\nAda Arden is from\tLima\tAda Arden\nChen is from\tLagos\tChen\n"


@dataclass(frozen=True, slots=True)
class NoSum(OtherModel):
    """A model whose parts do not sum up, as it says."""

    def cannot(self, what: Ability) -> str:
        return "its parts are no sum" if what == "attribution" else ""


@pytest.fixture
def stored(characters: Vocabulary) -> Checkpoint:
    asked = parse_set(ROWS.encode(), "mine")
    return asking(Checkpoint(other_model(characters.size), characters), asked)


@pytest.fixture
def no_sum(stored: Checkpoint) -> Checkpoint:
    model = stored.model
    assert isinstance(model, OtherModel)
    fields = [getattr(model, name) for name in OtherModel.__slots__]
    return replace(stored, model=NoSum(*fields))


def questions_of(stored: Checkpoint) -> tuple[Question, ...]:
    assert stored.asked is not None
    return stored.asked.questions


def test_the_strongest_add_most_to_the_logit_or_take_most_from_it(stored: Checkpoint):
    prepared = prepare(stored, questions_of(stored))
    size = np.abs(prepared.attributed)
    heads, measure = strongest(prepared, 3)
    assert measure == "direct attribution"
    assert heads == tuple(sorted(heads))
    least = min(size[at] for at in heads)
    others = [at for at in every_head(stored.model.shape) if at not in heads]
    assert len(heads) == 3
    assert all(size[at] <= least for at in others)
    assert strongest(prepared, 100)[0] == tuple(every_head(stored.model.shape))


def test_only_those_are_switched_off(stored: Checkpoint):
    prepared = prepare(stored, questions_of(stored))
    heads, _ = strongest(prepared, 2)
    whole, table = measure_heads(stored, prepared), measure_heads(stored, prepared, heads=heads)
    assert table.rows == tuple(row for row in whole.rows if row.at in heads)
    assert set(table.most.heads) <= {*heads}


def test_without_attribution_they_bring_most_of_the_subject(no_sum: Checkpoint):
    prepared = prepare(no_sum, questions_of(no_sum))
    assert np.isnan(prepared.attributed).all()
    heads, measure = strongest(prepared, 1)
    assert measure == "contribution of the name"
    assert prepared.readings.contribution[heads[0]] == prepared.readings.contribution.max()
    table = measure_heads(no_sum, prepared)
    assert {row.attribution for row in table.rows} == {None}


def test_one_question_without_attribution_has_its_other_measures(no_sum: Checkpoint):
    found = head_example(no_sum, trace(no_sum, "Ada Arden is from"))
    assert set(found.values("attribution")) == {None}
    assert None not in found.values("log_probability_lost")
    assert None not in found.values("weight_on_name")


def test_where_nothing_says_which_matter_that_is_said(no_sum: Checkpoint):
    asked = parse_set(b"prompt\tanswer\nAda Arden is from\tLima\n", "mine")
    prepared = prepare(asking(no_sum, asked), asked.questions)
    with pytest.raises(ValueError, match="nothing says which heads seem to matter"):
        strongest(prepared, 1)
    with pytest.raises(ValueError, match="-1 heads: at least one has to be switched off"):
        strongest(prepared, -1)
