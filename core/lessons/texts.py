"""Which figures a text may hold: none that could be wrong without anybody noticing.

A figure is a claim in braces, a value of the step's address, or part of a name: that of a head
(L1·H5), or of a mechanism as the pages write it (elu+1).
"""

import re

from core.catalogue import METHODS, label
from core.lessons.lesson import NAMED, State

NAMES = re.compile(r"\bL\d+(·H\d+)?\b|\bH\d+\b")
FIGURE = re.compile(r"\d+(?:[.,]\d+)*")


def check_text(text: str, state: State | None = None) -> None:
    """Raises ValueError for a figure that is nothing of that, and for stray braces."""
    plain = NAMED.sub(" ", text)
    if "{" in plain or "}" in plain:
        raise ValueError(f"a brace without its other half: {text!r:.80}")
    allowed = figures_of(state or {})
    for found in FIGURE.findall(_without_names(plain)):
        if found.replace(",", "") not in allowed:
            known = ", ".join(sorted(allowed)) or "none"
            raise ValueError(
                f"the figure {found} is neither a claim in braces, nor a value of the address "
                f"({known}), nor in the name of a head or a mechanism: {text!r:.80}"
            )


def figures_of(state: State) -> set[str]:
    """All figures in the values of an address, without the commas between thousands."""
    values = (each for one in state.values() for each in ([one] if isinstance(one, str) else one))
    return {found.replace(",", "") for value in values for found in FIGURE.findall(value)}


def _without_names(text: str) -> str:
    for name in map(label, METHODS):
        text = text.replace(name, " ")
    return NAMES.sub(" ", text)
