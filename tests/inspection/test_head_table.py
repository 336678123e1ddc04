"""One row a head, each number that of its own tool; how far the columns agree."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from core.checkpoints.progress import Counted
from core.checkpoints.store import Checkpoint
from core.data.people import Question
from core.data.vocabulary import Vocabulary
from core.generation.greedy import answer
from core.inspection.ablate import effect, head_means
from core.inspection.answered import answered
from core.inspection.attribution import mean_attribution
from core.inspection.head_rows import HeadTable, mean_ranks, n_together, rank_agreement
from core.inspection.head_table import head_row, head_tables, measure_heads, prepare
from core.inspection.heads import EVERY_HEAD_ON, HeadsOff, every_head
from core.inspection.readings import named_scores
from core.inspection.split_readings import read_split
from core.models.gpt import GPT
from tests.with_task import with_task


def whole_table(
    checkpoint: Checkpoint,
    questions: list[Question],
    off: HeadsOff = EVERY_HEAD_ON,
    progress: Counted | None = None,
) -> HeadTable:
    return measure_heads(checkpoint, prepare(checkpoint, questions), off, progress)


def told(model: GPT, vocabulary: Vocabulary, questions: list[Question]) -> list[Question]:
    """Questions of which the model answers the first four as expected."""
    given = answer(with_task(model, vocabulary), [question.text for question in questions])
    return [
        replace(question, answer=entry.text if index < 4 else "elsewhere")
        for index, (question, entry) in enumerate(zip(questions, given, strict=True))
    ]


@pytest.fixture(scope="module")
def asked(variant: GPT, characters: Vocabulary, questions: list[Question]) -> list[Question]:
    return told(variant, characters, questions)


@pytest.fixture(scope="module")
def table(variant: GPT, characters: Vocabulary, asked: list[Question]) -> HeadTable:
    return whole_table(with_task(variant, characters), asked)


def test_every_number_is_that_of_its_own_tool(
    variant: GPT, characters: Vocabulary, asked: list[Question], table: HeadTable
):
    before = answered(with_task(variant, characters), asked)
    readings = read_split(with_task(variant, characters), before)
    attributed = mean_attribution(variant, before)
    assert [(row.layer, row.head) for row in table.rows] == every_head(variant.shape)
    assert (table.total, table.accuracy, table.mode) == (len(asked), 4 / len(asked), "zero")
    for row in table.rows:
        at = (row.layer, row.head)
        alone = effect(with_task(variant, characters), before, HeadsOff(heads=(at,)))
        assert row.accuracy_without == alone.accuracy
        assert row.log_probability_change == pytest.approx(float(alone.answer_change.mean()))
        assert row.caption == named_scores(readings).caption(*at)
        pairs = [
            (row.weight_on_name, readings.weight_on_name[at]),
            (row.contribution, readings.contribution[at]),
            (row.attribution, attributed[at]),
        ]
        for shown, number in pairs[:2]:
            assert (shown is None) == bool(np.isnan(number))
            assert shown is None or shown == pytest.approx(float(number))
        assert (row.attribution is None) != variant.writes_to_tokens(row.layer)
        assert row.attribution is None or row.attribution == pytest.approx(float(attributed[at]))


def test_the_most_important_head_comes_first(table: HeadTable):
    changes = [row.log_probability_change for row in table.by_importance]
    assert changes == sorted(changes)
    assert set(table.by_importance) == set(table.rows)


def test_the_heads_that_matter_most_and_least_go_off_together(
    variant: GPT, characters: Vocabulary, asked: list[Question], table: HeadTable
):
    order = [row.at for row in table.by_importance]
    n = min(5, len(order) - 1)
    assert (table.most.heads, table.least.heads) == (tuple(order[:n]), tuple(order[-n:][::-1]))
    before = answered(with_task(variant, characters), asked)
    for off in (table.most, table.least):
        found = effect(with_task(variant, characters), before, HeadsOff(heads=tuple(off.heads)))
        assert off.accuracy_without == found.accuracy


@pytest.mark.parametrize(("n_heads", "n"), [(1, 1), (2, 1), (6, 5), (32, 5)])
def test_five_heads_go_off_together_but_never_all_of_several(n_heads: int, n: int):
    assert n_together(n_heads) == n


def test_both_modes_come_from_one_preparation(
    make_variant: Callable[[str], GPT], characters: Vocabulary, questions: list[Question]
):
    model, seen = make_variant("rotary"), list[tuple[int, int]]()
    tables, means = head_tables(
        with_task(model, characters),
        questions,
        questions[:2],
        progress=lambda *done: seen.append(done),
    )
    dev = answered(with_task(model, characters), questions[:2])
    assert means.writing == pytest.approx(head_means(model, dev).writing)
    alone = whole_table(with_task(model, characters), questions, HeadsOff(mode="mean", means=means))
    assert tables["mean"].rows == alone.rows
    assert tables["zero"].rows == whole_table(with_task(model, characters), questions).rows
    assert seen == [(done, 8) for done in range(1, 9)] * 2


def test_agreement_is_between_the_columns_that_are_shown(table: HeadTable):
    assert list(table.agreement) == [
        "weight_on_name, contribution",
        "weight_on_name, effect",
        "contribution, effect",
    ]
    rows = [
        replace(row, weight_on_name=0.1 * i, contribution=-i) for i, row in enumerate(table.rows)
    ]
    rows = [replace(row, accuracy_without=1 - 0.1 * i) for i, row in enumerate(rows)]
    agreement = replace(table, rows=tuple(rows)).agreement
    assert list(agreement.values()) == pytest.approx([-1, 1, -1])


def test_the_mean_may_take_a_heads_place(
    make_variant: Callable[[str], GPT], characters: Vocabulary, questions: list[Question]
):
    model = make_variant("rotary")
    asked = told(model, characters, questions)
    before = answered(with_task(model, characters), asked)
    means = head_means(model, before)
    found = whole_table(with_task(model, characters), asked, HeadsOff(mode="mean", means=means))
    alone = effect(
        with_task(model, characters), before, HeadsOff(heads=((1, 3),), mode="mean", means=means)
    )
    assert found.mode == "mean"
    assert found.rows[7].log_probability_change == pytest.approx(float(alone.answer_change.mean()))
    with pytest.raises(ValueError, match="mode 'mean' needs the heads' means"):
        whole_table(with_task(model, characters), asked, HeadsOff(mode="mean"))


def test_questions_without_answers_are_refused_before_anything_is_measured(
    make_variant: Callable[[str], GPT], characters: Vocabulary
):
    with pytest.raises(ValueError, match="these questions come without answers"):
        whole_table(with_task(make_variant("learned"), characters), [Question("Lima is", None, "")])
    with pytest.raises(ValueError, match="no questions"):
        whole_table(with_task(make_variant("learned"), characters), [])


def test_without_ties_the_agreement_is_spearmans_formula():
    generator = np.random.default_rng(4)
    for n in (3, 8, 16):
        one, other = generator.random(n), generator.random(n)
        ranks = [np.argsort(np.argsort(side)) for side in (one, other)]
        expected = 1 - 6 * ((ranks[0] - ranks[1]) ** 2).sum() / (n * (n * n - 1))
        assert rank_agreement(one.tolist(), other.tolist()) == pytest.approx(float(expected))


def test_ties_share_their_mean_rank():
    assert mean_ranks([3.0, 1.0, 3.0, 2.0, 3.0]).tolist() == [3, 0, 3, 1, 3]
    one, other = [1.0, 1.0, 2.0, 5.0], [4.0, 2.0, 2.0, 9.0]
    expected = np.corrcoef([0.5, 0.5, 2, 3], [2, 0.5, 0.5, 3])[0, 1]
    assert rank_agreement(one, other) == pytest.approx(float(expected))


def test_only_the_order_counts():
    rising = [0.1, 0.2, 0.7, 30.0]
    assert rank_agreement(rising, [-4.0, 1.0, 2.0, 3.0]) == pytest.approx(1)
    assert rank_agreement(rising, [9.0, 3.0, 2.0, -1.0]) == pytest.approx(-1)


def test_where_there_is_no_order_there_is_no_agreement():
    assert rank_agreement([1.0, 2.0, 3.0], [5.0, 5.0, 5.0]) is None
    assert rank_agreement([1.0, 2.0], [1.0, 2.0]) is None
    assert rank_agreement([1.0, None, 3.0, 4.0], [1.0, 2.0, None, 4.0]) is None
    assert rank_agreement([1.0, None, 3.0, 4.0], [1.0, 9.0, 2.0, 3.0]) == pytest.approx(1)
    with pytest.raises(ValueError, match="shorter than argument 1|longer than argument 1"):
        rank_agreement([1.0], [1.0, 2.0])


def test_captions_are_decided_without_the_first_token_for_models_without_a_task(
    make_variant: Callable[[str], GPT], characters: Vocabulary, questions: list[Question]
):
    checkpoint = with_task(make_variant("rotary"), characters)
    own = prepare(checkpoint, questions)
    opened = prepare(replace(checkpoint, task=None), questions)
    assert (own.apart, opened.apart) == (False, True)
    found = effect(checkpoint, own.before, HeadsOff(heads=((1, 2),)))
    assert head_row(own, found).caption == named_scores(own.readings).caption(1, 2)
    row = head_row(opened, found)
    assert row.caption == named_scores(opened.readings, apart=True).caption(1, 2)
    assert opened.scores.apart


def test_a_table_without_the_first_token_has_other_captions_and_the_same_effects(
    variant: GPT, characters: Vocabulary, asked: list[Question], table: HeadTable
):
    others = table.without_first
    assert others is not None
    readings = prepare(with_task(variant, characters), asked).readings
    apart = readings.without_first
    assert apart is not None
    for row, other in zip(table.rows, others.rows, strict=True):
        assert other.caption == named_scores(readings, apart=True).caption(*row.at)
        expected = float(apart.weight_on_name[row.at])
        assert other.weight_on_name == (None if np.isnan(expected) else pytest.approx(expected))
        same = replace(row, caption=other.caption, weight_on_name=other.weight_on_name)
        assert other == same
    assert others.values("log_probability_lost") == table.values("log_probability_lost")
    assert others.values("first token") == [None] * len(table.rows)
    assert others.without_first is None
