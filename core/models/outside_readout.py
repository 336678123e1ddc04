# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
"""The last norm and the head of a model as one linear map, found by measuring.

A norm whose scale is held is linear, and so is a head of one matrix: logits = W · N(x) + b with
N(x) = s(x) · γ ∘ C x + β, where C takes the mean away (LayerNorm) or does not (RMSNorm). Whether a
model ends so is not looked up: β, γ, C and W are measured on the model's own norm and head, and
held against them on other inputs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from core.models.seam import Readout

CLOSE = 1e-4  # relative to the largest logit


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearReadout:
    """N(x) = s · gain ∘ (x or x less its mean) + shift; logits = N(x) · weightᵀ · factor + bias."""

    norm: nn.Module
    gain: Tensor
    shift: Tensor
    is_centred: bool
    weight: Tensor  # (vocabulary, width)
    bias: Tensor  # (vocabulary,)
    factor: float

    def of(self, final: Tensor, tokens: Tensor, *, relative: bool) -> Readout:
        """What the logits of `tokens` (B,) read of every part of `final` (B, width)."""
        rows, bias = self.weight[tokens], self.bias[tokens]
        if relative:
            rows, bias = rows - self.weight.mean(0), bias - self.bias.mean()
        rows = rows * self.factor
        scaled = self.gain * rows * self.scale(final)
        vector = scaled - scaled.mean(-1, keepdim=True) if self.is_centred else scaled
        return Readout(vector, (rows * self.shift).sum(-1) + bias)

    def scale(self, x: Tensor) -> Tensor:
        """(…, 1): s(x), by least squares over the width."""
        straight = self.gain * (x - x.mean(-1, keepdim=True) if self.is_centred else x)
        normed = self.norm(x) - self.shift
        return (normed * straight).sum(-1, keepdim=True) / straight.square().sum(-1, keepdim=True)


@torch.inference_mode()
def linear_readout(
    logits: Callable[[Tensor], Tensor], module: Any, width: int
) -> LinearReadout | None:
    """None where a model does not end so. Cost: a few rows through norm and head."""
    head: Any = module.get_output_embeddings()
    weight: Tensor | None = getattr(head, "weight", None)
    norm = _last_norm(logits, module, width)
    if norm is None or weight is None or weight.ndim != 2 or weight.shape[1] != width:
        return None
    generator = torch.Generator().manual_seed(0)
    x = (torch.randn(4, width, generator=generator) * 3 + 0.5).to(weight.device)
    found = _measured(norm, weight, getattr(head, "bias", None), x, logits(x))
    expected = found.factor * found.norm(x) @ weight.T + found.bias
    straight = found.scale(x) * found.gain * (x - x.mean(-1, keepdim=True) * found.is_centred)
    close = CLOSE * float(logits(x).abs().max())
    apart = (logits(x) - expected, norm(x) - straight - found.shift)
    return found if all(float(t.abs().max()) <= close for t in apart) else None


def _measured(
    norm: nn.Module, weight: Tensor, bias: Tensor | None, x: Tensor, found: Tensor
) -> LinearReadout:
    ones = torch.ones(weight.shape[1], device=weight.device)
    ones[1::2] = -1  # of mean 0 and of size 1, so that both norms leave it as it is
    shift = norm(torch.zeros_like(ones)[None])[0]
    moved, still = norm(x + 1.0), norm(x)
    offset = torch.zeros(len(weight), device=weight.device) if bias is None else bias
    straight = still @ weight.T
    return LinearReadout(
        norm=norm,
        gain=(norm(ones[None])[0] - shift) * ones,
        shift=shift,
        is_centred=bool((moved - still).abs().max() <= 1e-3 * still.abs().max()),
        weight=weight,
        bias=offset,
        factor=float(((found - offset) * straight).sum() / straight.square().sum()),
    )


def _last_norm(
    logits: Callable[[Tensor], Tensor], module: nn.Module, width: int
) -> nn.Module | None:
    """The first module without parts that reads the stream after the last block."""
    drawn = torch.randn(1, width, generator=torch.Generator().manual_seed(1))
    x, called = drawn.to(next(module.parameters()).device), list[nn.Module]()

    def see(part: nn.Module, given: Any, _output: Any) -> None:
        is_leaf = next(part.children(), None) is None
        first = given[0] if given else None
        same = isinstance(first, torch.Tensor) and torch.equal(first.reshape(-1), x.reshape(-1))
        if is_leaf and same:
            called.append(part)

    hooks = [part.register_forward_hook(see) for part in module.modules()]
    try:
        logits(x)
    finally:
        for hook in hooks:
            hook.remove()
    return called[0] if called else None
