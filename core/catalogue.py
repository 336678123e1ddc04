"""What there is of attention: a row a mechanism, and the sizes that belong to some. No torch.

Whatever lists mechanisms reads them here; the rows are written in core.mechanisms. Beside its row a
mechanism has its functions in core.attention; what is trained has its block in core.models.blocks;
what is measured has its cost in core.theory.costs and its call in core.bench.methods. A row says
why it lacks one of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from core.mechanisms import ROWS, Family, Mechanism

LatentNorm = Literal["both", "latents"]
MOST_POSITIONS = 2**14


MECHANISMS: dict[str, Mechanism] = {row.name: row for row in ROWS}
TRAINED = tuple(row.name for row in ROWS if not row.not_trained)
LINEAR = tuple(name for name in TRAINED if MECHANISMS[name].family == "feature map")
# Whose weights are what each value is multiplied by, and no softmax: they can be negative.
EFFECTIVE = tuple(n for n in TRAINED if MECHANISMS[n].family in ("feature map", "state"))
# Latents and tokens are not the same positions, which all of these need.
WITHOUT_LATENTS = tuple(n for n in TRAINED if n in EFFECTIVE or MECHANISMS[n].family == "sparse")
SYNTHESIZERS = tuple(name for name in TRAINED if MECHANISMS[name].family == "no pairs")
OF_PAIRS = tuple(name for name in TRAINED if name not in SYNTHESIZERS)
_DRAWN = sorted(ROWS, key=lambda row: row.family == "no pairs")  # what looks at pairs comes first
METHODS = tuple(row.name for row in _DRAWN if not row.not_measured)
WITHOUT_CAUSAL_FORM = tuple(name for name in METHODS if not MECHANISMS[name].has_causal_form)
ONLY_CAUSAL = tuple(name for name in METHODS if MECHANISMS[name].only_causal)
WRITERS = tuple(name for name in METHODS if not MECHANISMS[name].no_step)
FEATURE_MAPS = tuple(name for name in METHODS if MECHANISMS[name].family == "feature map")


def label(method: str) -> str:
    """As it stands in pictures; a method of a later version by its own name."""
    return MECHANISMS[method].label if method in MECHANISMS else method


def family(method: str) -> Family:
    """What it is coloured by."""
    return MECHANISMS[method].family if method in MECHANISMS else "no pairs"


def model_label(kind: str) -> str:
    """What a model is called by its mechanism; softmax by its positions, vanilla or rotary."""
    return f"linear ({label(kind)})" if kind in LINEAR else label(kind)


def size_of(method: str, sizes: object) -> str:
    """The size that a measured method has, in words; empty where it has none."""
    return MECHANISMS[method].size.format(sizes=sizes) if method in MECHANISMS else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """What a size of some mechanisms, its `owners`, may be: whole numbers, or one of `choices`.

    What a training may set has a `label`, for the form, and a `help`.
    """

    name: str
    owners: tuple[str, ...]
    default: object
    label: str = ""
    help: str = ""
    least: int = 0
    most: int = MOST_POSITIONS
    choices: tuple[object, ...] = ()

    @property
    def is_settable(self) -> bool:
        return bool(self.label)

    @property
    def option(self) -> str:
        """What it is called at the command line."""
        return f"--{self.name.removeprefix('n_').replace('_', '-')}"


def _of(*owners: str, **limits: Any) -> dict[str, Any]:
    return {"owners": owners, **limits}


@dataclass(frozen=True, slots=True, kw_only=True)
class MechanismSizes:
    """Every size that belongs to a mechanism: a model's configuration and a recipe have them all,
    each with the value here where it is not theirs. The order is that of config.json.
    `short_convolution`: see core.attention.short_convolution.

    `n_columns` are those of a Synthesizer's B, block_size − 1 unless told. `latent_stride`,
    `latent_residual` and `latent_norm`: see core.attention.perceiver.
    """

    n_columns: int | None = field(default=None, metadata=_of(*SYNTHESIZERS, least=1))
    n_latents: int = field(
        default=0, metadata=_of("perceiver", label="Latents", help="of a Perceiver; 0: none")
    )
    latent_stride: int = field(
        default=1,
        metadata=_of(
            "perceiver",
            label="Latent stride",
            help="tokens from one latent to the next; 1 is the course's form, which loses the "
            "tokens behind the last latent",
            least=1,
        ),
    )
    latent_residual: bool = field(default=True, metadata=_of("perceiver", choices=(True, False)))
    latent_norm: LatentNorm = field(
        default="both", metadata=_of("perceiver", choices=get_args(LatentNorm))
    )
    n_features: int = field(
        default=128, metadata=_of("favor", label="Features", help="of FAVOR+", least=1, most=4096)
    )
    n_terms: int = field(  # five terms of heads of 32 numbers would be 58,905 features
        default=3,
        metadata=_of("taylor", label="Taylor terms", help="of the Taylor series", least=1, most=4),
    )
    window: int = field(
        default=64,
        metadata=_of(
            "window",
            "based",
            label="Window",
            help="last tokens that are seen as they are; a text of so many is seen whole",
            least=1,
            most=4096,
        ),
    )
    n_sinks: int = field(
        default=4,
        metadata=_of(
            "window",
            label="Sinks",
            help="first tokens of the text that stay in sight beside the window",
            most=4096,
        ),
    )
    short_convolution: int = field(
        default=0,
        metadata=_of(
            *OF_PAIRS,
            label="Short convolution",
            help="tokens that each query, key and value is made of, its own and those right before "
            "it; 0: its own alone",
            most=16,
        ),
    )


SIZES: dict[str, Size] = {
    entry.name: Size(name=entry.name, default=entry.default, **entry.metadata)
    for entry in fields(MechanismSizes)
}


def settable_sizes() -> dict[str, Size]:
    """What a training may choose, by name."""
    return {name: size for name, size in SIZES.items() if size.is_settable}


def in_file_order(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values of a configuration or a recipe, the sizes right behind `attention`."""
    ordered: dict[str, Any] = {}
    for name, value in values.items():
        if name not in SIZES:
            ordered[name] = value
        if name == "attention":
            ordered |= {size: values[size] for size in SIZES if size in values}
    return ordered
