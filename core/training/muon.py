"""Muon for devices: matrices of one shape are made orthogonal together.

On a device the products of small matrices cost their launches, not their numbers: a model of 12
layers has some 48 matrices of 4 shapes, and 15 products a matrix at every step. Formula and states
are those of torch.optim.Muon, so that a run goes on from either.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor, nn


class StackedMuon(torch.optim.Muon):
    """B ← μB + (1 − μ)G; θ ← (1 − ηλ)θ − η √max(1, rows/columns) · NS(μB + (1 − μ)G)."""

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """One step. Raises ValueError for a closure: nobody here evaluates a loss twice."""
        if closure is not None:
            raise ValueError("this optimizer takes no closure")
        for group in self.param_groups:
            stacks: dict[torch.Size, list[tuple[nn.Parameter, Tensor]]] = defaultdict(list)
            for parameter in group["params"]:
                if parameter.grad is not None:
                    stacks[parameter.shape].append((parameter, parameter.grad))
            for stack in stacks.values():
                self._step_stack(stack, group)
        return None

    def _step_stack(self, stack: list[tuple[nn.Parameter, Tensor]], group: dict[str, Any]) -> None:
        momentum, rate = group["momentum"], group["lr"]
        updates = [self._update(*pair, momentum) for pair in stack]
        made = orthogonal(
            torch.stack(updates), group["ns_coefficients"], group["ns_steps"], group["eps"]
        )
        for (parameter, _), update in zip(stack, made, strict=True):
            rows, columns = parameter.shape
            parameter.mul_(1 - rate * group["weight_decay"])
            parameter.add_(update, alpha=-rate * max(1, rows / columns) ** 0.5)

    def _update(self, parameter: nn.Parameter, gradient: Tensor, momentum: float) -> Tensor:
        """Nesterov's, by the momentum of this parameter."""
        state = self.state[parameter]
        if "momentum_buffer" not in state:
            state["momentum_buffer"] = torch.zeros_like(gradient)
        buffer: Tensor = state["momentum_buffer"]
        buffer.lerp_(gradient, 1 - momentum)
        return gradient.lerp(buffer, momentum)


def orthogonal(
    matrices: Tensor, coefficients: tuple[float, float, float], n_steps: int, eps: float
) -> Tensor:
    """Newton and Schulz: X ← aX + (bA + cA²)X with A = XXᵀ, from X / ‖X‖, in bfloat16.

    matrices: (n, rows, columns). Cost: n_steps · 3 products, each of all n matrices at once.
    """
    a, b, c = coefficients
    is_tall = matrices.shape[1] > matrices.shape[2]
    start: Tensor = matrices.bfloat16()
    start = start.mT if is_tall else start
    norm = cast(Tensor, torch.linalg.matrix_norm(start, keepdim=True))
    x = torch.div(start, torch.clamp(norm, min=eps))
    for _ in range(n_steps):
        gram = torch.matmul(x, x.mT)
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.mT if is_tall else x
