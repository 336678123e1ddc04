"""The Synthesizer as the exercise defines it, and with columns of its own for each head."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from core.attention import softmax
from core.models.config import GPTConfig
from core.models.gpt import GPT

MakeGPT = Callable[..., GPT]
KINDS = ["synthesizer", "dense-synthesizer"]


def some_ids(n: int, *, seed: int = 0) -> Tensor:
    return torch.randint(2, 30, (1, n), generator=torch.Generator().manual_seed(seed))


def first_weights(model: GPT, ids: Tensor) -> Tensor:
    """(H, L, L) of the first layer, where a row knows its own token alone."""
    stream = model.embed(ids)
    return softmax.weights(model.layers[0].heads(stream, stream).scores())[0]


@torch.inference_mode()
@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_token_leaves_every_output_before_it_unchanged(make_gpt: MakeGPT, kind: str):
    model, ids = make_gpt(attention=kind), some_ids(12)
    before = model(ids)
    for place in (0, 5, 11):
        changed = ids.clone()
        changed[0, place] = (ids[0, place] + 1) % 30
        after = model(changed)
        assert torch.equal(after[:, :place], before[:, :place])
        assert ((after[:, place:] - before[:, place:]).abs().amax(-1) > 1e-4).all()


@torch.inference_mode()
@pytest.mark.parametrize("kind", KINDS)
def test_weights_do_not_depend_on_what_is_looked_at(make_gpt: MakeGPT, kind: str):
    model, ids = make_gpt(attention=kind), some_ids(12)
    before = first_weights(model, ids)
    changed = ids.clone()
    changed[0, 3] = (ids[0, 3] + 1) % 30
    after = first_weights(model, changed)
    others = [row for row in range(12) if row != 3]
    assert torch.equal(after[:, others], before[:, others])
    assert not torch.equal(after[:, 3], before[:, 3])


@torch.inference_mode()
def test_weights_of_softmax_attention_do_depend_on_it(make_gpt: MakeGPT):
    model, ids = make_gpt(), some_ids(12)
    changed = ids.clone()
    changed[0, 3] = (ids[0, 3] + 1) % 30
    before, after = first_weights(model, ids), first_weights(model, changed)
    assert ((after[:, 4:] - before[:, 4:]).abs().amax(-1) > 1e-6).all()


@torch.inference_mode()
def test_heads_with_equal_columns_of_their_own_are_the_shared_form(make_gpt: MakeGPT):
    shared, dense = make_gpt(attention="synthesizer"), make_gpt(attention="dense-synthesizer")
    state = shared.state_dict()
    for name, tensor in dense.state_dict().items():
        if name.endswith((".second", ".offset")):
            state[name] = state[name].expand(tensor.shape)
    dense.load_state_dict(state)
    ids = some_ids(12)
    torch.testing.assert_close(dense(ids), shared(ids), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    ("sizes", "longest", "message"),
    [
        ({}, 23, "24 tokens are more than the 23 columns of the Synthesizer"),
        ({"n_columns": 7}, 7, "8 tokens are more than the 7 columns"),
        ({"n_columns": 24}, 24, "25 tokens are longer than the block of 24"),
    ],
)
def test_a_token_without_a_column_is_refused(
    make_gpt: MakeGPT, sizes: dict[str, Any], longest: int, message: str
):
    model = make_gpt(attention="synthesizer", **sizes)
    assert model(some_ids(longest)).shape == (1, longest, 30)
    with pytest.raises(ValueError, match=message):
        model(some_ids(longest + 1))
    with pytest.raises(ValueError, match=message):
        model.embed(some_ids(1), start=longest)


@pytest.mark.parametrize("kind", KINDS)
def test_b_starts_uniform_within_a_thousandth_and_its_bias_at_zero(kind: Any):
    config = GPTConfig(vocabulary_size=30, n_layers=1, attention=kind)
    block = GPT(config, generator=torch.Generator().manual_seed(0)).layers[0].requires_grad_(False)
    parameters = dict(block.named_parameters())
    second, offset = parameters["second"], parameters["offset"]
    assert second.shape[-2:] == (32, 127)
    assert second.abs().max() <= 0.001
    assert float(second.std()) == pytest.approx(0.001 / 3**0.5, rel=0.02)
    assert not offset.any()
    assert float(parameters["first.weight"].std()) == pytest.approx(0.02, rel=0.05)


@pytest.mark.parametrize("kind", KINDS)
def test_columns_learn_as_far_as_the_input_goes(make_gpt: MakeGPT, kind: str):
    model = make_gpt(attention=kind, n_layers=1)
    model(some_ids(7)).square().sum().backward()
    gradient = dict(model.named_parameters())["blocks.0.second"].grad
    assert gradient is not None
    learns = gradient.abs().flatten(0, -2).amax(0) > 0
    assert learns.tolist() == [True] * 7 + [False] * 16
