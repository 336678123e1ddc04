"""Which figures a text may hold: none that could be wrong without anybody noticing.

A figure is a claim in braces, a value of the step's address, or part of a head's name.
"""

import re

from core.lessons.lesson import NAMED, State

HEAD = re.compile(r"\bL\d+(·H\d+)?\b|\bH\d+\b")
FIGURE = re.compile(r"\d+(?:[.,]\d+)*")


def check_text(text: str, state: State | None = None) -> None:
    """Raises ValueError for a figure that is nothing of that, and for stray braces."""
    plain = NAMED.sub(" ", text)
    if "{" in plain or "}" in plain:
        raise ValueError(f"a brace without its other half: {text!r:.80}")
    allowed = figures_of(state or {})
    for found in FIGURE.findall(HEAD.sub(" ", plain)):
        if found.replace(",", "") not in allowed:
            known = ", ".join(sorted(allowed)) or "none"
            raise ValueError(
                f"the figure {found} is neither a claim in braces, nor a value of the address "
                f"({known}), nor in the name of a head: {text!r:.80}"
            )


def figures_of(state: State) -> set[str]:
    """All figures in the values of an address, without the commas between thousands."""
    values = (each for one in state.values() for each in ([one] if isinstance(one, str) else one))
    return {found.replace(",", "") for value in values for found in FIGURE.findall(value)}
