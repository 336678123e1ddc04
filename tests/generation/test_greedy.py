"""Greedy answers: the cache and the batch change nothing, limits and refusals hold."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from core.data.own_vocabulary import MASK_ID
from core.data.vocabulary import Vocabulary
from core.generation.greedy import answer
from core.models.gpt import GPT
from tests.with_task import with_task

MakeGPT = Callable[..., GPT]
QUESTIONS = [
    "Where was Ada Arden born?",
    "Where was Chen Bello born?",
    "Where was Hina Arden born?",
    "Ada",
    "Where was Emeka Dufour born?",
    "Lima",
]


@torch.inference_mode()
def without_cache(model: GPT, prompt: list[int], n_new: int) -> tuple[list[int], float]:
    """The same search by a whole pass over all tokens for each new one."""
    ids, log = list(prompt), 0.0
    for _ in range(n_new):
        best = model(torch.tensor([ids]))[0, -1].log_softmax(-1).max(-1)
        log += float(best.values)
        ids.append(int(best.indices))
        if ids[-1] == MASK_ID:
            break
    return ids[len(prompt) :], log


@pytest.fixture(params=["learned", "rotary"])
def model(request: pytest.FixtureRequest, make_gpt: MakeGPT, characters: Vocabulary) -> GPT:
    positions: Any = request.param
    return make_gpt(seed=5, vocabulary_size=characters.size, block_size=48, positions=positions)


def test_generation_with_the_cache_equals_generation_without(model: GPT, characters: Vocabulary):
    written: set[int] = set()
    for question in QUESTIONS:
        prompt = [*characters.encode(question), characters.mask_id]
        (given,) = answer(with_task(model, characters), [question], max_new_tokens=12)
        ids, log = without_cache(model, prompt, 12)
        assert list(given.ids) == ids
        assert given.probability == pytest.approx(float(torch.tensor(log).exp()), rel=1e-4)
        written |= set(ids)
    assert len(written) > 3  # the model does not say the same token all the time


def test_batched_answers_equal_one_by_one_answers_in_the_given_order(
    model: GPT, characters: Vocabulary
):
    together = answer(with_task(model, characters), QUESTIONS)
    alone = [answer(with_task(model, characters), [question])[0] for question in QUESTIONS]
    assert [a.ids for a in together] == [a.ids for a in alone]
    assert [a.probability for a in together] == pytest.approx([a.probability for a in alone])
    assert len({a.ids for a in together}) > 3


def test_a_batch_size_of_one_changes_nothing(model: GPT, characters: Vocabulary):
    cut = answer(with_task(model, characters), QUESTIONS, batch_size=1)
    assert [a.ids for a in cut] == [a.ids for a in answer(with_task(model, characters), QUESTIONS)]


def test_an_answer_ends_at_its_first_mark(model: GPT, characters: Vocabulary):
    with torch.no_grad():
        model.head.weight[MASK_ID] = 0.0
    before = answer(with_task(model, characters), QUESTIONS)
    last = before[0].ids[3]
    with torch.no_grad():  # the mark now wins wherever the token `last` has won
        model.head.weight[MASK_ID] = 1.001 * model.head.weight[last]
    for old, new in zip(before, answer(with_task(model, characters), QUESTIONS), strict=True):
        kept = old.ids[: old.ids.index(last)] if last in old.ids else old.ids
        assert new.ids == ((*kept, MASK_ID) if last in old.ids else kept)
        assert new.text == characters.decode(kept)


def test_the_limit_and_the_block_bound_an_answer(model: GPT, characters: Vocabulary):
    with torch.no_grad():
        model.head.weight[MASK_ID] = 0.0  # its logit is 0, never the largest of many
    (short,) = answer(with_task(model, characters), ["Ada"], max_new_tokens=3)
    (limited,) = answer(replace(with_task(model, characters), limit=3), ["Ada"])
    assert limited == short
    assert len(short.ids) == 3
    question = "a" * 40
    (bounded,) = answer(with_task(model, characters), [question], max_new_tokens=30)
    assert len(bounded.ids) == 48 - 41


def test_a_question_that_just_fits_gets_one_token(model: GPT, characters: Vocabulary):
    (given,) = answer(with_task(model, characters), ["a" * 46])
    assert len(given.ids) == 1
    with pytest.raises(ValueError, match=r"has 47 tokens; .* at most 46 fit .* block of 48"):
        answer(with_task(model, characters), ["a" * 47])


@pytest.mark.parametrize("question", ["", "  ", "\n"])
def test_an_empty_question_asks_for_text(model: GPT, characters: Vocabulary, question: str):
    with pytest.raises(ValueError, match="the question is empty: type a text"):
        answer(with_task(model, characters), [question])


def test_an_unknown_character_is_named_with_its_place(model: GPT, characters: Vocabulary):
    with pytest.raises(ValueError, match=r"position 3: .*U\+4E16"):
        answer(with_task(model, characters), ["Ada世"])


@pytest.mark.parametrize("limit", [0, -1])
def test_fewer_than_one_new_token_is_refused(model: GPT, characters: Vocabulary, limit: int):
    with pytest.raises(ValueError, match=f"max_new_tokens is {limit}; it must be at least 1"):
        answer(with_task(model, characters), ["Where?"], max_new_tokens=limit)


def test_no_questions_give_no_answers(model: GPT, characters: Vocabulary):
    assert answer(with_task(model, characters), []) == []


def test_a_batch_goes_on_until_its_last_row_has_ended(model: GPT, characters: Vocabulary):
    pair = QUESTIONS[1:3]  # of one length, so they share a batch
    with torch.no_grad():
        model.head.weight[MASK_ID] = 0.0
    first, second = answer(with_task(model, characters), pair)
    last = next(i for i in first.ids if i not in second.ids)
    with torch.no_grad():  # from now on the first answer ends early, the second never
        model.head.weight[MASK_ID] = 1.001 * model.head.weight[last]
    together = answer(with_task(model, characters), pair)
    assert together[0].ids == (*first.ids[: first.ids.index(last)], MASK_ID)
    assert together[1].ids == second.ids
    for question, given in zip(pair, together, strict=True):
        (alone,) = answer(with_task(model, characters), [question])
        assert given.probability == pytest.approx(alone.probability, rel=1e-4)
