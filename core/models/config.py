"""The frozen description of a model; everything that shapes the parameters is in it.

Whoever reads one from a file can believe it: every size has its limit here, and so have the
parameters that all of them together make.
"""

from dataclasses import dataclass
from typing import Any, Literal, get_args

from core.theory.costs import taylor_features

Positions = Literal["learned", "rotary"]
Attention = Literal["softmax", "synthesizer", "dense-synthesizer", "elu", "favor", "taylor"]
LatentNorm = Literal["both", "latents"]
SYNTHESIZERS: tuple[Attention, ...] = ("synthesizer", "dense-synthesizer")
LINEAR: tuple[Attention, ...] = ("elu", "favor", "taylor")
FEATURES, TERMS = 128, 3
MOST_FEATURES = 4096
MOST_TERMS = 4  # five terms of 32 numbers would be 58,905 features
MOST_TAYLOR_FEATURES = 2**16
MOST_PARAMETERS = 100_000_000
MOST_SIZES = {
    "vocabulary_size": 200_000,
    "block_size": 2**14,
    "n_layers": 512,
    "n_heads": 256,
    "width": 2**13,
}

# What tells the course's models apart; all share its sizes.
VARIANTS: dict[str, dict[str, Any]] = {
    "vanilla": {},
    "rotary": {"positions": "rotary"},
    "synthesizer": {"attention": "synthesizer"},
    "perceiver": {"n_latents": 64},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GPTConfig:
    """Sizes of a GPT. Raises ValueError for sizes that do not fit each other.

    `n_columns` is a Synthesizer's: the columns of B, block_size − 1 unless told. With `n_latents`
    the model is a Perceiver: its first layer looks from the latents at the tokens, its last from
    the tokens at the latents. `latent_stride`, `latent_residual` and `latent_norm`: see
    core.attention.perceiver.
    `elu`, `favor` and `taylor` are linear attention with that map (core.attention.linear);
    `n_features` belongs to FAVOR+, `n_terms` to Taylor.
    """

    vocabulary_size: int
    block_size: int = 128
    n_layers: int = 4
    n_heads: int = 8
    width: int = 256
    positions: Positions = "learned"
    attention: Attention = "softmax"
    n_columns: int | None = None
    n_latents: int = 0
    latent_stride: int = 1
    latent_residual: bool = True
    latent_norm: LatentNorm = "both"
    n_features: int = FEATURES
    n_terms: int = TERMS

    def __post_init__(self) -> None:
        for name, most in MOST_SIZES.items():
            _check_whole(name, getattr(self, name), 1, most)
        if self.width % self.n_heads:
            raise ValueError(f"width {self.width} cannot be cut into {self.n_heads} equal heads")
        if self.positions not in get_args(Positions):
            raise ValueError(f"positions {self.positions!r}; allowed: {get_args(Positions)}")
        if self.attention not in get_args(Attention):
            raise ValueError(f"attention {self.attention!r}; allowed: {get_args(Attention)}")
        if self.positions == "rotary" and self.head_dim % 2:
            raise ValueError(f"rotary positions need an even head_dim, not {self.head_dim}")
        _check_synthesizer(self)
        _check_latents(self)
        _check_linear(self)
        if self.rough_parameters > MOST_PARAMETERS:
            raise ValueError(
                f"{self.n_layers} layers of width {self.width} with {self.vocabulary_size} words "
                f"have about {self.rough_parameters / 1e6:.0f} million parameters; at most "
                f"{MOST_PARAMETERS / 1e6:.0f} million are allowed"
            )

    @property
    def rough_parameters(self) -> int:
        """12·layers·width² and the tables: near enough for a limit, and without torch."""
        tables = 2 * self.vocabulary_size + self.block_size + self.n_latents
        scoring = 0
        if self.attention in SYNTHESIZERS:
            own = self.n_heads if self.attention == "dense-synthesizer" else 1
            scoring = own * self.head_dim * self.longest_input
        if self.attention == "favor":
            scoring = self.n_features * self.head_dim
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


def course_preset(variant: str = "vanilla", *, vocabulary_size: int = 256) -> GPTConfig:
    """The course's shape of a variant.

    At 256 characters: 3,323,392 parameters vanilla, 3,290,624 rotary, 3,076,988 Synthesizer
    (3,077,120 where people made B block_size wide), 3,339,776 Perceiver.
    """
    if variant not in VARIANTS:
        raise ValueError(f"unknown variant {variant!r}; variants: {', '.join(VARIANTS)}")
    return GPTConfig(vocabulary_size=vocabulary_size, **VARIANTS[variant])


def _check_whole(name: str, value: object, least: int, most: int) -> None:
    """Types too: the value may come from a file."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(
            f"{name} is {value!r:.40}; it must be at least {least} and at most {most:,}, "
            "a whole number"
        )


def _check_synthesizer(config: GPTConfig) -> None:
    if config.attention not in SYNTHESIZERS:
        if config.n_columns is not None:
            raise ValueError(
                f"n_columns belongs to a Synthesizer; attention is {config.attention!r}"
            )
        return
    if config.n_columns is not None:
        _check_whole("n_columns", config.n_columns, 1, MOST_SIZES["block_size"])
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
    for name, least in (("n_latents", 0), ("latent_stride", 1)):
        _check_whole(name, getattr(config, name), least, MOST_SIZES["block_size"])
    if config.latent_residual not in (True, False):
        raise ValueError(f"latent_residual is {config.latent_residual!r:.40}; true or false")
    if config.latent_norm not in get_args(LatentNorm):
        raise ValueError(f"latent_norm {config.latent_norm!r}; allowed: {get_args(LatentNorm)}")
    if not config.n_latents:
        usual = (1, True, "both")
        if (config.latent_stride, config.latent_residual, config.latent_norm) != usual:
            raise ValueError(
                "latent_stride, latent_residual and latent_norm belong to a model with n_latents"
            )
        return
    if config.n_layers < 2:
        raise ValueError("a Perceiver needs at least 2 layers: one down to its latents, one up")
    last = (config.n_latents - 1) * config.latent_stride
    if last >= config.block_size:
        raise ValueError(
            f"latent {config.n_latents - 1} would stand at position {last}, "
            f"outside the block of {config.block_size}"
        )


def _check_linear(config: GPTConfig) -> None:
    for name, owner, usual in (("n_features", "favor", FEATURES), ("n_terms", "taylor", TERMS)):
        if config.attention != owner and getattr(config, name) != usual:
            raise ValueError(f"{name} belongs to attention {owner!r}, not {config.attention!r}")
    _check_whole("n_features", config.n_features, 1, MOST_FEATURES)
    _check_whole("n_terms", config.n_terms, 1, MOST_TERMS)
    n_taylor = taylor_features(config.head_dim, config.n_terms, symmetric=True)
    if config.attention == "taylor" and n_taylor > MOST_TAYLOR_FEATURES:
        raise ValueError(
            f"{config.n_terms} Taylor terms of heads of {config.head_dim} numbers are "
            f"{n_taylor:,} features; at most {MOST_TAYLOR_FEATURES:,} are allowed"
        )
    if config.attention in LINEAR and config.n_latents:
        raise ValueError(
            "the latents of a Perceiver and its tokens are not the same positions, which linear "
            "attention needs: n_latents must be 0"
        )
