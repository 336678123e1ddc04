"""What is lost without a head: against a model whose columns were erased, question by question."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch

from core.checkpoints.store import Checkpoint
from core.data.own_vocabulary import MASK_ID
from core.data.people import Question
from core.data.vocabulary import Vocabulary
from core.generation.greedy import Answer, answer
from core.inspection import ablate as module
from core.inspection.ablate import effect, head_means
from core.inspection.answered import Answered, ChangeAt, answered, in_batches
from core.inspection.heads import HeadsOff, every_head
from core.models.gpt import GPT
from core.models.heads import Heads
from tests.with_task import with_task

Erase = Callable[..., GPT]


@pytest.fixture(scope="module")
def before(variant: GPT, characters: Vocabulary, questions: list[Question]) -> Answered:
    return answered(with_task(variant, characters), questions)


@torch.inference_mode()
def naive_logs(model: GPT, known: Answered) -> list[list[float]]:
    """One question and one token at a time."""
    found: list[list[float]] = []
    for prompt, given in zip(known.prompts, known.answers, strict=True):
        ids, logs = list(prompt), []
        for token in given.ids:
            logs.append(float(model(torch.tensor([ids]))[0, -1].log_softmax(-1)[token]))
            ids.append(token)
        found.append(logs)
    return found


def padded(rows: list[list[float]]) -> np.ndarray:
    longest = max(map(len, rows))
    return np.array([row + [np.nan] * (longest - len(row)) for row in rows])


def test_the_answers_before_are_those_of_generation_with_each_tokens_log_probability(
    variant: GPT, characters: Vocabulary, questions: list[Question], before: Answered
):
    assert list(before.answers) == answer(
        with_task(variant, characters), [q.text for q in questions]
    )
    assert all(prompt[-1] == MASK_ID for prompt in before.prompts)
    np.testing.assert_allclose(
        before.log_probabilities, padded(naive_logs(variant, before)), atol=1e-3
    )
    for given, logs in zip(before.answers, before.log_probabilities, strict=True):
        assert np.exp(np.nansum(logs)) == pytest.approx(given.probability, rel=1e-3)
        assert np.isnan(logs).sum() == len(logs) - len(given.ids)


@pytest.mark.parametrize("heads", [[(0, 1)], [(1, 0)], [(0, 0), (1, 1)]])
def test_an_effect_is_what_a_model_with_erased_columns_does(
    variant: GPT,
    characters: Vocabulary,
    before: Answered,
    without_columns: Erase,
    heads: list[tuple[int, int]],
):
    found = effect(with_task(variant, characters), before, HeadsOff(heads=tuple(heads)))
    erased = without_columns(variant, heads)
    np.testing.assert_allclose(
        found.log_probabilities, padded(naive_logs(erased, before)), atol=1e-3
    )
    expected = answer(with_task(erased, characters), [q.text for q in before.questions])
    assert [given.ids for given in found.answers] == [given.ids for given in expected]
    for given, other in zip(found.answers, expected, strict=True):
        assert given.probability == pytest.approx(other.probability, rel=1e-3)
    texts = [given.text for given in before.answers]
    assert found.changed.tolist() == [e.text != t for e, t in zip(expected, texts, strict=True)]


def test_probabilities_are_those_of_the_pieces_and_of_the_whole_answer_given_before(
    variant: GPT, characters: Vocabulary, before: Answered
):
    found = effect(with_task(variant, characters), before, HeadsOff(heads=((0, 1), (1, 0))))
    then, now = found.probabilities
    np.testing.assert_allclose(then, np.exp(before.log_probabilities))
    np.testing.assert_allclose(now, np.exp(found.log_probabilities))
    for index, given in enumerate(before.answers):
        pieces = now[index, : len(given.ids)]
        assert found.former_probability[index] == pytest.approx(float(pieces.prod()), rel=1e-3)
    unchanged = effect(with_task(variant, characters), before, HeadsOff(heads=()))
    probabilities = [given.probability for given in before.answers]
    assert unchanged.former_probability.tolist() == pytest.approx(probabilities, rel=1e-3)


def test_only_what_changes_is_written_anew_and_what_stays_is_the_same_answer(
    make_variant: Callable[[str], GPT],
    characters: Vocabulary,
    questions: list[Question],
    monkeypatch: pytest.MonkeyPatch,
):
    model, asked = make_variant("rotary"), list[str]()
    # With heads this weak most answers stay.
    with torch.no_grad():
        for block in model.layers:
            block.project.weight.mul_(0.02)
    before = answered(with_task(model, characters), questions)

    def counted(checkpoint: Checkpoint, texts: list[str], *, change: ChangeAt) -> list[Answer]:
        asked.extend(texts)
        return answer(checkpoint, texts, change=change)

    monkeypatch.setattr(module, "answer", counted)
    kept = 0
    for head in every_head(model.shape):
        found = effect(with_task(model, characters), before, HeadsOff(heads=(head,)))
        for given, then, changed in zip(found.answers, before.answers, found.changed, strict=True):
            if not changed:
                assert given.ids == then.ids
                kept += 1
    assert kept > 0
    assert len(asked) < 0.5 * len(questions) * 8


def test_no_head_off_changes_nothing(variant: GPT, characters: Vocabulary, before: Answered):
    nothing = effect(with_task(variant, characters), before, HeadsOff(heads=()))
    assert not nothing.changed.any()
    np.testing.assert_array_equal(nothing.log_probabilities, before.log_probabilities)
    assert np.nanmax(np.abs(nothing.token_change)) == 0
    assert nothing.accuracy == before.accuracy


def test_changes_are_after_less_before_token_by_token_and_summed(
    variant: GPT, characters: Vocabulary, before: Answered
):
    found = effect(with_task(variant, characters), before, HeadsOff(heads=((0, 0),)))
    for index, given in enumerate(before.answers):
        token = found.log_probabilities[index] - before.log_probabilities[index]
        assert found.answer_change[index] == pytest.approx(
            float(token[: len(given.ids)].sum()), rel=1e-4
        )


def test_the_accuracy_counts_right_answers_after_trimming(
    make_variant: Callable[[str], GPT], characters: Vocabulary, questions: list[Question]
):
    model = make_variant("learned")
    given = answer(with_task(model, characters), [question.text for question in questions])
    told = [
        replace(question, answer=f" {entry.text}\n" if index < 3 else "nowhere")
        for index, (question, entry) in enumerate(zip(questions, given, strict=True))
    ]
    before = answered(with_task(model, characters), told)
    assert (before.correct, before.accuracy) == (3, 3 / len(questions))
    found = effect(
        with_task(model, characters), before, HeadsOff(heads=tuple(every_head(model.shape)))
    )
    texts = [entry.text.strip() for entry in found.answers]
    right = sum(
        text == entry.text.strip() for text, entry in zip(texts[:3], given[:3], strict=True)
    )
    assert (found.correct, found.accuracy) == (right, right / len(questions))


def test_the_mean_of_a_split_can_take_a_heads_place_in_all_questions_at_once(
    variant: GPT, characters: Vocabulary, before: Answered
):
    means = head_means(variant, before)
    zero = effect(with_task(variant, characters), before, HeadsOff(heads=((1, 1),)))
    mean = effect(
        with_task(variant, characters), before, HeadsOff(heads=((1, 1),), mode="mean", means=means)
    )
    assert not np.allclose(
        zero.log_probabilities, mean.log_probabilities, atol=1e-3, equal_nan=True
    )
    for index, (prompt, given) in enumerate(zip(before.prompts, before.answers, strict=True)):

        def attend(layer: int, heads: Heads, mark: int = len(prompt) - 1) -> torch.Tensor:
            output = heads.output().clone()
            for at, position in enumerate(heads.rows.tolist() if layer == 1 else ()):
                part = means.writing if position >= mark else means.reading
                output[0, 1, at] = torch.from_numpy(part[1, 1])
            return output

        with torch.inference_mode():
            logits = variant.logits(variant.run(torch.tensor([prompt]), attend))[0, -1]
        first = float(logits.log_softmax(-1)[given.ids[0]])
        assert mean.log_probabilities[index, 0] == pytest.approx(first, abs=1e-3)
    with pytest.raises(ValueError, match="mode 'mean' needs the heads' means"):
        effect(with_task(variant, characters), before, HeadsOff(heads=((1, 1),), mode="mean"))


def test_batches_hold_equal_lengths_and_every_question_once(before: Answered):
    seen: list[int] = []
    for batch in in_batches(before.readings, before.answers, torch.device("cpu")):
        seen += batch.members
        for index, ids, written in zip(batch.members, batch.ids, batch.written, strict=True):
            assert ids.tolist() == [*before.prompts[index], *before.answers[index].ids[:-1]]
            assert written.tolist() == list(before.answers[index].ids)
            assert batch.mark == len(before.prompts[index]) - 1
    assert sorted(seen) == list(range(len(before.questions)))


def test_without_questions_and_without_their_answers_nothing_can_be_said(
    make_variant: Callable[[str], GPT], characters: Vocabulary
):
    model = make_variant("learned")
    with pytest.raises(ValueError, match="no questions: heads are looked at while"):
        answered(with_task(model, characters), [])
    unknown = answered(with_task(model, characters), [Question("Lima", None, "")])
    assert (
        effect(
            with_task(model, characters), unknown, HeadsOff(heads=((0, 0),))
        ).log_probabilities.shape[0]
        == 1
    )
    with pytest.raises(ValueError, match="these questions come without answers"):
        _ = unknown.accuracy
    with pytest.raises(ValueError, match="the question is empty"):
        answered(with_task(model, characters), [Question(" ", None, "")])
