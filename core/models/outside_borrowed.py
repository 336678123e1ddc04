# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportAttributeAccessIssue=false
"""Somebody's own model of transformers behind the seam for a while, then as it was before."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from transformers import PreTrainedModel

from core.models.outside import OutsideModel, longest_by_config


@contextmanager
def borrowed(
    module: PreTrainedModel, *, longest_input: int | None = None
) -> Generator[OutsideModel]:
    """Within, the model can be looked at; afterwards its attention, its forward functions, its mode
    and its settings are the ones that it had. Raises ValueError as OutsideModel does.
    """
    config: Any = module.config
    forwards = [(part, part.__dict__.get("forward")) for part in module.modules()]
    modes = [(part, part.training) for part in module.modules()]
    attention, use_cache = config._attn_implementation, getattr(config, "use_cache", None)  # noqa: SLF001
    longest = longest_by_config(module)
    try:
        yield OutsideModel(
            module,
            has_head=module.get_output_embeddings() is not None,
            longest_input=min(longest, longest_input or longest),
        )
    finally:
        for part, forward in forwards:
            part.__dict__.pop("forward", None)
            if forward is not None:
                part.forward = forward
        for part, training in modes:
            part.training = training
        module.set_attn_implementation(attention)
        config.use_cache = use_cache
