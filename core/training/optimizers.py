"""Muon for the matrices of the blocks, AdamW for the rest; one learning-rate factor for both."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from core.models.trained import Trained
from core.training.muon import StackedMuon
from core.training.recipe import Phase, Recipe

FUSED = ("cuda", "mps")


def make_optimizers(model: Trained[Any], recipe: Recipe) -> list[torch.optim.Optimizer]:
    """Muon (Jordan et al. 2024) orthogonalises the update of each matrix; embeddings, head,
    norms and biases are not matrices in that sense. `adamw` as optimizer uses AdamW for all, and
    as in minGPT the head decays with the matrices. A Synthesizer's B is a matrix where heads share
    it, and belongs to the rest where each has its own.

    Off the processor both do the steps of many parameters at once: Muon stacks matrices, and AdamW
    is fused. Call this when the model is where it is trained.
    """
    matrices, rest = split_parameters(model)
    kind = torch.optim.Muon if rest[0].device.type == "cpu" else StackedMuon
    if recipe.optimizer == "adamw":
        head = [parameter for parameter in rest if parameter is model.head_matrix]
        rest = [parameter for parameter in rest if parameter is not model.head_matrix]
        decayed = [*matrices, *head]
        return [_adamw(decayed, recipe, recipe.matrix_decay), _adamw(rest, recipe, 0.0)]
    muon = kind(
        matrices,
        lr=recipe.matrix_rate,
        momentum=0.95,
        weight_decay=recipe.matrix_decay,
        adjust_lr_fn="original",
    )
    return [muon, _adamw(rest, recipe, 0.0)]


def split_parameters(model: Trained[Any]) -> tuple[list[nn.Parameter], list[nn.Parameter]]:
    """(matrices inside blocks, everything else), each in the model's order."""
    matrices = model.matrices
    chosen = set(map(id, matrices))
    return matrices, [p for p in model.parameters() if id(p) not in chosen]


def rate_factor(step: int, n_steps: int, recipe: Recipe, phase: Phase) -> float:
    """The part of the peak rate at a step (zero-based).

    Linear warm-up to 1, flat, then linear decay to 0.02 over the last `decay_share` of the steps.
    With `cosine_steps`, as minGPT does it: max(0.1, (1 + cos(π step / cosine_steps)) / 2), which
    rises again after that many steps. A phase with a rate of its own keeps to it.
    """
    if phase.rate is not None:
        return phase.rate
    rise = min(1.0, (step + 1) / max(1, min(recipe.warmup_steps, n_steps // 10)))
    if recipe.cosine_steps:
        return rise * max(0.1, (1 + math.cos(math.pi * step / recipe.cosine_steps)) / 2)
    left = (n_steps - step) / n_steps
    return rise * min(1.0, max(0.02, left / recipe.decay_share))


def set_rates(optimizers: Sequence[torch.optim.Optimizer], recipe: Recipe, factor: float) -> None:
    """Scale every group's peak rate by the factor."""
    for optimizer in optimizers:
        is_muon = isinstance(optimizer, torch.optim.Muon)
        for group in optimizer.param_groups:
            group["lr"] = factor * (recipe.matrix_rate if is_muon else recipe.adamw_rate)


def state_for(
    optimizer: torch.optim.Optimizer, index: int, tensors: dict[str, Tensor]
) -> dict[str, object]:
    """What `load_state_dict` takes, of the tensors of a saved state."""
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        if name.startswith(f"optimizer.{index}."):
            _, _, parameter, key = name.split(".")
            state.setdefault(int(parameter), {})[key] = tensor
    return {"state": state, "param_groups": optimizer.state_dict()["param_groups"]}


def _adamw(parameters: list[nn.Parameter], recipe: Recipe, decay: float) -> torch.optim.Optimizer:
    rate = recipe.adamw_rate
    fused = True if any(p.device.type in FUSED for p in parameters) else None
    return torch.optim.AdamW(
        parameters, lr=rate, betas=(0.9, 0.95), weight_decay=decay, fused=fused
    )
