"""How the networks of pictures are taught: which optimizer, at which rate when.

The convolutional networks by SGD with momentum 0.9 at one rate, as the homework has it. Attention
over patches hardly learns so: AdamW, its rate rising over 100 steps and falling to 0 at the end.
"""

import torch
from torch import nn

from core.pictures.networks import PATCHES
from core.pictures.sweep_spec import Case

MOMENTUM, DECAY, WARMUP_STEPS = 0.9, 0.05, 100


def make_optimizer(network: nn.Module, case: Case) -> torch.optim.Optimizer:
    """That of a network, at the rate of the case."""
    if case.network == PATCHES:
        return torch.optim.AdamW(network.parameters(), lr=case.rate, weight_decay=DECAY)
    return torch.optim.SGD(network.parameters(), lr=case.rate, momentum=MOMENTUM)


def set_rate(optimizer: torch.optim.Optimizer, case: Case, step: int, n_steps: int) -> None:
    """The rate of a step (zero-based) of n_steps."""
    if case.network != PATCHES:
        return
    factor = min(1.0, (step + 1) / WARMUP_STEPS, (n_steps - step) / n_steps)
    for group in optimizer.param_groups:
        group["lr"] = factor * case.rate
