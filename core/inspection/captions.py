"""One sentence about a head's row, with stated thresholds; "no clear pattern" is an answer."""

import re
from collections.abc import Sequence

from core.inspection.record import Array, AttentionTrace, Step

CLEAR_WEIGHT = 0.3
CLEAR_FACTOR = 2.0


def head_name(layer: int, head: int) -> str:
    """L0·H3, both zero-based."""
    return f"L{layer}·H{head}"


def parse_head(name: str) -> tuple[int, int]:
    """The inverse of `head_name`. Raises ValueError."""
    match = re.fullmatch("L([0-9]+)·H([0-9]+)", name)
    if not match:
        raise ValueError(f"{name!r} is not a head such as L0·H3")
    return int(match[1]), int(match[2])


def row_sentence(
    name: str,
    row: int,
    weights: Sequence[float] | Array,
    labels: Sequence[str],
    step: Step | None,
) -> str:
    """What a head does at one query row: its key, if one stands out.

    A key stands out with a weight of at least 0.3 and twice what uniform attention would give.
    """
    when = f"when it writes “{step.label}”" if step else f"at “{labels[row]}”"
    seen = [float(weight) for weight in weights[: row + 1]]
    best = max(range(len(seen)), key=seen.__getitem__)
    if seen[best] < max(CLEAR_WEIGHT, CLEAR_FACTOR / (row + 1)):
        return f"{name} has no clear pattern {when} (largest weight {seen[best]:.2g})"
    return f"{name} looks at “{labels[best]}” (weight {seen[best]:.2g}) {when}"


def strongest_head(trace: AttentionTrace) -> tuple[int, int]:
    """The head that brings most of the name to the first written token.

    Measured by contribution (weight · value · W_O), not by weight alone. Where no name is known,
    every token of the question counts.
    """
    row = trace.steps[0].row
    positions = list(trace.name_positions) or list(range(row + 1))
    brought = trace.contribution[:, :, row, positions].sum(-1)
    layer, head = divmod(int(brought.argmax()), trace.n_heads)
    return layer, head


def mechanism_note(trace: AttentionTrace) -> str:
    """What the maps of another mechanism than softmax over all tokens cannot mean; else nothing."""
    if trace.query is None:
        return (
            "A Synthesizer: these weights do not depend on pairs of tokens. Each token writes its "
            "own row, whatever stands at the other positions."
        )
    if not trace.latent_positions:
        return ""
    last = trace.latent_positions[-1]
    lost = (
        f" Tokens behind position {last} reach only themselves."
        if last < trace.n_tokens - 1
        else ""
    )
    return (
        "A Perceiver: in the first layer latents look at tokens, in the last tokens look at "
        f"latents, between them latents at latents, each at its position.{lost}"
    )
