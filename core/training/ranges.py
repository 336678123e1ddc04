"""What the numbers of a recipe may be: a recipe may come from a file."""

from collections.abc import Mapping
from typing import NamedTuple, TypeGuard

MOST_STEPS = 100_000_000
MOST_MINUTES = 525_600.0
MOST_SEED = 2**31 - 1
MOST_PHASES = 64


class Range(NamedTuple):
    """From `least` to `most`; whole numbers only if both are, None only if it `may_lack`."""

    least: float
    most: float
    may_lack: bool = False


_PART = Range(0.0, 1e6)
_RATE = Range(0.0, 1e3)
PHASE = {
    "share": _PART,
    "shuffled_facts": _PART,
    "ordered_facts": _PART,
    "cued_facts": _PART,
    "salient_spans": _PART,
    "span_corruption": _PART,
    "questions": _PART,
    "rate": Range(0.0, 1e3, may_lack=True),
    "examples_per_batch": Range(1, 1024, may_lack=True),
}
# The sizes of the model are held to core.models.config.
RECIPE = {
    "n_pieces": Range(0, 200_000),
    "n_sentences": Range(1, 1000),
    "n_facts": Range(1, 10_000),
    "fact_characters": Range(1, 10_000_000, may_lack=True),
    "n_cue_words": Range(0, 10_000),
    "self_taught": Range(0.0, 1.0),
    "tokens_per_batch": Range(1, 2**17),
    "examples_per_batch": Range(1, 1024, may_lack=True),
    "matrix_rate": _RATE,
    "matrix_decay": _RATE,
    "adamw_rate": _RATE,
    "warmup_steps": Range(0, MOST_STEPS),
    "decay_share": Range(0.0, 1.0),
    "cosine_steps": Range(0, MOST_STEPS),
    "clip_norm": Range(0.0, 1e6),
    "n_steps": Range(1, MOST_STEPS, may_lack=True),
    "minutes": Range(0.0, MOST_MINUTES),
    "n_snapshots": Range(0, 64),
}
ASKED = {
    "seed": Range(0, MOST_SEED),
    "steps": Range(1, MOST_STEPS, may_lack=True),
    "minutes": Range(0.0, MOST_MINUTES, may_lack=True),
}
RUNNING = {"seed": Range(0, MOST_SEED), "n_steps": Range(1, MOST_STEPS)}


def refuse_outside(values: Mapping[str, object], ranges: Mapping[str, Range]) -> None:
    """Raise ValueError for the first value that is none of its range: name, value, range."""
    for name, (least, most, may_lack) in ranges.items():
        value = values[name]
        if value is None and may_lack:
            continue
        whole = isinstance(most, int)
        if not _is_number(value, whole=whole) or not least <= value <= most:
            kind = "whole numbers" if whole else "numbers"
            raise ValueError(
                f"{name} is {value!r:.40}; {kind} from {least:,} to {most:,} are allowed"
            )


def _is_number(value: object, *, whole: bool) -> TypeGuard[int | float]:
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (isinstance(value, float) and not whole)
