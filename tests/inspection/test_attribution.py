"""Parts that sum to the real logit, and a lens whose last row is it."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from core.data.people import Question
from core.data.vocabulary import Vocabulary
from core.inspection.answered import answered
from core.inspection.attribution import attribution, logit_lens, mean_attribution, stream_parts
from core.inspection.trace import trace
from core.models.gpt import GPT
from tests.with_task import with_task

QUESTION = "Where was Ada Arden born?"
MakeVariant = Callable[[str], GPT]
STREAMS = ["learned", "rotary", "synthesizer", "dense-synthesizer"]


@torch.inference_mode()
def real_logits(model: GPT, vocabulary: Vocabulary, step: int) -> tuple[torch.Tensor, int]:
    """The model's own logits (vocabulary,) where it writes a token, and that token."""
    known = answered(with_task(model, vocabulary), [Question(QUESTION, None, "")])
    ids = [*known.prompts[0], *known.answers[0].ids[:-1]]
    row = len(known.prompts[0]) - 1 + step
    return model(torch.tensor([ids]))[0, row], known.answers[0].ids[step]


def n_written(model: GPT, vocabulary: Vocabulary) -> int:
    """How many tokens it writes; an untrained model may end at once."""
    return len(
        answered(with_task(model, vocabulary), [Question(QUESTION, None, "")]).answers[0].ids
    )


@pytest.mark.parametrize("step", [0, 1, 2])
def test_all_parts_sum_to_the_real_logit(variant: GPT, characters: Vocabulary, step: int):
    step = min(step, n_written(variant, characters) - 1)
    logits, token = real_logits(variant, characters, step)
    found = attribution(with_task(variant, characters), QUESTION, step=step)
    assert found.token == characters.label(token)
    assert found.logit == pytest.approx(float(logits[token]), abs=1e-4)
    assert found.total == pytest.approx(float(logits[token]), abs=1e-3)


def test_relative_parts_sum_to_the_logit_above_the_mean_of_all_tokens(
    variant: GPT, characters: Vocabulary
):
    logits, token = real_logits(variant, characters, 0)
    found = attribution(with_task(variant, characters), QUESTION, relative=True)
    assert found.total == pytest.approx(float(logits[token] - logits.mean()), abs=1e-3)
    assert found.logit == pytest.approx(float(logits[token] - logits.mean()), abs=1e-4)


def test_a_table_of_layers_holds_every_part_but_those_outside_of_layers(
    variant: GPT, characters: Vocabulary
):
    found = attribution(with_task(variant, characters), QUESTION, relative=True)
    table = found.by_layer
    assert table.shape == (variant.config.n_layers, variant.config.n_heads + 2)
    assert found.embedding + float(table.sum()) + found.norm_bias == pytest.approx(found.total)
    assert (table[:, -1] == found.mlp).all()
    assert found.largest_head == max(abs(float(part)) for part in found.heads.ravel())


@torch.inference_mode()
def test_a_heads_part_equals_a_naive_computation(variant: GPT, characters: Vocabulary):
    seen = trace(with_task(variant, characters), QUESTION)
    row, config = seen.steps[0].row, variant.config
    _, token = real_logits(variant, characters, 0)
    found = attribution(with_task(variant, characters), QUESTION)
    ids = torch.tensor([[*characters.encode(QUESTION), 1]])
    final = variant.run(ids, lambda _, heads: heads.output())[0, row].numpy()
    scale = float(np.sqrt(final.var() + variant.norm.eps))
    direction = variant.head.weight[token].numpy() * variant.norm.weight.numpy()
    for layer, block in enumerate(variant.layers):
        for head in range(config.n_heads):
            expected = 0.0
            if variant.writes_to_tokens(layer):
                columns = slice(head * config.head_dim, (head + 1) * config.head_dim)
                part = block.project.weight.numpy()[:, columns] @ seen.output[layer, head, row]
                expected = float(((part - part.mean()) * direction).sum()) / scale
            assert found.heads[layer, head] == pytest.approx(expected, abs=1e-3)
    bias = float((variant.norm.bias.numpy() * variant.head.weight[token].numpy()).sum())
    assert found.norm_bias == pytest.approx(bias, abs=1e-4)


@torch.inference_mode()
def test_the_parts_of_the_stream_sum_to_the_stream(variant: GPT):
    ids = torch.randint(2, 40, (3, 20), generator=torch.Generator().manual_seed(1))
    for row in (0, 7, 19):
        parts = stream_parts(variant, ids, row)
        summed = parts.embedding + parts.heads.sum((1, 2))
        summed = summed + parts.attention_bias.sum(1) + parts.mlp.sum(1)
        torch.testing.assert_close(summed, parts.final, rtol=0, atol=1e-4)


