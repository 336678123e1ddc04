"""A claim with its number, and the range in which a number is accepted."""

from dataclasses import KW_ONLY, dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Relation = Literal["=", "→", "≥", ">"]
Verdict = Literal["holds", "near", "far", "fails"]
ROUNDING, NEAR = 1e-9, 0.01


@dataclass(frozen=True, slots=True)
class Check:
    """One claim (Markdown with $…$), the number found for it and the number claimed.

    The relation → is a limit in β, never an equation; `limit` is where the value really goes, the
    claimed number if nothing else is said. Errors are compared with `scale`.
    """

    claim: str
    value: float
    claimed: float
    _: KW_ONLY
    relation: Relation = "="
    scale: float = 1.0
    limit: float | None = None

    @property
    def verdict(self) -> Verdict:
        """Equations and inequalities hold up to rounding; a true limit is near within 1 %."""
        off, allowed = self.value - self.claimed, ROUNDING * self.scale
        if self.relation == "→":
            if self.limit is not None and abs(self.limit - self.claimed) > allowed:
                return "fails"
            return "near" if abs(off) <= NEAR * self.scale else "far"
        met = {"=": abs(off) <= allowed, "≥": off >= -allowed, ">": off > allowed}
        return "holds" if met[self.relation] else "fails"

    @property
    def holds(self) -> bool:
        """Whether the claim is met here: a limit only if it is near."""
        return self.verdict in ("holds", "near")

    @property
    def error(self) -> float:
        """How far off the claim is; 0 for an inequality that holds."""
        if self.relation in ("≥", ">") and self.holds:
            return 0.0
        return abs(self.value - self.claimed)


def distance(found: Array, wanted: Array) -> float:
    """‖found − wanted‖, the number of most checks."""
    return float(np.linalg.norm(found - wanted))


def check_range(name: str, value: float, least: float, most: float) -> None:
    """Refuse what is no number from `least` to `most`; NaN is none."""
    if not least <= value <= most:
        raise ValueError(f"{name} = {value:g}: a number from {least:g} to {most:g} is needed")
