"""A lesson: steps, each with its text, the page it opens, what to predict and what is claimed.

Plain values, free of torch, so that a page can list lessons at once.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

# Address of a page: "" is home.
PAGES = (
    "",
    "attention",
    "heads",
    "knowledge",
    "listen",
    "compare",
    "look",
    "monte_carlo",
    "attention_by_hand",
    "memory",
    "runtime",
    "training",
    "report_card",
)
# A claim's unit, and what the number of its call is multiplied by: calls give shares, seconds and
# bytes.
UNITS = {
    "": 1.0,
    "%": 100.0,
    "points": 100.0,  # by which two shares differ
    "ms": 1e3,
    "s": 1.0,
    "min": 1 / 60,
    "MB": 1e-6,
    "GB": 1e-9,
    "tokens": 1.0,
    "pairs": 1.0,
}
NAMED = re.compile(r"\{([^{}]*)\}")
State = Mapping[str, str | tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A number that a step states, and the call that gives it: |computed − stated| ≤ tolerance.

    Stated and tolerance are in `unit`. `call` is a row of core.lessons.calls, `with_` what it is
    told.
    """

    name: str
    text: str
    stated: int | float
    tolerance: float
    unit: str = ""
    call: str
    with_: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def figure(self) -> str:
        """The stated number with its unit: "92.1 %"."""
        return number_text(self.stated, self.unit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What is asked before a page is shown: one of `choices`, or a number from `low` to `high`.

    `right` is one of the choices, or the name of the claim that is the number.
    """

    ask: str
    choices: tuple[str, ...] = ()
    low: int | float | None = None
    high: int | float | None = None
    unit: str = ""
    right: str

    @property
    def of_number(self) -> bool:
        """Whether a number is asked for."""
        return not self.choices


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One page with its state (keys and values of its address), and what is said about it.

    `after` is told once the prediction is made. `hide` names controls, "text", "sidebar", "header".
    """

    title: str
    text: str
    after: str = ""
    page: str
    state: State = field(default_factory=dict[str, str | tuple[str, ...]])
    hide: tuple[str, ...] = ()
    predict: Prediction | None = None
    claims: tuple[Claim, ...] = ()

    def claim(self, name: str) -> Claim:
        """One of the step's claims. Raises ValueError for any other name."""
        for claim in self.claims:
            if claim.name == name:
                return claim
        known = ", ".join(claim.name for claim in self.claims) or "none"
        raise ValueError(f"no claim is called {name!r}; claims of this step: {known}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """Steps in their order; `order` is the lesson's own place among the others."""

    name: str
    title: str
    minutes: int
    order: int
    learns: str
    steps: tuple[Step, ...]

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Those of all steps."""
        return tuple(claim for step in self.steps for claim in step.claims)


def said(step: Step, text: str) -> str:
    """A text of the step, each {name} replaced by the number that the claim of this name states."""
    return NAMED.sub(lambda found: step.claim(found[1]).figure, text)


def right_answer(step: Step, predict: Prediction) -> str:
    """What should have been predicted, as it is shown."""
    return step.claim(predict.right).figure if predict.of_number else said(step, predict.right)


def number_text(number: float, unit: str = "") -> str:
    """A number as it is written in a lesson, thousands apart, with its unit behind it."""
    text = f"{number:,}" if isinstance(number, int) else f"{Decimal(repr(number)):,f}"
    return f"{text} {unit}".strip().replace("-", "−")
