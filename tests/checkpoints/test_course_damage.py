"""State dicts that are no model of the course: each is refused in one sentence."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from core.checkpoints.course_import import Hints, import_course

State = dict[str, Tensor]
Change = Callable[[State], object]


def drop(name: str) -> Change:
    return lambda state: state.pop(name)


def put(name: str, *shape: int) -> Change:
    return lambda state: state.update({name: torch.zeros(shape)})


def turn(name: str, change: Callable[[Tensor], Tensor]) -> Change:
    return lambda state: state.update({name: change(state[name])})


def poison(name: str, value: float) -> Change:
    return turn(name, lambda tensor: tensor.index_fill(0, torch.tensor([1]), value))


def renamed(old: str, new: str) -> Change:
    return lambda state: state.update({new: state.pop(old)})


def without_blocks(state: State) -> None:
    for name in [name for name in state if name.startswith("blocks")]:
        del state[name]


def half_wrapped(state: State) -> None:
    for name in list(state):
        if name != "head.weight":
            state[f"module.{name}"] = state.pop(name)


def narrow(state: State) -> None:
    """Another width, and no cache that says how many heads cut it."""
    state["tok_emb.weight"] = state["tok_emb.weight"][:, :24].contiguous()
    for name in [name for name in state if name.endswith("rope_cache")]:
        del state[name]


WRONG: dict[str, tuple[str, Change, str]] = {
    "no embedding": ("vanilla", drop("tok_emb.weight"), "tok_emb.weight is missing: it is no"),
    "one name outside the wrapper": (
        "vanilla",
        half_wrapped,
        "tok_emb.weight is missing: it is no model",
    ),
    "two names that become one": (
        "vanilla",
        put("blocks.0._orig_mod.ln1.bias", 32),
        r"^two of its names are blocks\.0\.ln1\.bias once wrappers are taken off$",
    ),
    "no head": ("vanilla", drop("head.weight"), "a whole vanilla model; missing: head.weight$"),
    "no blocks": ("vanilla", without_blocks, r"^no name begins with 'blocks\.': there is no layer"),
    "no blocks and no positions": (
        "rotary",
        without_blocks,
        r"^no name begins with 'blocks\.': there is no layer in it$",
    ),
    "a width that the usual heads do not divide": (
        "vanilla",
        turn("tok_emb.weight", lambda t: t[:, :20].contiguous()),
        r"how many heads it has, and its width 20 does not suit the usual 8: .* \(--heads\)$",
    ),
    "a width that leaves rotary heads without pairs": (
        "rotary",
        narrow,
        r"how many heads it has, and its width 24 does not suit the usual 8: .* \(--heads\)$",
    ),
    "a block misnumbered": (
        "vanilla",
        renamed("blocks.1.ln1.bias", "blocks.7.ln1.bias"),
        r"missing: blocks\.1\.ln1\.bias, blocks\.2\.\S+, \S+ and \d+ more; left over: blocks\.7",
    ),
    "something left over": ("vanilla", put("start_emb", 1, 1, 32), "left over: start_emb$"),
    "a hostile name": ("vanilla", put("../" * 99, 1), r"left over: (\.\./)+\.*$"),
    "qkv in one": (
        "vanilla",
        renamed("blocks.0.attn.key.weight", "blocks.0.attn.qkv.weight"),
        "missing: .*key.weight; left over: .*qkv.weight",
    ),
    "a wide mlp": (
        "vanilla",
        put("blocks.0.mlp.0.weight", 64, 32),
        r"blocks\.0\.mlp\.0\.weight has shape \(64, 32\); \(128, 32\) is needed",
    ),
    "a flat embedding": ("vanilla", put("tok_emb.weight", 640), r"shape \(640,\); 2 axes"),
    "an empty embedding": ("vanilla", put("tok_emb.weight", 0, 32), r"\(0, 32\); .* none empty"),
    "flat positions": ("vanilla", put("pos_emb", 12, 32), r"pos_emb has shape \(12, 32\); 3 axes"),
    "narrow positions": ("vanilla", put("pos_emb", 1, 12, 16), r"\(1, 12, 16\); \(1, 12, 32\) is"),
    "flat basis": ("perceiver", put("down_block.C", 5, 32), r"C has shape \(5, 32\); 3 axes"),
    "a basis beyond the block": ("perceiver", put("down_block.C", 1, 13, 32), "outside the block"),
    "no way up": ("perceiver", drop("up_block.ln1.weight"), r"missing: up_block\.ln1\.weight"),
    "columns of two lengths": (
        "synthesizer",
        put("blocks.1.attn.w2", 4, 9),
        r"w2 has shape \(4, 9\); \(4, 11\)",
    ),
    "too many columns": ("synthesizer", put("blocks.0.attn.w2", 4, 13), "13 columns: a Synth"),
    "heads that do not divide": ("synthesizer", put("blocks.0.attn.w2", 5, 11), "6 equal heads"),
    "whole numbers": (
        "vanilla",
        turn("head.weight", lambda t: t.long()),
        "head.weight holds int64; floating point numbers are needed",
    ),
    "not a number": ("vanilla", poison("blocks.0.attn.proj.bias", float("nan")), "not finite"),
    "beyond float32": (
        "vanilla",
        turn("ln_f.weight", lambda t: t.double() * 1e300),
        "ln_f.weight holds numbers that are not finite",
    ),
    "a mask that is open": (
        "vanilla",
        turn("blocks.0.attn.mask", torch.ones_like),
        r"blocks\.0\.attn\.mask is not the causal mask of at least 12 positions",
    ),
    "a short mask": ("vanilla", put("blocks.1.attn.mask", 1, 1, 5, 5), "is not the causal mask"),
    "a flat mask": ("vanilla", put("blocks.1.attn.mask", 144), "is not the causal mask"),
    "a mask of one number": ("vanilla", put("blocks.1.attn.mask"), "is not the causal mask"),
    "a short mask on the way down": (
        "perceiver",
        turn("down_block.attn.mask", lambda t: t[..., :5, :5].contiguous()),
        r"down_block\.attn\.mask is not the causal mask of at least 12",
    ),
    "other angles": (
        "rotary",
        turn("blocks.1.attn.rope_cache", lambda t: t.flip(1)),
        r"blocks\.1\.attn\.rope_cache does not hold cos and sin of .* for 2 pairs",
    ),
    "angles of NaN": (
        "rotary",
        turn("blocks.1.attn.rope_cache", lambda t: t * float("nan")),
        "rope_cache does not hold",
    ),
    "a cache in another shape": (
        "rotary",
        turn("blocks.1.attn.rope_cache", lambda t: t.flatten(1)),
        "rope_cache does not hold",
    ),
    "a rotary cache beside positions": (
        "rotary",
        put("pos_emb", 1, 12, 32),
        r"not a whole vanilla model; left over: blocks\.0\.attn\.rope_cache",
    ),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_state_dict_that_is_no_model_is_refused_in_one_sentence(
    course_state: Callable[[str], State],
    as_file: Callable[[State], bytes],
    wiki: str,
    kind: str,
):
    variant, change, message = WRONG[kind]
    state = course_state(variant)
    change(state)
    with pytest.raises(ValueError, match=message) as caught:
        import_course(as_file(state), wiki, Hints())
    assert len(str(caught.value)) < 300
    assert "\n" not in str(caught.value)
