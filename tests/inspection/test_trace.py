"""A trace shows what the model used: proved by replay, by naive loops and by generation itself."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from core.data.own_vocabulary import MASK, CharVocabulary
from core.data.vocabulary import Vocabulary
from core.generation.greedy import answer, attending
from core.inspection.recorded import Recorded, prove
from core.inspection.trace import name_positions, record, trace
from core.inspection.traced import AttentionTrace
from core.models.gpt import GPT
from tests.inspection.forged import forge
from tests.with_task import with_task

MakeGPT = Callable[..., GPT]
QUESTION = "Where was Ada Arden born?"


def test_the_replayed_logits_equal_the_fused_pass_and_the_rows_sum_to_one(traced: AttentionTrace):
    assert traced.proof.replay_max_difference < 1e-4
    assert traced.proof.row_sum_max_error < 1e-6
    assert traced.proof.future_exactly_zero is True
    assert traced.proof.dtype == "float32"
    assert np.abs(traced.weights.sum(-1) - 1).max() == pytest.approx(
        traced.proof.row_sum_max_error, abs=1e-6
    )
    above = np.triu_indices(traced.n_tokens, k=1)
    assert (traced.weights[..., above[0], above[1]] == 0).all()
    assert np.isneginf(traced.scores[..., above[0], above[1]]).all()
    assert np.isfinite(np.tril(np.where(np.isneginf(traced.scores), 0, traced.scores))).all()


@torch.inference_mode()
def test_the_proof_notices_a_falsified_weight(model: GPT, monkeypatch: pytest.MonkeyPatch):
    ids = torch.randint(2, 60, (1, 12), generator=torch.Generator().manual_seed(3))
    fused = model.run(ids, attending(None))
    own = prove(*record(model, ids), fused)
    assert own.replay_max_difference < 1e-4
    assert own.same_argmax
    assert own.head_sum_max_error is not None
    assert own.head_sum_max_error < 1e-5

    def falsify(weights: NDArray[np.float32], _: Recorded) -> None:
        weights[1, 6, :2] += [0.1, -0.1]  # the row still sums to 1

    forge(monkeypatch, falsify, layer=0)
    forged = prove(*record(model, ids), fused)
    assert forged.replay_max_difference > 1e-3
    assert forged.row_sum_max_error < 1e-6
    assert forged.future_exactly_zero


@torch.inference_mode()
def test_the_proof_notices_a_weight_on_the_future_however_small(model: GPT):
    ids = torch.randint(2, 60, (1, 6), generator=torch.Generator().manual_seed(3))
    recorded, replayed = record(model, ids)
    recorded.arrays["weights"][1, 0, 2, 3] = 1e-30
    recorded.arrays["weights"][1, 0, 4, 0] += 0.25
    forged = prove(recorded, replayed, replayed)
    assert not forged.future_exactly_zero
    assert forged.row_sum_max_error == pytest.approx(0.25, abs=1e-5)


def test_every_array_is_float32_with_the_stated_shape(traced: AttentionTrace, model: GPT):
    n, d = traced.n_tokens, model.config.head_dim
    assert (traced.n_layers, traced.n_heads, len(traced.labels)) == (2, 2, n)
    assert len(traced.word_starts) == n
    assert traced.query is not None
    assert traced.key is not None
    for values in (traced.query, traced.key, traced.value, traced.output):
        assert (values.shape, values.dtype) == ((2, 2, n, d), np.float32)
    for values in (traced.scores, traced.weights, traced.contribution):
        assert (values.shape, values.dtype) == ((2, 2, n, n), np.float32)


def test_scores_weights_and_outputs_equal_a_naive_loop(traced: AttentionTrace):
    assert traced.query is not None
    assert traced.key is not None
    d = traced.query.shape[-1]
    for head in np.ndindex(2, 2):
        for i in range(traced.n_tokens):
            scores = [traced.query[head][i] @ traced.key[head][j] / d**0.5 for j in range(i + 1)]
            weights = np.exp(np.array(scores) - max(scores))
            weights /= weights.sum()
            np.testing.assert_allclose(traced.scores[head][i, : i + 1], scores, atol=1e-4)
            np.testing.assert_allclose(traced.weights[head][i, : i + 1], weights, atol=1e-4)
            output = sum(w * traced.value[head][j] for j, w in enumerate(weights))
            np.testing.assert_allclose(traced.output[head][i], output, atol=1e-3)


def test_a_contribution_is_the_norm_of_weight_value_and_projection(
    traced: AttentionTrace, model: GPT
):
    d = model.config.head_dim
    for layer, block in enumerate(model.layers):
        matrix = block.project.weight.detach().numpy()  # (width, H·d)
        for head in range(2):
            part = matrix[:, head * d : (head + 1) * d]
            for i in (0, 3, traced.n_tokens - 1):
                for j in range(traced.n_tokens):
                    brought = traced.weights[layer, head, i, j] * (
                        part @ traced.value[layer, head, j]
                    )
                    assert traced.contribution[layer, head, i, j] == pytest.approx(
                        float(np.sqrt((brought**2).sum())), rel=1e-4, abs=1e-6
                    )


@torch.inference_mode()
def test_the_heads_parts_and_the_bias_are_what_attention_adds(traced: AttentionTrace, model: GPT):
    for layer, block in enumerate(model.layers):
        output = torch.tensor(traced.output[layer])[None]
        parts = block.project_by_head(output).sum(1) + block.project.bias
        whole = block.project(output.transpose(1, 2).flatten(2))
        torch.testing.assert_close(parts, whole, atol=1e-4, rtol=1e-4)


def test_the_steps_are_what_generation_gave(
    traced: AttentionTrace, model: GPT, vocabulary: Vocabulary
):
    (given,) = answer(with_task(model, vocabulary), [QUESTION])
    assert (traced.answer, traced.probability) == (given.text, given.probability)
    assert [step.label for step in traced.steps] == vocabulary.labels(given.ids)
    product = float(np.prod([step.probability for step in traced.steps]))
    assert product == pytest.approx(traced.probability, rel=1e-3)
    prompt_length = len(vocabulary.encode(QUESTION)) + 1
    assert traced.labels[prompt_length - 1] == MASK
    for offset, step in enumerate(traced.steps):
        assert (step.row, step.position) == (prompt_length - 1 + offset, prompt_length + offset)
        if step.position < traced.n_tokens:
            assert traced.labels[step.position] == step.label
    assert traced.n_tokens - traced.steps[-1].row in (1, 2)  # a closing ⁇ is never read


def test_five_runner_ups_in_falling_order_never_hold_the_written_token(traced: AttentionTrace):
    for step in traced.steps:
        best = [candidate.probability for candidate in step.next_best]
        assert len(best) == len({candidate.label for candidate in step.next_best}) == 5
        assert step.label not in {candidate.label for candidate in step.next_best}
        assert best == sorted(best, reverse=True)
        assert 0 < best[0] <= step.probability
        assert sum(best) + step.probability < 1 + 1e-5


def test_a_vocabulary_of_four_has_three_runner_ups(make_gpt: MakeGPT):
    vocabulary = CharVocabulary("□⁇ab")
    seen = trace(with_task(make_gpt(vocabulary_size=4), vocabulary), "abab")
    assert all(len(step.next_best) == 3 for step in seen.steps)


def test_an_answer_that_fills_the_block_is_traced_to_its_last_row(
    make_gpt: MakeGPT, characters: Vocabulary
):
    for seed in range(20):
        model = make_gpt(seed=seed, vocabulary_size=characters.size, block_size=9)
        seen = trace(with_task(model, characters), "Lima")
        if seen.n_tokens == 9:
            break
    else:
        pytest.fail("no model filled its block")
    assert len(seen.steps) in (4, 5)
    assert seen.proof.replay_max_difference < 1e-4


def test_an_answer_that_ends_at_once_is_one_step_on_the_prompt_alone(
    make_gpt: MakeGPT, characters: Vocabulary
):
    model = make_gpt(vocabulary_size=characters.size, block_size=48)
    with torch.no_grad():
        model.norm.weight.zero_()
        model.norm.bias.copy_(model.head.weight[1])  # the logit of ⁇ is its squared norm
        model.head.weight[2:].zero_()
        model.head.weight[0].zero_()
    seen = trace(with_task(model, characters), "Lima")
    assert (seen.answer, len(seen.steps), seen.steps[0].label) == ("", 1, MASK)
    assert seen.labels == ("L", "i", "m", "a", MASK)


def test_empty_long_and_unknown_questions_are_refused(make_gpt: MakeGPT, characters: Vocabulary):
    model = make_gpt(vocabulary_size=characters.size, block_size=24)
    with pytest.raises(ValueError, match="the question is empty"):
        trace(with_task(model, characters), "  ")
    with pytest.raises(ValueError, match="30 tokens.*at most 22 fit"):
        trace(with_task(model, characters), "a" * 30)
    with pytest.raises(ValueError, match=r"position 1: .*U\+20AC"):
        trace(with_task(model, characters), "a€")


@pytest.mark.parametrize(
    ("name", "question"),
    [
        ("Ada Arden", "Where was Ada Arden born?"),
        ("Anna Hannah", "Where was Anna Hannah born?"),
        ("J. R. R. Tolkien", "Where was J. R. R. Tolkien born?"),
        ("Sammy Davis Jr.", "Where was Sammy Davis Jr. born ?"),
        ("was", "Where was was born?"),
        ("e", "Where was e born?"),
        ("Ada", "  Where was  Ada  born? "),
    ],
)
def test_the_names_positions_spell_the_name(
    make_gpt: MakeGPT, pieces: Vocabulary, name: str, question: str
):
    model, letters = make_gpt(), CharVocabulary.from_text(question)
    for vocabulary in (pieces, letters):
        ids = vocabulary.encode(question)
        places = name_positions(with_task(model, vocabulary), question)
        assert list(places) == list(range(places[0], places[-1] + 1))
        assert vocabulary.decode(ids[place] for place in places) == name
    found = name_positions(with_task(model, letters), question)
    assert found[0] == question.index(name, question.index("Where was ") + 10)


@pytest.mark.parametrize("text", ["Ada Arden", "Where is Ada?", "Where was   born?", "born"])
def test_a_text_without_the_template_has_no_name(make_gpt: MakeGPT, pieces: Vocabulary, text: str):
    model = make_gpt()
    for vocabulary in (pieces, CharVocabulary.from_text(text)):
        assert name_positions(with_task(model, vocabulary), text) == ()


def test_free_text_is_traced_all_the_same(make_gpt: MakeGPT, pieces: Vocabulary):
    seen = trace(with_task(make_gpt(vocabulary_size=pieces.size), pieces), "<b>Kyoto</b>")
    assert seen.name_positions == ()
    assert seen.proof.replay_max_difference < 1e-4


@torch.inference_mode()
def test_the_residual_stream_is_that_after_every_layer(traced: AttentionTrace, model: GPT):
    assert traced.stream is not None
    assert traced.stream.shape == (2, traced.n_tokens, model.config.width)
    added = traced.stream[1] - traced.stream[0]
    assert np.abs(added).max() > 1e-3
    logits = model.logits(torch.from_numpy(traced.stream[1][traced.steps[0].row]))
    written = logits.softmax(-1).max()
    assert float(written) == pytest.approx(traced.steps[0].probability, rel=1e-4)
