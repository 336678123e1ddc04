"""The frozen description of a model; everything that shapes the parameters is in it."""

from dataclasses import dataclass
from typing import Literal, get_args

Positions = Literal["learned", "rotary"]
Attention = Literal["softmax"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GPTConfig:
    """Sizes of a GPT. Raises ValueError for sizes that do not fit each other."""

    vocabulary_size: int
    block_size: int = 128
    n_layers: int = 4
    n_heads: int = 8
    width: int = 256
    positions: Positions = "learned"
    attention: Attention = "softmax"

    def __post_init__(self) -> None:
        for name in ("vocabulary_size", "block_size", "n_layers", "n_heads", "width"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be at least 1")
        if self.width % self.n_heads:
            raise ValueError(f"width {self.width} cannot be cut into {self.n_heads} equal heads")
        if self.positions not in get_args(Positions):
            raise ValueError(f"positions {self.positions!r}; allowed: {get_args(Positions)}")
        if self.attention not in get_args(Attention):
            raise ValueError(f"attention {self.attention!r}; allowed: {get_args(Attention)}")
        if self.positions == "rotary" and self.head_dim % 2:
            raise ValueError(f"rotary positions need an even head_dim, not {self.head_dim}")

    @property
    def head_dim(self) -> int:
        return self.width // self.n_heads


def course_preset(*, vocabulary_size: int = 256, positions: Positions = "learned") -> GPTConfig:
    """The course's shape: 3,323,392 parameters (rotary: 3,290,624) at 256 characters."""
    return GPTConfig(vocabulary_size=vocabulary_size, positions=positions)
