"""The frozen description of a model; everything that shapes the parameters is in it.

Whoever reads one from a file can believe it: every size has its limit here, and so have the
parameters that all of them together make.
"""

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from core.catalogue import (
    LINEAR,
    MECHANISMS,
    MOST_POSITIONS,
    SIZES,
    SYNTHESIZERS,
    TRAINED,
    WITHOUT_LATENTS,
    MechanismSizes,
    Size,
    in_file_order,
)
from core.theory.costs import taylor_features

Positions = Literal["learned", "rotary"]
Activation = Literal["gelu", "gelu-tanh"]
MOST_TAYLOR_FEATURES = 2**16
BASED_TERMS = 3
N_RATES = {"delta": 1, "gated-delta": 2, "gate": 1}  # numbers that a token has for each head
MOST_PARAMETERS = 200_000_000
MOST_SIZES = {
    "vocabulary_size": 200_000,
    "block_size": MOST_POSITIONS,
    "n_layers": 512,
    "n_heads": 256,
    "width": 2**13,
}

# What our own models never have otherwise: their config.json does not name it.
FOREIGN_ONLY: dict[str, Any] = {"activation": "gelu", "tied": False}

# What tells the course's models apart; all share its sizes.
VARIANTS: dict[str, dict[str, Any]] = {
    "vanilla": {},
    "rotary": {"positions": "rotary"},
    "synthesizer": {"attention": "synthesizer"},
    "perceiver": {"n_latents": 64},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GPTConfig(MechanismSizes):
    """Sizes of a GPT. Raises ValueError for sizes that do not fit each other.

    With `n_latents` the model is a Perceiver: its first layer looks from the latents at the tokens,
    its last from the tokens at the latents. A mechanism of LINEAR is linear attention with its map
    (core.attention.linear). `activation` is the MLP's, GELU or the tanh form near it; `tied`, that
    the head has the numbers of the token embedding. Both are other people's models' alone.
    """

    vocabulary_size: int
    block_size: int = 128
    n_layers: int = 4
    n_heads: int = 8
    width: int = 256
    positions: Positions = "learned"
    attention: str = "softmax"
    activation: Activation = "gelu"
    tied: bool = False

    def __post_init__(self) -> None:
        for name, most in MOST_SIZES.items():
            _check_whole(name, getattr(self, name), 1, most)
        if self.width % self.n_heads:
            raise ValueError(f"width {self.width} cannot be cut into {self.n_heads} equal heads")
        if self.positions not in get_args(Positions):
            raise ValueError(f"positions {self.positions!r}; allowed: {get_args(Positions)}")
        if self.attention not in TRAINED:
            raise ValueError(f"attention {self.attention!r}; allowed: {TRAINED}")
        if self.positions == "rotary" and self.head_dim % 2:
            raise ValueError(f"rotary positions need an even head_dim, not {self.head_dim}")
        _check_foreign(self)
        _check_sizes(self)
        if self.attention in SYNTHESIZERS:
            _check_synthesizer(self)
        if self.n_latents:
            _check_latents(self)
        if self.attention in ("taylor", "based"):
            _check_taylor(self)
        if self.rough_parameters > MOST_PARAMETERS:
            raise ValueError(
                f"{self.n_layers} layers of width {self.width} with {self.vocabulary_size} words "
                f"have about {self.rough_parameters / 1e6:.0f} million parameters; at most "
                f"{MOST_PARAMETERS / 1e6:.0f} million are allowed"
            )

    def to_dict(self) -> dict[str, Any]:
        """For config.json; what only other people's models have stands in theirs alone."""
        values = asdict(self)
        for name, usual in FOREIGN_ONLY.items():
            if values[name] == usual:
                del values[name]
        return in_file_order(values)

    @property
    def rough_parameters(self) -> int:
        """12·layers·width² and the tables: near enough for a limit, and without torch."""
        n_tables = 1 if self.tied else 2
        tables = n_tables * self.vocabulary_size + self.block_size + self.n_latents
        scoring = 0
        if self.attention in SYNTHESIZERS:
            own = self.n_heads if self.attention == "dense-synthesizer" else 1
            scoring = own * self.head_dim * self.longest_input
        if self.attention == "favor":
            scoring = self.n_features * self.head_dim
        scoring += N_RATES.get(self.attention, 0) * self.n_heads * self.width
        scoring += self.short_convolution * self.width
        return self.width * tables + self.n_layers * (12 * self.width**2 + scoring)

    @property
    def head_dim(self) -> int:
        return self.width // self.n_heads

    @property
    def longest_input(self) -> int:
        """The most tokens that the model reads: a Synthesizer has a column for each."""
        if self.attention not in SYNTHESIZERS:
            return self.block_size
        return self.block_size - 1 if self.n_columns is None else self.n_columns


def _check_whole(name: str, value: object, least: int, most: int) -> None:
    """Types too: the value may come from a file."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(
            f"{name} is {value!r:.40}; it must be at least {least} and at most {most:,}, "
            "a whole number"
        )


def _check_foreign(config: GPTConfig) -> None:
    if config.activation not in get_args(Activation):
        raise ValueError(f"activation {config.activation!r:.40}; allowed: {get_args(Activation)}")
    if config.tied not in (True, False):
        raise ValueError(f"tied is {config.tied!r:.40}; true or false")


def _check_sizes(config: GPTConfig) -> None:
    """A Perceiver's come last: whether it is one tells n_latents, which is checked by then."""
    for size in SIZES.values():
        if not set(size.owners).isdisjoint(TRAINED):
            _refuse_foreign(config, size)
    for name, size in SIZES.items():
        _check_size(getattr(config, name), size)
    of_latents = [n for n, s in SIZES.items() if "perceiver" in s.owners and n != "n_latents"]
    if not config.n_latents and any(getattr(config, n) != SIZES[n].default for n in of_latents):
        listed = f"{', '.join(of_latents[:-1])} and {of_latents[-1]}"
        raise ValueError(f"{listed} belong to a model with n_latents")


def _refuse_foreign(config: GPTConfig, size: Size) -> None:
    if config.attention in size.owners or getattr(config, size.name) == size.default:
        return
    if size.owners == SYNTHESIZERS:
        raise ValueError(f"{size.name} belongs to a Synthesizer; attention is {config.attention!r}")
    owners = " or ".join(map(repr, size.owners))
    raise ValueError(f"{size.name} belongs to attention {owners}, not {config.attention!r}")


def _check_size(value: object, size: Size) -> None:
    if size.choices == (True, False):
        if value not in size.choices:
            raise ValueError(f"{size.name} is {value!r:.40}; true or false")
    elif size.choices:
        if value not in size.choices:
            raise ValueError(f"{size.name} {value!r}; allowed: {size.choices}")
    elif value is not None or size.default is not None:
        _check_whole(size.name, value, size.least, size.most)


def _check_synthesizer(config: GPTConfig) -> None:
    if config.positions == "rotary":
        raise ValueError(
            "rotary positions turn queries and keys, and a Synthesizer has neither: "
            "its positions must be 'learned'"
        )
    if config.n_latents:
        raise ValueError(
            "the latents of a Perceiver look at tokens by their keys, and a Synthesizer has none: "
            "n_latents must be 0"
        )
    if not 1 <= config.longest_input <= config.block_size:
        raise ValueError(
            f"{config.longest_input} columns: a Synthesizer has 1 to block_size = "
            f"{config.block_size}"
        )


def _check_latents(config: GPTConfig) -> None:
    if config.n_layers < 2:
        raise ValueError("a Perceiver needs at least 2 layers: one down to its latents, one up")
    last = (config.n_latents - 1) * config.latent_stride
    if last >= config.block_size:
        raise ValueError(
            f"latent {config.n_latents - 1} would stand at position {last}, "
            f"outside the block of {config.block_size}"
        )
    if config.attention in WITHOUT_LATENTS:
        linear = config.attention in LINEAR
        what = "linear attention" if linear else MECHANISMS[config.attention].label
        raise ValueError(
            "the latents of a Perceiver and its tokens are not the same positions, which "
            f"{what} needs: n_latents must be 0"
        )
    if config.short_convolution:
        raise ValueError(
            "a latent stands for no token, so none comes right before it: with n_latents "
            "short_convolution must be 0"
        )


def _check_taylor(config: GPTConfig) -> None:
    n_terms = config.n_terms if config.attention == "taylor" else BASED_TERMS
    n_features = taylor_features(config.head_dim, n_terms, symmetric=True)
    if n_features > MOST_TAYLOR_FEATURES:
        raise ValueError(
            f"{n_terms} Taylor terms of heads of {config.head_dim} numbers are "
            f"{n_features:,} features; at most {MOST_TAYLOR_FEATURES:,} are allowed"
        )
