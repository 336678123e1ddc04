"""The frozen description of a recogniser of speech: everything that shapes its parameters."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

FAMILY = "speech"  # what config.json says of it; a GPT's says nothing
Decoder = Literal["attention", "lstm", "lstm-blind"]
MOST_SIZES = {
    "vocabulary_size": 1000,
    "n_bands": 512,
    "width": 1024,
    "n_heads": 64,
    "n_encoder_layers": 24,
    "n_decoder_layers": 24,
    "lstm_width": 4096,
    "most_frames": 20_000,
    "most_characters": 2000,
}
LEAST_SIZES = {"n_encoder_layers": 0, "lstm_width": 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecogniserConfig:
    """Sizes of a recogniser. Raises ValueError for sizes that do not fit each other.

    decoder: `attention` has self-attention in its blocks; `lstm` an LSTM of `lstm_width` in its
    place; `lstm-blind` no cross-attention besides: each of its steps sees the mean of what the
    encoder made, and nothing else of the sound. With `ctc` the encoder says characters, too.
    """

    family: str = FAMILY
    vocabulary_size: int
    decoder: Decoder = "attention"
    n_bands: int = 40
    width: int = 144
    n_heads: int = 4
    n_encoder_layers: int = 3
    n_decoder_layers: int = 2
    lstm_width: int = 0
    ctc: bool = True
    most_frames: int = 1280
    most_characters: int = 120

    def __post_init__(self) -> None:
        if self.family != FAMILY:
            raise ValueError(f"family {self.family!r:.40}; {FAMILY} is known")
        if self.decoder not in get_args(Decoder):
            raise ValueError(f"decoder {self.decoder!r:.40}; allowed: {get_args(Decoder)}")
        if self.ctc not in (True, False):
            raise ValueError(f"ctc is {self.ctc!r:.40}; true or false")
        for name, most in MOST_SIZES.items():
            value, least = getattr(self, name), LEAST_SIZES.get(name, 1)
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                raise ValueError(
                    f"{name} is {value!r:.40}; whole numbers from {least} to {most:,} are allowed"
                )
        if self.width % self.n_heads or self.width % 2:
            raise ValueError(
                f"width {self.width} must be even and be cut into {self.n_heads} equal heads"
            )
        if (self.lstm_width > 0) != (self.decoder != "attention"):
            raise ValueError(f"lstm_width is {self.lstm_width} and the decoder {self.decoder!r}")

    def to_dict(self) -> dict[str, Any]:
        """For config.json."""
        return asdict(self)

    @property
    def head_dim(self) -> int:
        return self.width // self.n_heads

    @property
    def looks(self) -> bool:
        """Whether its decoder looks at what the encoder heard."""
        return self.decoder != "lstm-blind"

    @property
    def kinds(self) -> tuple[str, ...]:
        """What the heads of each layer look at, in the order of core.models.seam."""
        of_a_block = {
            "attention": ("decoder", "cross"),
            "lstm": ("cross",),
            "lstm-blind": (),
        }[self.decoder]
        return ("encoder",) * self.n_encoder_layers + of_a_block * self.n_decoder_layers
