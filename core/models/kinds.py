"""Which block stands for the name of a mechanism in a model."""

from core.models.blocks import Block, DotBlock, SynthesizerBlock
from core.models.linear_blocks import EluBlock, FavorBlock, TaylorBlock

BLOCKS: dict[str, type[Block]] = {
    "softmax": DotBlock,
    "synthesizer": SynthesizerBlock,
    "dense-synthesizer": SynthesizerBlock,
    "elu": EluBlock,
    "favor": FavorBlock,
    "taylor": TaylorBlock,
}
