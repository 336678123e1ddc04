"""What whoever looks at a model relies on: the GPT keeps every promise of the seam."""

import re
from collections.abc import Callable
from typing import NamedTuple, get_args

import pytest
import torch
from torch import Tensor

from core.data.vocabulary import Vocabulary
from core.inspection.attribution import logit_lens
from core.models.gpt import GPT
from core.models.heads import Heads
from core.models.seam import Ability, Stream, refuse_lacking
from tests.variants import BLOCK_SIZE, VARIANTS
from tests.with_task import with_task

QUESTION = "Where was Ada Arden born?"
N_TOKENS = 30


@pytest.fixture(scope="module", params=VARIANTS)
def model(
    request: pytest.FixtureRequest, make_gpt: Callable[..., GPT], characters: Vocabulary
) -> GPT:
    sizes = {"block_size": BLOCK_SIZE, **VARIANTS[request.param]}
    return make_gpt(seed=5, vocabulary_size=characters.size, **sizes)


class Run(NamedTuple):
    """One pass: of each layer its heads, their output and the stream after; and the end."""

    heads: list[Heads]
    outputs: list[Tensor]
    streams: list[Stream]
    final: Tensor


def some_ids(model: GPT, n_tokens: int = N_TOKENS) -> Tensor:
    generator = torch.Generator().manual_seed(2)
    return torch.randint(2, model.config.vocabulary_size, (2, n_tokens), generator=generator)


@torch.inference_mode()
def seen(model: GPT) -> Run:
    run = Run([], [], [], torch.empty(0))

    def attend(layer: int, heads: Heads) -> Tensor:
        assert layer == len(run.heads)
        run.heads.append(heads)
        run.outputs.append(heads.output())
        return run.outputs[-1]

    def tap(layer: int, stream: Stream) -> Stream:
        assert layer == len(run.streams)
        run.streams.append(stream)
        return stream

    return run._replace(final=model.run(some_ids(model), attend, tap=tap))


@torch.inference_mode()
def test_the_shape_is_that_of_the_heads_the_logits_and_the_longest_input(model: GPT):
    shape, run = model.shape, seen(model)
    assert len(run.heads) == len(run.streams) == shape.n_layers
    for heads, output in zip(run.heads, run.outputs, strict=True):
        assert heads.value.shape == (2, shape.n_heads, len(heads.columns), shape.head_dim)
        assert output.shape == (2, shape.n_heads, len(heads.rows), shape.head_dim)
        assert heads.masked.shape == (len(heads.rows), len(heads.columns))
    assert shape.n_kv_heads == shape.n_heads
    assert model.logits(run.final).shape == (2, N_TOKENS, shape.vocabulary_size)
    assert shape.mechanism == model.config.attention
    assert model.n_parameters == sum(tensor.numel() for tensor in model.parameters())
    assert model(some_ids(model, shape.longest_input)).shape[1] == shape.longest_input
    with pytest.raises(ValueError, match=rf"{shape.longest_input + 1} tokens are (longer|more)"):
        model(some_ids(model, shape.longest_input + 1))


def test_latents_stand_where_the_shape_says(model: GPT):
    shape = model.shape
    standing = list(range(0, N_TOKENS, shape.latent_stride))[: shape.n_latents]
    for layer, stream in enumerate(seen(model).streams):
        looks = bool(shape.n_latents) and layer < shape.n_layers - 1
        assert stream.positions.tolist() == (standing if looks else list(range(N_TOKENS)))


@torch.inference_mode()
def test_parts_and_bias_are_what_the_attention_adds(model: GPT):
    run = seen(model)
    for layer, block in enumerate(model.layers):
        parts = model.parts(layer, run.outputs[layer])
        assert parts.shape[:3] == run.outputs[layer].shape[:3]
        whole = block.project(run.outputs[layer].transpose(1, 2).flatten(2))
        added = parts.sum(1) + model.attention_bias(layer)
        torch.testing.assert_close(added, whole, rtol=0, atol=1e-4)


@torch.inference_mode()
def test_the_stream_after_a_layer_is_that_before_it_with_parts_bias_and_mlp(model: GPT):
    run, ids = seen(model), some_ids(model)
    summed = model.embedded(ids)
    for layer, output in enumerate(run.outputs):
        if model.writes_to_tokens(layer):
            parts = model.parts(layer, output).sum(1) + model.attention_bias(layer)
            before, after = summed, summed + parts
            summed = after + model.mlp(layer, before, after)
            torch.testing.assert_close(summed, run.streams[layer].x, rtol=0, atol=1e-4)
    torch.testing.assert_close(summed, run.final, rtol=0, atol=1e-4)


def test_of_a_perceiver_only_the_last_layer_writes_to_tokens_and_of_others_every_one(model: GPT):
    n_layers = model.shape.n_layers
    others = [not model.shape.n_latents] * (n_layers - 1)
    assert [model.writes_to_tokens(layer) for layer in range(n_layers)] == [*others, True]


@torch.inference_mode()
@pytest.mark.parametrize("relative", [False, True])
def test_vector_and_constant_of_the_readout_give_the_logit(model: GPT, relative: bool):
    final = seen(model).final[:, -1]
    tokens = torch.tensor([3, 7])
    vector, constant = model.readout(final, tokens, relative=relative)
    assert vector.shape == final.shape
    assert constant.shape == (2,)
    logits = model.logits(final)
    expected = logits.gather(-1, tokens[:, None])[:, 0] - (logits.mean(-1) if relative else 0)
    torch.testing.assert_close((final * vector).sum(-1) + constant, expected, rtol=0, atol=1e-3)


def test_a_perceiver_says_why_it_has_no_lens_and_the_lens_says_just_that(
    model: GPT, characters: Vocabulary
):
    lacking = {what: model.cannot(what) for what in get_args(Ability) if model.cannot(what)}
    if not model.shape.n_latents:
        assert lacking == {}
        assert len(logit_lens(with_task(model, characters), QUESTION).rank) > 1
        return
    (why,) = lacking.values()
    assert list(lacking) == ["lens"]
    assert why.startswith("a Perceiver has no logit lens: its layers but the last write to latents")
    with pytest.raises(ValueError, match=f"^{re.escape(why)}$"):
        logit_lens(with_task(model, characters), QUESTION)
    with pytest.raises(ValueError, match=f"^{re.escape(why)}$"):
        refuse_lacking(model, "lens")


def test_a_source_is_refused_for_there_is_nothing_to_look_at_it(model: GPT):
    ids = some_ids(model)
    with pytest.raises(ValueError, match="reads one text: it has no source to look at"):
        model.run(ids, lambda _, heads: heads.output(), source=ids)


@torch.inference_mode()
def test_what_a_tap_gives_back_goes_on(model: GPT):
    run, last = seen(model), model.shape.n_layers - 1

    def doubled(layer: int, stream: Stream) -> Stream:
        return stream._replace(x=2 * stream.x) if layer == last else stream

    final = model.run(some_ids(model), lambda _, heads: heads.output(), tap=doubled)
    torch.testing.assert_close(final, 2 * run.final)
