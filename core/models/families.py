"""Our own models by their description: a GPT, or a recogniser of speech."""

from typing import Any

import torch

from core.models.config import GPTConfig
from core.models.gpt import GPT
from core.models.recogniser import Recogniser
from core.models.recogniser_config import RecogniserConfig

OwnConfig = GPTConfig | RecogniserConfig
OwnModel = GPT | Recogniser


def config_from_dict(data: dict[str, Any]) -> OwnConfig:
    """Of a config.json; one that names no family is a GPT's. Raises ValueError or TypeError."""
    return RecogniserConfig(**data) if "family" in data else GPTConfig(**data)


def make_model(config: OwnConfig, *, generator: torch.Generator | None = None) -> OwnModel:
    """A model of this description, its parameters drawn by the generator."""
    if isinstance(config, RecogniserConfig):
        return Recogniser(config, generator=generator)
    return GPT(config, generator=generator)


def parameter_shapes(config: OwnConfig) -> dict[str, tuple[int, ...]]:
    """Names and shapes of all that a checkpoint stores, without memory for the numbers."""
    with torch.device("meta"):
        state = make_model(config).state_dict()
    return {name: tuple(tensor.shape) for name, tensor in state.items()}
