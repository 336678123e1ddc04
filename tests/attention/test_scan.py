"""States carried from chunk to chunk, forwards and backwards, against a loop; gradients twice."""

import pytest
import torch
from torch import Tensor

from core.attention.scan import FEW, Scan, in_steps, run_up


def drawn(n_steps: int, *, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Start (2, 3, 4), added (2·G, 3, 4), fade (2, G, 1, 1)."""
    generator = torch.Generator().manual_seed(seed)
    start = torch.randn(2, 3, 4, generator=generator).double()
    added = torch.randn(2 * n_steps, 3, 4, generator=generator).double()
    fade = torch.rand(2, n_steps, 1, 1, generator=generator).double()
    return start, added, fade


def naive(
    start: Tensor, added: Tensor, fade: Tensor | None, *, backwards: bool
) -> tuple[Tensor, Tensor]:
    steps = added.view(2, -1, 3, 4)
    states: list[Tensor] = [start] * steps.shape[1]
    state = start
    for n in sorted(range(steps.shape[1]), reverse=backwards):
        states[n] = state
        state = (1.0 if fade is None else fade[:, n]) * state + steps[:, n]
    return torch.stack(states, 1).flatten(0, 1), state


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("fades", [False, True])
@pytest.mark.parametrize("n_steps", [1, 2, 7, FEW, FEW + 1])
def test_a_scan_equals_the_loop(n_steps: int, fades: bool, backwards: bool):
    start, added, fade = drawn(n_steps)
    given = fade if fades else None
    expected = naive(start, added, given, backwards=backwards)
    torch.testing.assert_close(in_steps(start, added, given, backwards=backwards), expected)
    torch.testing.assert_close(Scan.apply(start, added, given, -1 if backwards else 1), expected)
    if not fades:
        torch.testing.assert_close(run_up(start, added, backwards=backwards), expected)


@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("fades", [False, True])
def test_a_scan_can_be_derived_twice(fades: bool, direction: int):
    start, added, fade = (x.requires_grad_() for x in drawn(3))
    leaves = (start, added, fade) if fades else (start, added)

    def run(*given: Tensor) -> tuple[Tensor, Tensor]:
        return Scan.apply(given[0], given[1], given[2] if fades else None, direction)

    assert torch.autograd.gradcheck(run, leaves)
    assert torch.autograd.gradgradcheck(run, leaves)


def test_no_step_reads_a_later_one():
    start, added, fade = drawn(5)
    changed = added.clone().view(2, 5, 3, 4)
    changed[:, 3] = torch.inf
    states, _ = in_steps(start, added, fade, backwards=False)
    others, _ = in_steps(start, changed.view_as(added), fade, backwards=False)
    assert torch.equal(states.view(2, 5, 3, 4)[:, :4], others.view(2, 5, 3, 4)[:, :4])
    assert not others.view(2, 5, 3, 4)[:, 4].isfinite().any()