def test_a_part_that_lifts_all_tokens_alike_adds_nothing_relatively(
    make_variant: MakeVariant, characters: Vocabulary
):
    model = make_variant("learned")
    with torch.no_grad():
        model.head.weight.copy_(model.head.weight[:1].expand_as(model.head.weight))
    assert np.abs(attribution(with_task(model, characters), QUESTION).heads).max() > 0.1
    relative = attribution(with_task(model, characters), QUESTION, relative=True)
    assert np.abs(relative.heads).max() < 1e-5
    assert relative.logit == pytest.approx(0, abs=1e-4)


def test_the_mean_over_questions_is_that_of_each_alone(
    variant: GPT, characters: Vocabulary, questions: list[Question]
):
    known = answered(with_task(variant, characters), questions)
    alone = [
        attribution(with_task(variant, characters), q.text, relative=True).heads for q in questions
    ]
    np.testing.assert_allclose(mean_attribution(variant, known), np.mean(alone, 0), atol=1e-4)


def test_of_a_perceiver_only_the_last_layer_adds_to_the_tokens(
    make_variant: MakeVariant, characters: Vocabulary
):
    model = make_variant("perceiver")
    assert [model.writes_to_tokens(layer) for layer in range(3)] == [False, False, True]
    found = attribution(with_task(model, characters), QUESTION)
    assert not found.heads[:2].any()
    assert not found.mlp[:2].any()
    assert found.heads[2].all()
    assert found.embedding != 0
    plain = attribution(with_task(make_variant("perceiver-plain"), characters), QUESTION)
    assert plain.embedding == 0  # nothing but the attention's output goes on


@pytest.mark.parametrize("step", [0, 1])
@pytest.mark.parametrize("name", STREAMS)
def test_the_lens_ends_at_the_real_logit_and_its_steps_sum_to_it(
    make_variant: MakeVariant, characters: Vocabulary, name: str, step: int
):
    model = make_variant(name)
    logits, token = real_logits(model, characters, step)
    lens = logit_lens(with_task(model, characters), QUESTION, step=step)
    assert lens.logit.shape == lens.probability.shape == (model.config.n_layers + 1,)
    assert lens.logit[-1] == pytest.approx(float(logits[token]), abs=1e-3)
    assert float(lens.steps.sum()) == pytest.approx(float(logits[token]), abs=1e-3)
    assert lens.probability[-1] == pytest.approx(float(logits.softmax(-1)[token]), abs=1e-4)
    assert (lens.rank[-1], lens.best[-1]) == (0, lens.token)  # greedy search wrote the likeliest


@torch.inference_mode()
@pytest.mark.parametrize("name", STREAMS)
def test_the_lens_reads_the_stream_of_a_model_that_was_cut_after_each_layer(
    make_variant: MakeVariant, characters: Vocabulary, name: str
):
    model = make_variant(name)
    lens = logit_lens(with_task(model, characters), QUESTION)
    _, token = real_logits(model, characters, 0)
    ids = torch.tensor([[*characters.encode(QUESTION), 1]])
    stream = model.embed(ids)
    for layer in range(model.config.n_layers + 1):
        logits = model.logits(stream.x)[0, -1]
        assert lens.logit[layer] == pytest.approx(float(logits[token]), abs=1e-3)
        assert lens.rank[layer] == int((logits > logits[token]).sum())
        assert lens.best[layer] == characters.label(int(logits.argmax()))
        assert lens.best_probability[layer] == pytest.approx(
            float(logits.softmax(-1).max()), abs=1e-4
        )
        if layer < model.config.n_layers:
            block = model.layers[layer]
            stream = stream._replace(x=block.merge(stream.x, block.heads(stream, stream).output()))


def test_a_perceiver_has_no_lens_and_says_why(make_variant: MakeVariant, characters: Vocabulary):
    with pytest.raises(ValueError, match="a Perceiver has no logit lens: its layers but the last"):
        logit_lens(with_task(make_variant("perceiver"), characters), QUESTION)


@pytest.mark.parametrize("step", [-1, 40])
def test_a_step_that_was_not_written_is_refused(
    make_variant: MakeVariant, characters: Vocabulary, step: int
):
    model = make_variant("learned")
    for read in (attribution, logit_lens):
        with pytest.raises(ValueError, match=f"step {step}: the answer has steps 0 to "):
            read(with_task(model, characters), QUESTION, step=step)
