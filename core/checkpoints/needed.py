# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
"""Which of the weights that the files lack does a model's result depend on?"""

from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import Tensor

N_TOKENS = 3


def needed(module: Any, missing: Sequence[str]) -> list[str]:
    """Of the weights that are missing, those that logits depend on, or the last hidden states of a
    bare model.

    A pooler beside them is not one of those. What this pass does not call (an expert that no token
    is sent to) may be called by another one, and is needed. Cost: one pass over a few tokens, with
    the gradients of what is missing.
    """
    if not missing:
        return []
    called = set[int]()
    hooks = [
        part.register_forward_hook(lambda part, _given, _output: called.add(id(part)))
        for part in module.modules()
    ]
    there = dict(module.named_parameters())
    asked = {name: there[name] for name in missing if name in there}
    with torch.inference_mode(mode=False), torch.enable_grad():
        gradients = _gradients(_result(module), asked)
    for hook in hooks:
        hook.remove()
    without = {name for name, gradient in gradients.items() if gradient is None}
    parts = dict(module.named_modules())
    beside = {name for name in without if id(parts[name.rpartition(".")[0]]) in called}
    return sorted(name for name in missing if name not in beside)


def _result(module: Any) -> Tensor:
    few = torch.ones((1, N_TOKENS), dtype=torch.long)
    both = {"decoder_input_ids": few} if module.config.is_encoder_decoder else {}
    output = module(input_ids=few, **both)
    return output["logits"] if "logits" in output else output["last_hidden_state"]


def _gradients(result: Tensor, asked: dict[str, Tensor]) -> dict[str, Tensor | None]:
    """None where the result does not depend on a weight."""
    if not asked:
        return {}
    found = torch.autograd.grad(result.sum(), list(asked.values()), allow_unused=True)
    return dict(zip(asked, cast(tuple[Tensor | None, ...], found), strict=True))
