"""From chunk to chunk: state ← fade · state + added, forwards or from the last chunk to the first.

Cost: two operations a number of `added`, or as many as steps where they are one product.
"""

from typing import Any, cast

import torch
from torch import Tensor

# Up to so many steps a product costs less than they do one after the other.
FEW = 48


def in_steps(
    start: Tensor, added: Tensor, fade: Tensor | None, *, backwards: bool
) -> tuple[Tensor, Tensor]:
    """States (n·G, …) before each of G steps, from `added` (n·G, …), and those after all (n, …).

    fade (n, G, …) is none where nothing fades. Each state is written where it is read from.
    """
    steps = added.view(len(start), -1, *start.shape[1:])
    states = torch.empty_like(steps)
    parts, befores = steps.unbind(1), [*states.unbind(1), torch.empty_like(start)]
    fades = None if fade is None else fade.unbind(1)
    order = list(range(len(parts)))[:: -1 if backwards else 1]
    befores[order[0]].copy_(start)
    for n, following in zip(order, [*order[1:], -1], strict=True):
        if fades is None:
            torch.add(befores[n], parts[n], out=befores[following])
        else:
            torch.addcmul(parts[n], befores[n], fades[n], out=befores[following])
    return states.view_as(added), befores[-1]


def run_up(start: Tensor, added: Tensor, *, backwards: bool) -> tuple[Tensor, Tensor]:
    """The same where nothing fades: of few steps in one product with a triangle of ones.

    There what is not finite reaches earlier states, too, as it does inside a chunk: 0 · ∞.
    """
    steps = added.view(len(start), -1, start[0].numel())
    n = steps.shape[1]
    if n > FEW:
        return in_steps(start, added, None, backwards=backwards)
    past = torch.ones(n, n, dtype=steps.dtype, device=steps.device)
    past = past.triu_(1) if backwards else past.tril_(-1)
    states = torch.matmul(past, steps).add_(start.reshape(len(start), 1, -1))
    last = 0 if backwards else n - 1
    after = states[:, last] + steps[:, last]
    return states.view_as(added), after.view(start.shape)


class Scan(torch.autograd.Function):
    """`in_steps` with a gradient: start (n, …), added (n·G, …), fade (n, G, 1, 1) or none.

    A direction of 1 is forwards, one of −1 backwards; what goes back is a scan the other way.
    """

    @staticmethod
    def forward(
        ctx: Any, start: Tensor, added: Tensor, fade: Tensor | None, direction: int
    ) -> tuple[Tensor, Tensor]:
        states, after = in_steps(start, added, fade, backwards=direction < 0)
        ctx.save_for_backward(states, fade)
        ctx.direction = direction
        return states, after

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        states, fade = ctx.saved_tensors
        to_states, to_after = grads
        to_added, to_start = cast(
            "tuple[Tensor, Tensor]",
            Scan.apply(to_after.contiguous(), to_states.contiguous(), fade, -ctx.direction),
        )
        if fade is None:
            return to_start, to_added, None, None
        to_fade = (to_added * states).sum((-2, -1), keepdim=True).view(fade.shape)
        return to_start, to_added, to_fade, None
