"""One row a mechanism: what it is, what it is called, what is lacking. No torch.

Whoever lists mechanisms reads core.catalogue.
"""

from dataclasses import dataclass
from typing import Literal, get_args

Family = Literal["exact", "feature map", "low rank", "sparse", "no pairs", "state"]
FAMILIES: tuple[Family, ...] = get_args(Family)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanism:
    """One way to attend. `label` stands in pictures, `meaning` is a hint for what is measured.

    `map_note` says beside effective weights what stands in the place of exp. `size` is a text with
    the size that a measurement has in it, as {sizes.n_features}. `reached` is the typical share of
    a processor's rate of matrix products. Where it is not trained, or not measured, the reason
    stands in `not_trained`, or `not_measured`; `no_step` says why it is not measured writing token
    by token. Rows of what is normalised sum to 1; `weights_note` says what effective weights of a
    state are.
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
    no_step: str = ""


ROWS = (
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
        no_step="its table of scores is made for a text of known length",
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
        no_step="it has no causal form",
    ),
    Mechanism(
        name="bigbird",
        label="BigBird",
        family="sparse",
        meaning="a window, a few global and a few random blocks",
        size="blocks of {sizes.block_size}",
        reached=0.15,
        not_trained="a model's texts are hardly longer than its blocks",
        no_step="its random blocks are drawn for a text of known length",
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
        no_step="it has no causal form",
    ),
    Mechanism(
        name="perceiver",
        label="Perceiver",
        family="low rank",
        meaning="down to m latents and up again",
        size="{sizes.n_latents} latents",
        reached=0.25,
        not_trained="a model is one by its n_latents, with softmax between them",
        no_step="its latents stand at places of a text of known length",
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
