"""The model: causal, bounded by its block, and open between its halves."""

from collections.abc import Callable
from copy import deepcopy

import pytest
import torch
from torch import Tensor, nn

from core.attention import softmax
from core.models.config import GPTConfig
from core.models.gpt import GPT

MakeGPT = Callable[..., GPT]


def some_ids(*shape: int, seed: int = 0) -> Tensor:
    return torch.randint(2, 30, shape, generator=torch.Generator().manual_seed(seed))


@torch.inference_mode()
@pytest.mark.parametrize("positions", ["learned", "rotary"])
def test_a_changed_token_leaves_every_output_before_it_unchanged(make_gpt: MakeGPT, positions: str):
    model, ids = make_gpt(positions=positions), some_ids(1, 12)
    before = model(ids)
    for place in (0, 5, 11):
        changed = ids.clone()
        changed[0, place] = (ids[0, place] + 1) % 30
        after = model(changed)
        torch.testing.assert_close(after[:, :place], before[:, :place], atol=1e-6, rtol=1e-6)
        assert ((after[:, place:] - before[:, place:]).abs().amax(-1) > 1e-4).all()


@torch.inference_mode()
@pytest.mark.parametrize("positions", ["learned", "rotary"])
def test_the_order_of_tokens_matters(make_gpt: MakeGPT, positions: str):
    # One layer: without positions the last row would see the same set of keys.
    model, ids = make_gpt(positions=positions, n_layers=1), some_ids(1, 6)
    swapped = ids[:, [1, 0, 2, 3, 4, 5]]
    assert (model(ids)[0, -1] - model(swapped)[0, -1]).abs().max() > 1e-3


@torch.inference_mode()
def test_a_pass_through_the_halves_with_explicit_softmax_equals_the_fused_pass(make_gpt: MakeGPT):
    model, ids = make_gpt(positions="rotary"), some_ids(3, 24)
    stream = model.embed(ids)
    for block in model.layers:
        heads = block.heads(stream, stream)
        output = softmax.weights(heads.scores()) @ heads.value
        stream = stream._replace(x=block.merge(stream.x, output))
    torch.testing.assert_close(model.logits(stream.x), model(ids), atol=1e-4, rtol=1e-4)


@torch.inference_mode()
def test_the_parts_of_the_heads_and_the_bias_sum_to_the_attention_output(make_gpt: MakeGPT):
    block = make_gpt(n_heads=4).layers[0]
    output = torch.randn(2, 4, 5, 4, generator=torch.Generator().manual_seed(1))
    parts = block.project_by_head(output)
    assert parts.shape == (2, 4, 5, 16)
    whole = block.project(output.transpose(1, 2).flatten(2))
    torch.testing.assert_close(parts.sum(1) + block.project.bias, whole)


@torch.inference_mode()
def test_the_part_of_one_head_is_the_output_with_all_others_silent(make_gpt: MakeGPT):
    block = make_gpt(n_heads=4).layers[0]
    output = torch.randn(1, 4, 5, 4, generator=torch.Generator().manual_seed(1))
    alone = output * torch.tensor([0.0, 0.0, 1.0, 0.0])[:, None, None]
    expected = block.project(alone.transpose(1, 2).flatten(2)) - block.project.bias
    part = block.project_by_head(output)[:, 2]
    torch.testing.assert_close(part, expected, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("positions", ["learned", "rotary"])
def test_a_sequence_beyond_the_block_is_refused(make_gpt: MakeGPT, positions: str):
    model = make_gpt(positions=positions)
    assert model(some_ids(1, 24)).shape == (1, 24, 30)
    with pytest.raises(ValueError, match="25 tokens are longer than the block of 24"):
        model(some_ids(1, 25))
    with pytest.raises(ValueError, match="25 tokens are longer than the block of 24"):
        model.embed(some_ids(1, 1), start=24)


@torch.inference_mode()
def test_embedding_from_a_start_is_the_tail_of_the_whole(make_gpt: MakeGPT):
    model, ids = make_gpt(), some_ids(1, 9)
    whole, tail = model.embed(ids), model.embed(ids[:, 6:], start=6)
    assert torch.equal(tail.x, whole.x[:, 6:])
    assert tail.positions.tolist() == whole.positions.tolist()[6:] == [6, 7, 8]


def test_the_same_generator_seed_gives_the_same_parameters():
    config = GPTConfig(vocabulary_size=30, width=16, n_heads=2)
    models = [GPT(config, generator=torch.Generator().manual_seed(s)) for s in (3, 3, 4)]
    first, same, other = (m.tokens.weight for m in models)
    assert torch.equal(first, same)
    assert not torch.equal(first, other)


def test_initial_matrices_have_the_spread_of_gpt_2_and_biases_are_zero():
    config = GPTConfig(vocabulary_size=300, width=64, n_heads=2, n_layers=1)
    model = GPT(config, generator=torch.Generator().manual_seed(0))
    for module in model.requires_grad_(False).modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            assert float(module.weight.std()) == pytest.approx(0.02, rel=0.05)
        if isinstance(module, nn.Linear) and module.bias is not None:
            assert not module.bias.any()
        if isinstance(module, nn.LayerNorm):
            assert (module.weight == 1).all()


@torch.inference_mode()
def test_a_tied_head_has_the_numbers_of_the_tokens_and_none_of_its_own(make_gpt: MakeGPT):
    model, ids = make_gpt(tied=True), some_ids(2, 9)
    assert not [name for name in model.state_dict() if name.startswith("head")]
    assert model.n_parameters == sum(t.numel() for t in model.state_dict().values())
    final = model.run(ids, lambda _, heads: heads.output())
    torch.testing.assert_close(model(ids), model.norm(final) @ model.tokens.weight.T)
    tokens = ids[:, 3]
    vector, constant = model.readout(final[:, -1], tokens, relative=False)
    found = (final[:, -1] * vector).sum(-1) + constant
    expected = model(ids)[:, -1].gather(1, tokens[:, None])[:, 0]
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    again = deepcopy(model)
    again.tokens.weight.data.mul_(2)  # a copy's head is tied to the copy's tokens
    assert torch.equal(again.head.weight, 2 * model.head.weight)


@torch.inference_mode()
def test_the_activation_is_the_one_of_the_configuration(make_gpt: MakeGPT):
    x = torch.randn(2, 3, 16, generator=torch.Generator().manual_seed(1))
    exact, by_tanh = (make_gpt(activation=name).layers[0] for name in ("gelu", "gelu-tanh"))
    by_tanh.load_state_dict(exact.state_dict())
    hidden = exact.mlp_in(exact.norm_mlp(x))
    half = 0.5 * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (hidden + 0.044715 * hidden**3)))
    torch.testing.assert_close(by_tanh.mlp(x), exact.mlp_out(hidden * half))
    assert float((by_tanh.mlp(x) - exact.mlp(x)).abs().max()) > 1e-6
