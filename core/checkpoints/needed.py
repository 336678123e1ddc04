# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
"""Which of the weights that the files lack does a model's result depend on?"""

from collections.abc import Sequence
from typing import Any, cast

import torch

N_TOKENS = 3
Gradients = tuple[torch.Tensor | None, ...]


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
    few = torch.ones((1, N_TOKENS), dtype=torch.long)
    both = {"decoder_input_ids": few} if module.config.is_encoder_decoder else {}
    with torch.inference_mode(mode=False), torch.enable_grad():
        output = module(input_ids=few, **both)
    for hook in hooks:
        hook.remove()
    result = output["logits"] if "logits" in output else output["last_hidden_state"]
    there = dict(module.named_parameters())
    asked = {name: there[name] for name in missing if name in there}
    if not asked:
        return sorted(missing)
    found = torch.autograd.grad(result.sum(), list(asked.values()), allow_unused=True)
    gradients = dict(zip(asked, cast(Gradients, found), strict=True))
    without = {name for name, gradient in gradients.items() if gradient is None}
    parts = dict(module.named_modules())
    beside = {name for name in without if id(parts[name.rpartition(".")[0]]) in called}
    return sorted(name for name in missing if name not in beside)
