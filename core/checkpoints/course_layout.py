"""How the course's fork of minGPT (CS224N, assignment 5) names and orders what our models have.

vanilla      tok_emb.weight, pos_emb (1, block, d), blocks.N.{ln1, ln2, mlp.0, mlp.2},
             blocks.N.attn.{query, key, value, proj}, ln_f, head.weight
rotary       no pos_emb; blocks.N.attn.rope_cache (block, d/2h, 2), or complex (block, d/2h)
synthesizer  blocks.N.attn.{w1, w2, b2} in place of query and key
perceiver    down_block and up_block beside the blocks, down_block.C (1, m, d)

and buffers blocks.N.attn.mask (1, 1, n, n). Shapes are ours; only rotary rows stand in another
order: the course turns the pairs (2i, 2i + 1) of a head, we turn i and i + d/2.
"""

from collections.abc import Collection, Mapping

import torch
from torch import Tensor

from core.attention.rotary import angles
from core.checkpoints.store import CheckpointError
from core.models.config import GPTConfig
from core.models.families import parameter_shapes

MASK, ROPE_CACHE = "attn.mask", "attn.rope_cache"
_TOP = {
    "tokens.weight": "tok_emb.weight",
    "positions": "pos_emb",
    "latents": "down_block.C",
    "norm.weight": "ln_f.weight",
    "norm.bias": "ln_f.bias",
    "head.weight": "head.weight",
}
_IN_BLOCK = {
    "norm_attention": "ln1",
    "norm_mlp": "ln2",
    "query": "attn.query",
    "key": "attn.key",
    "value": "attn.value",
    "project": "attn.proj",
    "first": "attn.w1",
    "second": "attn.w2",
    "offset": "attn.b2",
    "mlp_in": "mlp.0",
    "mlp_out": "mlp.2",
}


def course_parameters(config: GPTConfig) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Our names to the course's name and the shape, without memory for the parameters."""
    shapes = parameter_shapes(config)
    return {name: (course_name(name, config), shape) for name, shape in shapes.items()}


def course_name(name: str, config: GPTConfig) -> str:
    """The course's name of one of our parameters."""
    if name in _TOP:
        return _TOP[name]
    _, index, module, *kind = name.split(".")
    return ".".join([course_block(int(index), config), _IN_BLOCK[module], *kind])


def course_block(index: int, config: GPTConfig) -> str:
    """The course's name of our layer; a Perceiver counts its projections apart."""
    if not config.n_latents:
        return f"blocks.{index}"
    if index == 0:
        return "down_block"
    return "up_block" if index == config.n_layers - 1 else f"blocks.{index - 1}"


def refuse_other_buffers(tensors: Mapping[str, Tensor], config: GPTConfig) -> set[str]:
    """The names of the buffers in the file, each compared with what our model computes.

    Raises CheckpointError for a mask that is not causal and for other rotary angles.
    """
    found: set[str] = set()
    for index in range(config.n_layers):
        block = course_block(index, config)
        if (name := f"{block}.{MASK}") in tensors:
            among_latents = config.n_latents and 0 < index < config.n_layers - 1
            n_least = config.n_latents if among_latents else config.block_size
            refuse_other_mask(name, tensors[name], n_least)
            found.add(name)
        if config.positions == "rotary" and (name := f"{block}.{ROPE_CACHE}") in tensors:
            _refuse_other_angles(name, tensors[name], config.head_dim // 2)
            found.add(name)
    return found


def refuse_other_families(names: Collection[str]) -> None:
    """Raise CheckpointError for names that are nanoGPT's and minGPT's."""
    if "transformer.wte.weight" in names:
        raise CheckpointError(
            "by its names it is a model of nanoGPT or minGPT, not one of the course: it has no "
            "wiki.txt, and is read by `python -m core import FILE --tokenizer FILE`"
        )


def pairs_apart(rows: Tensor, n_heads: int) -> Tensor:
    """Rows (H·d, …) of query or key from the course's order of pairs to ours."""
    pairs = torch.unflatten(rows, 0, (n_heads, -1, 2))  # head, pair, member
    return pairs.transpose(1, 2).flatten(0, 2)


def refuse_other_mask(name: str, mask: Tensor, n_least: int) -> None:
    """Raise CheckpointError for a mask that is not causal over so many positions."""
    n = mask.shape[-1] if mask.dim() else 0
    fits = mask.shape == (1, 1, n, n) and n >= n_least
    if not fits or not torch.equal(mask.bool(), torch.ones_like(mask, dtype=torch.bool).tril()):
        raise CheckpointError(
            f"{name} is not the causal mask of at least {n_least} positions: its model attends "
            "in another way"
        )


def _refuse_other_angles(name: str, cache: Tensor, n_pairs: int) -> None:
    turns = torch.view_as_real(cache) if cache.is_complex() else cache
    if turns.shape[1:] != (n_pairs, 2) or not _are_angles(turns.double()):
        raise CheckpointError(
            f"{name} does not hold cos and sin of position · 10000^(−2i/d) for {n_pairs} pairs: "
            "its model turns by other angles"
        )


def _are_angles(turns: Tensor) -> bool:
    angle = angles(torch.arange(turns.shape[0]), turns.shape[1], dtype=turns.dtype)
    return torch.allclose(turns, torch.stack([angle.cos(), angle.sin()], dim=-1), atol=1e-3)
