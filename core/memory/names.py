"""What mechanisms are called and what a pair does to what they keep, in one place.

A row of core.catalogue is taken before what stands here: LABELS names what it does not know.
"""

from typing import Literal, NamedTuple, get_args

from core import catalogue
from core.memory.spec import LINEAR

LABELS = {
    LINEAR: "linear q·k",
    "gate": "scalar gate",
    "delta": "delta rule",
    "gated-delta": "gated delta",
    "window": "window",
    "based": "Based",
}
Kind = Literal[
    "keeps all",
    "adds up",
    "keeps the last",
    "adds up, keeps the last",
    "fades",
    "takes away",
    "fades, takes away",
]
KINDS: tuple[Kind, ...] = get_args(Kind)


class Form(NamedTuple):
    """What a pair does to what is kept: in a word, as a formula, and what is kept."""

    kind: Kind
    formula: str
    keeps: str


FORMS = {
    "softmax": Form("keeps all", "cache ← cache, (k, v)", "2 L d"),
    "window": Form("keeps the last", "cache ← the last w of cache, (k, v)", "2 w d"),
    "based": Form(
        "adds up, keeps the last",
        "S ← S + φ(k) vᵀ, φ of Taylor; and the last w pairs",
        "(d+1)²(d+2)/2 + 2 w d",
    ),
    "taylor": Form("adds up", "S ← S + φ(k) vᵀ, φ·φ = 1 + x + x²/2", "(d+1)²(d+2)/2"),
    LINEAR: Form("adds up", "S ← S + k vᵀ", "d²"),
    "elu": Form("adds up", "S ← S + φ(k) vᵀ, φ = elu + 1", "d (d+1)"),
    "favor": Form("adds up", "S ← S + φ(k) vᵀ, φ random", "m (d+1)"),
    "gate": Form("fades", "S ← γ S + k vᵀ", "d²"),
    "delta": Form("takes away", "S ← S + k (v − Sᵀ k)ᵀ", "d²"),
    "gated-delta": Form("fades, takes away", "S ← γ S + k (v − γ Sᵀ k)ᵀ", "d²"),
}


def label(method: str) -> str:
    """As it stands in pictures."""
    if method in catalogue.MECHANISMS:
        return catalogue.label(method)
    return LABELS.get(method, method)
