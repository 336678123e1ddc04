"""What a recogniser is made of: attention under its norm, MLPs, an LSTM, blocks, positions."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.models.heads import DotHeads, OpenHeads
from core.models.recogniser_config import RecogniserConfig


class Looking(nn.Module):
    """Attention under its norm: query, key, value, projection, biases everywhere."""

    def __init__(self, config: RecogniserConfig) -> None:
        super().__init__()
        self.n_heads, width = config.n_heads, config.width
        self.norm = nn.LayerNorm(width)
        self.query, self.key, self.value, self.project = (nn.Linear(width, width) for _ in range(4))

    def heads(self, x: Tensor, seen: Tensor | None, hidden: Tensor | None) -> OpenHeads:
        """What the heads work on when x looks at `seen`, or at itself."""
        looking = self.norm(x)
        parts = self._parts(looking, looking if seen is None else seen)
        return OpenHeads(**parts, hidden=hidden)

    def causal_heads(self, x: Tensor) -> DotHeads:
        """The same where no row looks at what stands behind it."""
        looking = self.norm(x)
        return DotHeads(**self._parts(looking, looking))

    def projected(self, output: Tensor) -> Tensor:
        """What the heads' output (B, H, L, d) adds to the stream."""
        return self.project(output.transpose(1, 2).flatten(2))

    def by_head(self, output: Tensor) -> Tensor:
        """Each head's own part of what is added: (B, H, L, d) to (B, H, L, width)."""
        matrices = torch.unflatten(self.project.weight, 1, (self.n_heads, -1))  # (width, H, d)
        return torch.einsum("bhld,whd->bhlw", output, matrices)

    def _parts(self, looking: Tensor, seen: Tensor) -> dict[str, Tensor]:
        def of_heads(x: Tensor) -> Tensor:
            return torch.unflatten(x, -1, (self.n_heads, -1)).transpose(1, 2)

        rows = torch.arange(looking.shape[1], device=looking.device)
        itself = looking is seen
        return {
            "query": of_heads(self.query(looking)),
            "key": of_heads(self.key(seen)),
            "value": of_heads(self.value(seen)),
            "rows": rows,
            "columns": rows if itself else torch.arange(seen.shape[1], device=seen.device),
        }


class Mlp(nn.Module):
    """What is added to a stream that attention has been added to."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.into, self.out = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        return self.out(F.gelu(self.into(self.norm(x))))


class EncoderBlock(nn.Module):
    """Everything looks at everything."""

    def __init__(self, config: RecogniserConfig) -> None:
        super().__init__()
        self.attention, self.mlp = Looking(config), Mlp(config.width)


class Remembering(nn.Module):
    """What an LSTM adds, under its norm, that has read the stream from its beginning."""

    def __init__(self, width: int, lstm_width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.lstm = nn.LSTM(width, lstm_width, batch_first=True)
        self.out = nn.Linear(lstm_width, width)

    def forward(self, x: Tensor) -> Tensor:
        return self.out(self.lstm(self.norm(x))[0])


class DecoderBlock(nn.Module):
    """What is written looks at what was written before, then at what is heard."""

    def __init__(self, config: RecogniserConfig) -> None:
        super().__init__()
        width, lstm_width = config.width, config.lstm_width
        self.attention = None if lstm_width else Looking(config)
        self.memory = Remembering(width, lstm_width) if lstm_width else None
        self.cross = Looking(config) if config.looks else None
        self.mlp = Mlp(width)


def positions(n: int, width: int, like: Tensor) -> Tensor:
    """(n, width): sin and cos of p / 10000^(2i / width), in turn."""
    places = torch.arange(n, device=like.device, dtype=like.dtype)[:, None]
    rates = 10000 ** (-torch.arange(0, width, 2, device=like.device, dtype=like.dtype) / width)
    angles = places * rates
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


def initialise(model: nn.Module, generator: torch.Generator | None) -> None:
    """Normal(0, 1 / fan-in) for weights, Normal(0, 1) for embeddings, zero for biases, one for the
    scales of norms. An LSTM's forget gates begin open, with a bias of 1 (Jozefowicz et al. 2015).
    """
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name == "tokens.weight":
                parameter.normal_(0.0, 1.0, generator=generator)
            elif parameter.ndim >= 2:
                fan_in = parameter[0].numel()
                parameter.normal_(0.0, fan_in**-0.5, generator=generator)
            elif "bias" in name:
                parameter.zero_()
            if name.endswith("lstm.bias_ih_l0"):
                width = len(parameter) // 4
                parameter[width : 2 * width] = 1.0
