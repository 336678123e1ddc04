"""From what was heard to what is asked: the name in a question, and whom we know that is nearest.

Names are compared as plain texts, by the fewest insertions, deletions and substitutions.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.speech.distances import levenshtein
from core.speech.sentences import QUESTION, plain

_BEFORE, _BEHIND = (re.escape(plain(part)) for part in QUESTION.split("{name}"))
_ASKED = re.compile(f"{_BEFORE} (.+) {_BEHIND}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearest:
    """Whom we know that is nearest to a name: all who are, in the order of the table, and how many
    edits of its letters and spaces away they are.
    """

    names: tuple[str, ...]
    edits: int


def asked_span(heard: str) -> tuple[int, int] | None:
    """Where the name stands in a plain text that asks about somebody; None in any other text."""
    match = _ASKED.fullmatch(heard)
    return None if match is None else match.span(1)


def spelled(name: str) -> str:
    """A heard name as a name is written: each word with a capital letter."""
    return " ".join(word[:1].upper() + word[1:] for word in name.split())


def nearest(heard: str, names: Sequence[str]) -> Nearest:
    """Of these names. Raises ValueError for none. Cost: about 0.1 s for 2,000 names."""
    if not names:
        raise ValueError("no name is known: at least one is needed")
    edits = levenshtein([(plain(name), plain(heard)) for name in names])
    least = int(edits.min())
    found = (name for name, n in zip(names, edits, strict=True) if n == least)
    return Nearest(names=tuple(found), edits=least)
