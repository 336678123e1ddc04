"""State dicts as the course's code writes them, made here from a seed; no name of ours in them."""

import io
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

TEXT = "Ada Arden was born in Lagos .\nBruno Bello was born in Lima .\n"
BLOCK, WIDTH, HEADS, LATENTS = 12, 32, 8, 5
Shapes = dict[str, tuple[int, ...]]


@pytest.fixture(scope="session")
def wiki() -> str:
    return TEXT


@pytest.fixture(scope="session")
def as_file() -> Callable[[dict[str, Tensor]], bytes]:
    """What torch.save writes."""

    def save(state: dict[str, Tensor]) -> bytes:
        buffer = io.BytesIO()
        torch.save(state, buffer)
        return buffer.getvalue()

    return save


@pytest.fixture(scope="session")
def course_state() -> Callable[..., dict[str, Tensor]]:
    """Random parameters and the course's buffers; `columns` are those of a Synthesizer's w2."""

    def make(variant: str, *, n_blocks: int = 2, columns: int = BLOCK - 1) -> dict[str, Tensor]:
        shapes = {**top(variant), **norm("ln_f")}
        blocks = [f"blocks.{index}" for index in range(n_blocks)]
        projections = ["down_block", "up_block"] if variant == "perceiver" else []
        for name in blocks + projections:
            shapes |= block(name, variant, columns)
        generator = torch.Generator().manual_seed(0)
        state = {n: 0.4 * torch.randn(*s, generator=generator) for n, s in shapes.items()}
        for name in blocks + projections:
            among_latents = variant == "perceiver" and name in blocks
            length = LATENTS if among_latents else BLOCK
            state[f"{name}.attn.mask"] = torch.ones(length, length).tril()[None, None]
            if variant == "rotary":
                state[f"{name}.attn.rope_cache"] = rope_cache()
        return state

    return make


def top(variant: str) -> Shapes:
    n_characters = 2 + len(set(TEXT))
    shapes: Shapes = {"tok_emb.weight": (n_characters, WIDTH), "head.weight": (n_characters, WIDTH)}
    if variant != "rotary":
        shapes["pos_emb"] = (1, BLOCK, WIDTH)
    if variant == "perceiver":
        shapes["down_block.C"] = (1, LATENTS, WIDTH)
    return shapes


def block(name: str, variant: str, columns: int) -> Shapes:
    shapes = {**norm(f"{name}.ln1"), **norm(f"{name}.ln2")}
    scoring = ("w1",) if variant == "synthesizer" else ("key", "query")
    for part in (*scoring, "value", "proj"):
        shapes |= linear(f"{name}.attn.{part}", WIDTH, WIDTH)
    if variant == "synthesizer":
        shapes |= {f"{name}.attn.w2": (WIDTH // HEADS, columns), f"{name}.attn.b2": (columns,)}
    mlp_in = linear(f"{name}.mlp.0", WIDTH, 4 * WIDTH)
    return {**shapes, **mlp_in, **linear(f"{name}.mlp.2", 4 * WIDTH, WIDTH)}


def linear(name: str, n_in: int, n_out: int) -> Shapes:
    return {f"{name}.weight": (n_out, n_in), f"{name}.bias": (n_out,)}


def norm(name: str) -> Shapes:
    return {f"{name}.weight": (WIDTH,), f"{name}.bias": (WIDTH,)}


def rope_cache() -> Tensor:
    """(block, d/2h, 2): cos and sin as the course's hints describe them."""
    half = WIDTH // HEADS // 2
    angle = torch.outer(torch.arange(BLOCK), 10000.0 ** (-torch.arange(half) / half))
    return torch.stack([angle.cos(), angle.sin()], dim=-1)
