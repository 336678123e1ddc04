"""A head that is off: only its part goes, as if its columns of the projection had been erased."""

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch

from core.catalogue import MECHANISMS
from core.data.people import Question
from core.data.vocabulary import Vocabulary
from core.inspection.ablate import head_means, switched_off
from core.inspection.answered import answered
from core.inspection.heads import HeadMeans, HeadsOff
from core.inspection.trace import record_layers, trace
from core.inspection.trace_json import trace_from_dict, trace_to_dict
from core.inspection.traced import AttentionTrace
from core.models.gpt import GPT
from core.models.heads import Heads
from tests.with_task import with_task

Erase = Callable[..., GPT]
QUESTION = "Where was Ada Arden born?"
SETS = [{(0, 1)}, {(1, 0)}, {(0, 0), (1, 1)}, {(0, 0), (0, 1), (1, 0), (1, 1)}]


def random_means(model: GPT) -> HeadMeans:
    """The same numbers in both parts, so that they can be written into a bias."""
    config = model.config
    shape = (config.n_layers, config.n_heads, config.head_dim)
    values = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    return HeadMeans(reading=values, writing=values)


def same_run(one: AttentionTrace, other: AttentionTrace) -> None:
    """Equal in all that does not tell how the head was switched off."""
    assert (one.answer, one.labels) == (other.answer, other.labels)
    assert one.probability == pytest.approx(other.probability, rel=1e-3)
    np.testing.assert_allclose(one.weights, other.weights, atol=1e-4)
    np.testing.assert_allclose(one.value, other.value, atol=1e-3)
    for now, then in zip(one.steps, other.steps, strict=True):
        assert now.probability == pytest.approx(then.probability, rel=1e-3)


@pytest.mark.parametrize("heads", SETS)
def test_zero_does_what_erased_columns_would(
    variant: GPT, characters: Vocabulary, without_columns: Erase, heads: set[tuple[int, int]]
):
    off = trace(with_task(variant, characters), QUESTION, HeadsOff(heads=tuple(heads)))
    same_run(off, trace(with_task(without_columns(variant, heads), characters), QUESTION))
    assert off.ablated == tuple(sorted(heads))
    for head in heads:
        assert not off.output[head].any()
        assert not off.contribution[head].any()


@pytest.mark.parametrize("heads", SETS[:3])
def test_a_mean_does_what_erased_columns_and_a_changed_bias_would(
    variant: GPT, characters: Vocabulary, without_columns: Erase, heads: set[tuple[int, int]]
):
    means = random_means(variant)
    off = trace(
        with_task(variant, characters),
        QUESTION,
        HeadsOff(heads=tuple(heads), mode="mean", means=means),
    )
    same_run(
        off, trace(with_task(without_columns(variant, heads, means.reading), characters), QUESTION)
    )
    for head in heads:
        for row in off.rows(head[0]):
            np.testing.assert_array_equal(off.output[head][row], means.reading[head])


@torch.inference_mode()
def test_the_sum_of_parts_and_bias_is_the_blocks_output_and_only_one_part_goes(variant: GPT):
    ids = torch.randint(2, 40, (3, 26), generator=torch.Generator().manual_seed(1))
    last = variant.config.n_layers - 1
    for layer in (0, last):
        on = record_layers(variant, ids)[layer].output
        change = switched_off(HeadsOff(heads=((layer, 1),)))(20)
        off = record_layers(variant, ids, change)[layer].output
        block = variant.layers[layer]
        parts = block.project_by_head(on)
        whole = [block.project(output.transpose(1, 2).flatten(2)) for output in (on, off)]
        torch.testing.assert_close(parts.sum(1) + block.project.bias, whole[0], rtol=0, atol=1e-4)
        torch.testing.assert_close(whole[0] - whole[1], parts[:, 1], rtol=0, atol=1e-4)


def test_the_proof_holds_with_heads_off_and_the_weights_below_them_stay(
    variant: GPT, characters: Vocabulary
):
    on, off = (
        trace(with_task(variant, characters), QUESTION, HeadsOff(heads=tuple(heads)))
        for heads in ((), {(1, 0)})
    )
    assert off.proof.replay_max_difference < 1e-4
    if MECHANISMS[variant.config.attention].is_normalised:
        assert off.proof.row_sum_max_error < 1e-6
    assert off.proof.future_exactly_zero
    length = on.steps[0].row + 1
    for layer in (0, 1):
        np.testing.assert_allclose(
            off.weights[layer, :, :length, :length],
            on.weights[layer, :, :length, :length],
            atol=1e-6,
        )
    assert off.steps[0].probability != pytest.approx(on.steps[0].probability, rel=1e-3)


