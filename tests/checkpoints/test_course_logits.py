"""An imported model computes what the course's code computes: a plain one, written here in float64.

Nothing of ours is used in it: one sequence, one head at a time, masks by index, complex numbers for
the rotary pairs.
"""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from core.checkpoints.course_import import Hints, import_course

BLOCK, HEADS = 12, 8
MakeState = Callable[..., dict[str, Tensor]]
AsFile = Callable[[dict[str, Tensor]], bytes]


def norm(state: dict[str, Tensor], name: str, x: Tensor) -> Tensor:
    centred = x - x.mean(-1, keepdim=True)
    scale = (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    return centred / scale * state[f"{name}.weight"] + state[f"{name}.bias"]


def linear(state: dict[str, Tensor], name: str, x: Tensor) -> Tensor:
    return x @ state[f"{name}.weight"].T + state[f"{name}.bias"]


def turn(x: Tensor) -> Tensor:
    """The pairs (2i, 2i + 1) of (L, d) as complex numbers, turned by position · θ_i."""
    n, d = x.shape
    pairs = torch.complex(x[:, 0::2], x[:, 1::2])
    for t in range(n):
        for i in range(d // 2):
            angle = t * 10000.0 ** (-2 * i / d)
            pairs[t, i] *= complex(math.cos(angle), math.sin(angle))
    return torch.stack([pairs.real, pairs.imag], dim=-1).reshape(n, d)


def attend(scores: Tensor, value: Tensor) -> Tensor:
    """One head under the course's mask: triangular by index, −1e10 elsewhere."""
    mask = torch.ones(scores.shape).tril()
    return torch.softmax(scores.masked_fill(mask == 0, -1e10), dim=-1) @ value


def attention(state: dict[str, Tensor], name: str, looking: Tensor, seen: Tensor) -> Tensor:
    d = looking.shape[1] // HEADS
    outputs: list[Tensor] = []
    for head in range(HEADS):
        part = slice(head * d, (head + 1) * d)
        value = linear(state, f"{name}.attn.value", seen)[:, part]
        if f"{name}.attn.w1.weight" in state:
            hidden = linear(state, f"{name}.attn.w1", looking)[:, part].clamp(min=0)
            written = hidden @ state[f"{name}.attn.w2"] + state[f"{name}.attn.b2"]
            outputs.append(attend(written[:, : len(seen)], value))
            continue
        query = linear(state, f"{name}.attn.query", looking)[:, part]
        key = linear(state, f"{name}.attn.key", seen)[:, part]
        if f"{name}.attn.rope_cache" in state:
            query, key = turn(query), turn(key)
        outputs.append(attend(query @ key.T / math.sqrt(d), value))
    return linear(state, f"{name}.attn.proj", torch.cat(outputs, dim=1))


def mlp(state: dict[str, Tensor], name: str, x: Tensor) -> Tensor:
    hidden = linear(state, f"{name}.mlp.0", norm(state, f"{name}.ln2", x))
    hidden = hidden * 0.5 * (1 + torch.erf(hidden / math.sqrt(2)))
    return x + linear(state, f"{name}.mlp.2", hidden)


def plain_logits(
    state: dict[str, Tensor], ids: list[int], *, n_blocks: int, residual: bool, norm_tokens: bool
) -> Tensor:
    state = {name: tensor.double() for name, tensor in state.items()}
    x = state["tok_emb.weight"][ids]
    if "pos_emb" in state:
        x = x + state["pos_emb"][0, : len(ids)]
    given, basis = x, state.get("down_block.C")
    if basis is not None:
        seen = norm(state, "down_block.ln1", given) if norm_tokens else given
        looking = norm(state, "down_block.ln1", basis[0])
        x = residual * basis[0] + attention(state, "down_block", looking, seen)
        x = mlp(state, "down_block", x)
    for name in [f"blocks.{index}" for index in range(n_blocks)]:
        normed = norm(state, f"{name}.ln1", x)
        x = mlp(state, name, x + attention(state, name, normed, normed))
    if basis is not None:
        looking = norm(state, "up_block.ln1", given) if norm_tokens else given
        seen = norm(state, "up_block.ln1", x)
        x = residual * given + attention(state, "up_block", looking, seen)
        x = mlp(state, "up_block", x)
    return norm(state, "ln_f", x) @ state["head.weight"].T


@torch.inference_mode()
@pytest.mark.parametrize(
    ("variant", "made", "told"),
    [
        ("vanilla", {}, {}),
        ("vanilla", {"n_blocks": 3}, {}),
        ("rotary", {}, {}),
        ("synthesizer", {}, {}),
        ("synthesizer", {"columns": BLOCK}, {}),
        ("perceiver", {}, {}),
        ("perceiver", {"n_blocks": 1}, {"residual": False}),
        ("perceiver", {}, {"norm": "latents"}),
        ("perceiver", {"n_blocks": 1}, {"norm": "latents", "residual": False}),
    ],
)
def test_the_logits_of_an_imported_model_equal_those_of_a_plain_one(
    course_state: MakeState,
    as_file: AsFile,
    wiki: str,
    variant: str,
    made: dict[str, Any],
    told: dict[str, Any],
):
    state = course_state(variant, **made)
    imported = import_course(as_file(state), wiki, Hints(**told))
    assert imported.variant == variant
    model = imported.model.double()
    generator = torch.Generator().manual_seed(1)
    n_characters = state["tok_emb.weight"].shape[0]
    for length in (1, 3, 6, model.config.longest_input):  # a Perceiver has 5 latents
        ids = torch.randint(n_characters, (length,), generator=generator)
        expected = plain_logits(
            state,
            ids.tolist(),
            n_blocks=made.get("n_blocks", 2),
            residual=told.get("residual", True),
            norm_tokens=told.get("norm") != "latents",
        )
        found = model(ids[None])[0]
        scale = float(expected.abs().max())
        assert float((found - expected).abs().max()) < 1e-9 * scale
        assert float(expected.std()) > 0.1


@torch.inference_mode()
def test_a_perceiver_read_with_the_norm_elsewhere_has_other_logits(
    course_state: MakeState, as_file: AsFile, wiki: str
):
    data, ids = as_file(course_state("perceiver")), torch.arange(2, 10)[None]
    both, latents = (
        import_course(data, wiki, Hints(norm=norm)).model(ids) for norm in ("both", "latents")
    )
    assert ((both - latents).abs().amax(-1) > 1e-2).all()


@torch.inference_mode()
def test_rotary_rows_in_the_courses_own_order_would_give_other_logits(
    course_state: MakeState, as_file: AsFile, wiki: str
):
    state = course_state("rotary")
    model = import_course(as_file(state), wiki, Hints()).model
    ids = torch.arange(2, 10)[None]
    before = model(ids)
    for block, name in ((b, n) for b in (0, 1) for n in ("query", "key")):
        kept = dict(model.named_parameters())[f"blocks.{block}.{name}.weight"]
        kept.copy_(state[f"blocks.{block}.attn.{name}.weight"])
    assert float((model(ids) - before).abs().max()) > 1e-3
