"""Chunks of states: fading by products or by sums, texts in parts, systems inverted."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from core.attention import chunks, delta, gate, gated_delta, linear_causal, linear_parts, wy

HEADS = 2
Run = Callable[..., tuple[Tensor, chunks.State]]


def drawn(n_tokens: int, *, d: int = 4, seed: int = 0) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    shape = (1, HEADS, n_tokens, d)
    query, key, value = (torch.randn(shape, generator=generator).double() for _ in range(3))
    beta, closed = (torch.rand(1, HEADS, n_tokens, generator=generator).double() for _ in range(2))
    return {"query": query, "key": key, "value": value, "beta": beta, "gate": -closed}


def runs(x: dict[str, Tensor]) -> dict[str, tuple[Run, tuple[Tensor, ...]]]:
    tokens = (x["query"], x["key"], x["value"])
    return {
        "delta": (delta.resume, (*tokens, x["beta"])),
        "gated-delta": (gated_delta.resume, (*tokens, x["beta"], x["gate"])),
        "gate": (gate.resume, (*tokens, x["gate"])),
    }


def test_fading_formed_by_products_is_that_formed_by_sums(monkeypatch: pytest.MonkeyPatch):
    gates = drawn(32)["gate"] * 3
    gates[0, 0, 5], gates[0, 1, 0], gates[0, 1, 31] = -torch.inf, -torch.inf, 0.0
    by_product = chunks.between(gates)
    monkeypatch.setattr(chunks, "SUMMED_BY_PRODUCT", 0)
    by_sums = chunks.between(gates)
    torch.testing.assert_close(by_product, by_sums, rtol=1e-12, atol=0)
    assert torch.equal(by_product == 0, by_sums == 0)
    assert (by_product[0, 0, 5:, :5] == 0).all()


@pytest.mark.parametrize("name", ["delta", "gated-delta", "gate"])
def test_a_text_in_parts_is_the_text_at_once(name: str, monkeypatch: pytest.MonkeyPatch):
    call, given = runs(drawn(50))[name]
    padding = torch.zeros(1, 50, dtype=torch.bool)
    padding[0, :3] = padding[0, 30:35] = True
    leaves = [x.requires_grad_() for x in given]
    first = chunks.start(given[1], given[2])
    found: list[list[Tensor]] = []
    for fewest in (64, 8):
        monkeypatch.setattr(linear_parts, "FEWEST", fewest)
        monkeypatch.setattr(linear_parts, "CACHE", 1)
        output, after = call(*leaves, first, padding=padding, chunk=4)
        grads = torch.autograd.grad(output.square().sum() + after.matrix.sum(), leaves)
        found.append([output, after.matrix, *grads])
    for whole, parts in zip(*found, strict=True):
        torch.testing.assert_close(parts, whole, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", ["delta", "gated-delta", "gate"])
def test_states_can_be_derived_twice(name: str):
    call, given = runs(drawn(5, d=2))[name]
    leaves = [x.requires_grad_() for x in given]
    first = chunks.start(given[1], given[2])

    def run(*x: Tensor) -> Tensor:
        return call(*x, first, padding=None, chunk=2)[0]

    assert torch.autograd.gradgradcheck(run, leaves)


def test_a_system_is_inverted_below_its_diagonal_alone():
    generator = torch.Generator().manual_seed(0)
    system = torch.randn(3, 6, 6, generator=generator).double().requires_grad_()
    inverse = wy.UnitInverse.apply(system)
    one = torch.eye(6).double()
    torch.testing.assert_close(inverse @ (one + system.tril(-1)), one.expand(3, 6, 6))
    assert torch.autograd.gradcheck(wy.UnitInverse.apply, system)
    assert torch.autograd.gradgradcheck(wy.UnitInverse.apply, system)


@pytest.mark.parametrize(
    ("n_features", "head_dim", "expected"),
    [(32, 32, 32), (128, 32, 32), (256, 32, 64), (64, 64, 64), (561, 32, 64)],
)
def test_narrow_heads_get_short_chunks(n_features: int, head_dim: int, expected: int):
    assert linear_causal.fitting(n_features, head_dim) == expected
