"""What there is of attention: a row a mechanism, and the sizes that belong to some. No torch.

Whatever lists mechanisms reads these rows. Beside its row a mechanism has its functions in
core.attention; what is trained has its block in core.models.blocks; what is measured has its cost
in core.theory.costs and its call in core.bench.methods. A row says why it lacks one of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

Family = Literal["exact", "feature map", "low rank", "sparse", "no pairs", "state"]
LatentNorm = Literal["both", "latents"]
FAMILIES: tuple[Family, ...] = get_args(Family)
MOST_POSITIONS = 2**14


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanism:
    """One way to attend. `label` stands in pictures, `meaning` is a hint for what is measured.

    `map_note` says beside effective weights what stands in the place of exp. `size` is a text with
    the size that a measurement has in it, as {sizes.n_features}. `reached` is the typical share of
    a processor's rate of matrix products. Where it is not trained, or not measured, the reason
    stands in `not_trained`, or `not_measured`. Rows of what is normalised sum to 1; `weights_note`
    says what effective weights of a state are.
    """

    name: str
    label: str
    family: Family
    meaning: str = ""
    map_note: str = ""
    weights_note: str = ""
    size: str = ""
    has_causal_form: bool = True
    only_causal: bool = False
    is_normalised: bool = True
    reached: float = 0.0
    not_trained: str = ""
    not_measured: str = ""


_ROWS = (
    Mechanism(
        name="softmax",
        label="softmax",
        family="exact",
        not_measured="measured in two forms, explicit and sdpa",
    ),
    Mechanism(
        name="explicit",
        label="explicit",
        family="exact",
        meaning="softmax with its L² weights formed",
        reached=0.4,
        not_trained="a form of softmax",
    ),
    Mechanism(
        name="sdpa",
        label="SDPA",
        family="exact",
        meaning=(
            "torch's fused kernel: the same result without keeping the weights; the fair baseline"
        ),
        reached=0.8,
        not_trained="a form of softmax",
    ),
    Mechanism(
        name="synthesizer",
        label="Synthesizer",
        family="no pairs",
        meaning="a table of scores that looks at no token",
        reached=0.15,
    ),
    Mechanism(
        name="dense-synthesizer",
        label="Synthesizer (per head)",
        family="no pairs",
        not_measured="measured as synthesizer, with its size `dense`",
    ),
    Mechanism(
        name="elu",
        label="elu+1",
        family="feature map",
        meaning="linear attention, φ(x) = elu(x) + 1",
        map_note="the map elu + 1",
        reached=0.25,
    ),
    Mechanism(
        name="favor",
        label="FAVOR+",
        family="feature map",
        meaning="linear attention with positive orthogonal random features",
        map_note="random features (FAVOR+)",
        size="{sizes.n_features} features",
        reached=0.2,
    ),
    Mechanism(
        name="taylor",
        label="Taylor",
        family="feature map",
        meaning="linear attention with a Taylor polynomial in the place of exp",
        map_note="a Taylor polynomial of exp",
        size="K = {sizes.n_terms}",
        reached=0.12,
    ),
    Mechanism(
        name="linformer",
        label="Linformer",
        family="low rank",
        meaning="keys and values mixed into k rows; not causal",
        size="k = {sizes.n_mixed}",
        has_causal_form=False,
        reached=0.4,
        not_trained="a model that writes must be causal",
    ),
    Mechanism(
        name="bigbird",
        label="BigBird",
        family="sparse",
        meaning="a window, a few global and a few random blocks",
        size="blocks of {sizes.block_size}",
        reached=0.15,
        not_trained="a model's texts are hardly longer than its blocks",
    ),
    Mechanism(
        name="nystrom",
        label="Nyström",
        family="low rank",
        meaning="softmax through landmarks, the means of stretches of the text; not causal",
        size="{sizes.n_landmarks} landmarks",
        has_causal_form=False,
        reached=0.2,
        not_trained="a model that writes must be causal",
    ),
    Mechanism(
        name="perceiver",
        label="Perceiver",
        family="low rank",
        meaning="down to m latents and up again",
        size="{sizes.n_latents} latents",
        reached=0.25,
        not_trained="a model is one by its n_latents, with softmax between them",
    ),
    Mechanism(
        name="delta",
        label="delta rule",
        family="state",
        meaning="a state in which a key's new value takes the place of its old one; causal only",
        weights_note=(
            "The delta rule: a key's new value takes the place of its old one in a state of fixed "
            "size. Shown is what each value is multiplied by, solved for"
        ),
        only_causal=True,
        is_normalised=False,
        reached=0.1,
    ),
    Mechanism(
        name="gated-delta",
        label="gated delta",
        family="state",
        meaning="the delta rule in a state that fades by a gate a token; causal only",
        weights_note=(
            "The gated delta rule: a state of fixed size fades, then a key's new value takes the "
            "place of its old one. Shown is what each value is multiplied by, solved for"
        ),
        only_causal=True,
        is_normalised=False,
        reached=0.08,
    ),
    Mechanism(
        name="gate",
        label="scalar gate",
        family="state",
        meaning="a state that fades by a gate a token (RetNet, Mamba-2); causal only",
        weights_note=(
            "A scalar gate: a state of fixed size fades by one factor a token. Shown is what each "
            "value is multiplied by, q·k / √d times all gates since"
        ),
        only_causal=True,
        is_normalised=False,
        reached=0.12,
    ),
    Mechanism(
        name="window",
        label="window",
        family="sparse",
        meaning="softmax over the last tokens and the first few, the sinks; causal only",
        size="{sizes.window} tokens, {sizes.n_sinks} sinks",
        only_causal=True,
        reached=0.15,
    ),
    Mechanism(
        name="based",
        label="Based",
        family="state",
        meaning="softmax in a window, a Taylor polynomial of it before; causal only",
        weights_note=(
            "Based: exp(q·k / √d) in a window, its Taylor polynomial with three terms before it, "
            "under one normaliser. Shown is what each value is multiplied by"
        ),
        size="a window of {sizes.window}",
        only_causal=True,
        reached=0.12,
    ),
)
MECHANISMS: dict[str, Mechanism] = {row.name: row for row in _ROWS}
TRAINED = tuple(row.name for row in _ROWS if not row.not_trained)
LINEAR = tuple(name for name in TRAINED if MECHANISMS[name].family == "feature map")
# Whose weights are what each value is multiplied by, and no softmax: they can be negative.
EFFECTIVE = tuple(n for n in TRAINED if MECHANISMS[n].family in ("feature map", "state"))
# Latents and tokens are not the same positions, which all of these need.
WITHOUT_LATENTS = tuple(n for n in TRAINED if n in EFFECTIVE or MECHANISMS[n].family == "sparse")
SYNTHESIZERS = tuple(name for name in TRAINED if MECHANISMS[name].family == "no pairs")
_DRAWN = sorted(_ROWS, key=lambda row: row.family == "no pairs")  # what looks at pairs comes first
METHODS = tuple(row.name for row in _DRAWN if not row.not_measured)
WITHOUT_CAUSAL_FORM = tuple(name for name in METHODS if not MECHANISMS[name].has_causal_form)
ONLY_CAUSAL = tuple(name for name in METHODS if MECHANISMS[name].only_causal)
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
