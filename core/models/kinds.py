"""Which block a name of an attention stands for."""

from core.models.blocks import Block, DotBlock, SynthesizerBlock
from core.models.config import Attention
from core.models.linear_blocks import EluBlock, FavorBlock, TaylorBlock


def block_kind(attention: Attention) -> type[Block]:
    """The class of all blocks of a model."""
    kinds: dict[Attention, type[Block]] = {
        "softmax": DotBlock,
        "synthesizer": SynthesizerBlock,
        "dense-synthesizer": SynthesizerBlock,
        "elu": EluBlock,
        "favor": FavorBlock,
        "taylor": TaylorBlock,
    }
    return kinds[attention]