def test_the_means_are_those_of_all_rows_before_the_mark_and_of_all_from_it_on(
    variant: GPT, characters: Vocabulary, questions: list[Question]
):
    found = head_means(variant, answered(with_task(variant, characters), questions))
    seen = [trace(with_task(variant, characters), question.text) for question in questions]
    for layer in range(variant.config.n_layers):
        read: list[np.ndarray] = []
        written: list[np.ndarray] = []
        for one in seen:
            # The trace also reads a last token that is not ⁇; the means never do.
            n = one.steps[0].row + len(one.steps)
            for row in (row for row in one.rows(layer) if row < n):
                part = read if row < one.steps[0].row else written
                part.append(one.output[layer, :, row])
        for values, mean in ((read, found.reading), (written, found.writing)):
            expected = np.mean(values or read, axis=0)
            np.testing.assert_allclose(mean[layer], expected, atol=1e-4)


def test_reading_and_writing_rows_get_each_its_own_mean(
    make_variant: Callable[[str], GPT], characters: Vocabulary
):
    model = make_variant("rotary")
    means = random_means(model)
    apart = replace(means, writing=means.writing + 1)
    off = trace(
        with_task(model, characters), QUESTION, HeadsOff(heads=((1, 2),), mode="mean", means=apart)
    )
    mark = off.steps[0].row
    assert off.labels[mark] == "⁇"
    assert (off.output[1, 2, :mark] == apart.reading[1, 2]).all()
    assert (off.output[1, 2, mark:] == apart.writing[1, 2]).all()
    # The answer was written under the very same change.
    written = float(np.prod([step.probability for step in off.steps]))
    assert off.probability == pytest.approx(written, rel=1e-3)


def test_where_no_latent_stands_from_the_mark_on_the_other_mean_is_used(
    make_gpt: Callable[..., GPT], characters: Vocabulary, questions: list[Question]
):
    model = make_gpt(vocabulary_size=characters.size, block_size=48, n_latents=4)
    means = head_means(model, answered(with_task(model, characters), questions))
    np.testing.assert_array_equal(means.reading[0], means.writing[0])
    assert not np.allclose(means.reading[1], means.writing[1])


@torch.inference_mode()
def test_a_layer_without_a_head_that_is_off_gets_its_very_output_back(variant: GPT):
    ids = torch.randint(2, 40, (2, 20), generator=torch.Generator().manual_seed(1))
    change = switched_off(HeadsOff(heads=((1, 0),)))(10)
    seen: list[tuple[bool, bool]] = []

    def attend(layer: int, heads: Heads) -> torch.Tensor:
        output = heads.output()
        kept = output.clone()
        after = change(layer, heads, output)
        seen.append((after is output, torch.equal(output, kept)))  # never changed in place
        return after

    variant.run(ids, attend)
    assert seen == [(layer != 1, True) for layer in range(variant.config.n_layers)]


def test_what_was_off_survives_json_text(
    make_variant: Callable[[str], GPT], characters: Vocabulary
):
    model = make_variant("learned")
    off = trace(with_task(model, characters), QUESTION, HeadsOff(heads=((1, 1), (0, 0), (1, 1))))
    again = trace_from_dict(json.loads(json.dumps(trace_to_dict(off), allow_nan=False)))
    assert (again.ablated, again.mode) == (((0, 0), (1, 1)), "zero")
    stored = trace_to_dict(off)
    del stored["ablated"], stored["mode"]  # a trace from before heads could be switched off
    assert trace_from_dict(stored).ablated == ()


@pytest.mark.parametrize("head", [(3, 0), (0, 2), (-1, 0), (0, -1)])
def test_a_head_that_is_not_there_is_named(
    make_variant: Callable[[str], GPT], characters: Vocabulary, head: tuple[int, int]
):
    name = f"L{head[0]}·H{head[1]}"
    message = f"{name} is not a head of this model: layers are 0 to 2, heads 0 to 1"
    with pytest.raises(ValueError, match=message):
        trace(
            with_task(make_variant("learned"), characters), QUESTION, HeadsOff(heads=((0, 0), head))
        )
