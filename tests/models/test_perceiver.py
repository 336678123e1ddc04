"""The Perceiver: what reaches whom through the bottleneck, and that nothing flows backwards."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from core.models.blocks import DotBlock
from core.models.config import GPTConfig
from core.models.gpt import GPT
from core.models.seam import Stream

MakeGPT = Callable[..., GPT]
N_TOKENS = 14
FORMS: list[dict[str, Any]] = [
    {"n_latents": 5},
    {"n_latents": 14},
    {"n_latents": 5, "positions": "rotary"},
    {"n_latents": 5, "latent_residual": False},
    {"n_latents": 5, "latent_norm": "latents"},
    {"n_latents": 7, "latent_stride": 2, "latent_norm": "latents", "positions": "rotary"},
    {"n_latents": 5, "latent_norm": "latents", "latent_residual": False},
    {"n_latents": 7, "latent_stride": 2},
    {"n_latents": 7, "latent_stride": 2, "positions": "rotary"},
    {"n_latents": 4, "latent_stride": 2},
    {"n_latents": 4, "latent_stride": 4},
]


def some_ids(*, seed: int = 0) -> Tensor:
    return torch.randint(2, 30, (1, N_TOKENS), generator=torch.Generator().manual_seed(seed))


def reaching(model: GPT, ids: Tensor) -> list[set[int]]:
    """For each position, the tokens that change its logits when they are changed."""
    before = model(ids)
    reached: list[set[int]] = [set() for _ in range(N_TOKENS)]
    for place in range(N_TOKENS):
        changed = ids.clone()
        changed[0, place] = (ids[0, place] + 1) % 30
        differs = (model(changed) != before).any(-1)[0]
        for position in differs.nonzero()[:, 0].tolist():
            reached[position].add(place)
    return reached


@torch.inference_mode()
@pytest.mark.parametrize("form", FORMS)
def test_nothing_flows_backwards_in_time(make_gpt: MakeGPT, form: dict[str, Any]):
    reached = reaching(make_gpt(n_layers=4, **form), some_ids())
    assert all(max(tokens) <= position for position, tokens in enumerate(reached))


@torch.inference_mode()
@pytest.mark.parametrize("form", FORMS)
def test_exactly_the_stated_tokens_reach_each_position(make_gpt: MakeGPT, form: dict[str, Any]):
    m, stride = form["n_latents"], form.get("latent_stride", 1)
    for position, tokens in enumerate(reaching(make_gpt(n_layers=4, **form).double(), some_ids())):
        told = min(stride * (position // stride), stride * (m - 1))
        assert tokens == {*range(told + 1), position}


@torch.inference_mode()
def test_in_the_courses_form_later_tokens_are_lost_and_with_stride_2_none_is(make_gpt: MakeGPT):
    course = reaching(make_gpt(n_layers=4, n_latents=7).double(), some_ids())
    assert course[13] == {*range(7), 13}
    strided = reaching(make_gpt(n_layers=4, n_latents=7, latent_stride=2).double(), some_ids())
    assert all(tokens == set(range(position + 1)) for position, tokens in enumerate(strided))


@torch.inference_mode()
def test_without_the_residual_path_a_token_that_sees_one_latent_is_told_nothing_of_itself(
    make_gpt: MakeGPT,
):
    form: dict[str, Any] = {"n_latents": 4, "latent_stride": 2, "latent_residual": False}
    reached = reaching(make_gpt(n_layers=4, **form).double(), some_ids())
    assert reached[1] == {0}
    assert reached[3] == {0, 1, 2, 3}


@torch.inference_mode()
@pytest.mark.parametrize("form", FORMS)
def test_more_tokens_leave_the_logits_before_them_as_they_were(
    make_gpt: MakeGPT, form: dict[str, Any]
):
    model, ids = make_gpt(n_layers=4, **form), some_ids()
    whole = model(ids)
    for length in (1, 2, 6, 13):
        start = model(ids[:, :length])
        torch.testing.assert_close(start, whole[:, :length], atol=1e-4, rtol=1e-4)


@torch.inference_mode()
def test_the_residual_paths_make_a_difference(make_gpt: MakeGPT):
    kept = make_gpt(n_layers=3, n_latents=5)
    dropped = make_gpt(n_layers=3, n_latents=5, latent_residual=False)
    assert kept.state_dict().keys() == dropped.state_dict().keys()
    assert ((kept(some_ids()) - dropped(some_ids())).abs().amax(-1) > 1e-3).all()


@torch.inference_mode()
def test_where_the_norm_stands_makes_a_difference(make_gpt: MakeGPT):
    both, latents = (make_gpt(n_layers=3, n_latents=5, latent_norm=n) for n in ("both", "latents"))
    assert both.state_dict().keys() == latents.state_dict().keys()
    assert ((both(some_ids()) - latents(some_ids())).abs().amax(-1) > 1e-3).all()


@torch.inference_mode()
@pytest.mark.parametrize("latent_norm", ["both", "latents"])
def test_the_latents_are_read_under_the_norm_and_the_tokens_where_it_is_on_both_sides(
    make_gpt: MakeGPT, latent_norm: str
):
    model = make_gpt(n_layers=3, n_latents=N_TOKENS, latent_norm=latent_norm)
    seen: list[Any] = []
    streams: list[Any] = [model.latents]

    def attend(_: int, heads: Any) -> Tensor:
        seen.append(heads)
        return heads.output()

    def tap(_: int, stream: Stream) -> Stream:
        streams.append(stream.x)
        return stream

    model.run(some_ids(), attend, tap=tap)
    tokens, last = model.embed(some_ids()).x, len(model.layers) - 1
    for index, (block, heads) in enumerate(zip(model.layers, seen, strict=True)):
        assert isinstance(block, DotBlock)
        latents = block.norm_attention(streams[index])
        plain = block.norm_attention(tokens) if latent_norm == "both" else tokens
        query = block.query(plain if index == last else latents)
        value = block.value(plain if index == 0 else latents)
        torch.testing.assert_close(heads.query, block.by_head(query))
        torch.testing.assert_close(heads.value, block.by_head(value))


@torch.inference_mode()
def test_two_layers_are_one_down_and_one_up(make_gpt: MakeGPT):
    model = make_gpt(n_layers=2, n_latents=5)
    shapes: list[tuple[int, int]] = []

    def attend(_: int, heads: Any) -> Tensor:
        shapes.append((len(heads.rows), len(heads.columns)))
        return heads.output()

    assert torch.equal(model.logits(model.run(some_ids(), attend)), model(some_ids()))
    assert shapes == [(5, N_TOKENS), (N_TOKENS, 5)]


def test_the_basis_starts_xavier_uniform():
    config = GPTConfig(vocabulary_size=30, width=64, n_latents=24)
    latents = GPT(config, generator=torch.Generator().manual_seed(0)).latents
    assert latents is not None
    bound = (6 / (64 * (24 + 1))) ** 0.5  # as torch counts fans of (1, m, width)
    assert bound * 0.98 < float(latents.detach().abs().max()) <= bound
    assert float(latents.detach().std()) == pytest.approx(bound / 3**0.5, rel=0.05)


def test_the_latents_that_stand_learn_and_the_others_do_not(make_gpt: MakeGPT):
    model = make_gpt(n_layers=3, n_latents=10)
    model(some_ids()[:, :7]).square().sum().backward()
    assert model.latents is not None
    assert model.latents.grad is not None
    learns = model.latents.grad[0].abs().amax(-1) > 0
    assert learns.tolist() == [True] * 7 + [False] * 3
