"""One sentence about a head's row, with stated thresholds; "no clear pattern" is an answer."""

from collections.abc import Sequence

from core.catalogue import MECHANISMS
from core.inspection.traced import Array, AttentionTrace, Step

CLEAR_WEIGHT = 0.3
CLEAR_FACTOR = 2.0


def row_sentence(
    name: str,
    row: int,
    weights: Sequence[float] | Array,
    labels: Sequence[str],
    step: Step | None,
    *,
    latent: str = "",
    n_seen: int | None = None,
) -> str:
    """What a head does at one query row: its key, if one stands out.

    A key stands out with a weight of at least 0.3 and twice what uniform attention over the
    `n_seen` keys (row + 1 unless told) would give. Where a latent looks, `latent` is its name, and
    `step` the first piece whose row sees no later latent.
    """
    seen = [float(weight) for weight in weights[: row + 1]]
    best = max(range(len(seen)), key=seen.__getitem__)
    clear = seen[best] >= max(CLEAR_WEIGHT, CLEAR_FACTOR / (n_seen or row + 1))
    what = f"looks at “{labels[best]}”" if clear else "has no clear pattern"
    size = f"({'weight' if clear else 'largest weight'} {seen[best]:.2g})"
    if latent:
        before = f", the last seen when “{step.label}” is written," if step else ""
        return f"At latent {latent}{before} {name} {what} {size}"
    when = f"when it writes “{step.label}”" if step else f"at “{labels[row]}”"
    return f"{name} {what} {size} {when}" if clear else f"{name} {what} {when} {size}"


def strongest_head(trace: AttentionTrace) -> tuple[int, int]:
    """The head that brings most of the name to the first written token.

    Measured by contribution (weight · value · W_O), not by weight alone. Where no name is known,
    every token of the question counts. Of a Perceiver only the first layer looks at tokens: its
    head that brings most of them to the last latent that the first written token sees.
    """
    row, n_layers = trace.steps[0].row, 1 if trace.latent_positions else trace.n_layers
    positions = list(trace.name_positions) or list(range(row + 1))
    looking = trace.last_row(0, row)
    brought = trace.contribution[:n_layers, :, looking, positions].sum(-1)
    brought[trace.not_recorded[:n_layers]] = -1
    layer, head = divmod(int(brought.argmax()), trace.n_heads)
    return (layer, head) if (layer, head) in trace.heads else trace.heads[0]


def mechanism_note(trace: AttentionTrace) -> str:
    """What the maps of another mechanism than softmax over all tokens cannot mean; else nothing."""
    if trace.is_pairless:
        return _synthesizer_note(trace.n_layers)
    if trace.is_linear:
        return _linear_note(trace)
    if not trace.latent_positions:
        return ""
    return (
        f"A Perceiver: in L0 latents look at tokens, in L{trace.n_layers - 1} tokens at latents, "
        "between them latents at latents (learned vectors that take the tokens' place there), each "
        "from its position backwards. "
        f"{_reach(trace.latent_positions, trace.n_tokens)}"
    )


def _synthesizer_note(n_layers: int) -> str:
    """A row is written from the token's own vector, which is its own in the first layer only."""
    later = "; in later layers its vector has taken up earlier tokens, and its row depends on them"
    return (
        "A Synthesizer: these weights do not depend on pairs of tokens. Each token writes its own "
        f"row, in L0 whatever stands at the other positions{later if n_layers > 1 else ''}."
    )


def _linear_note(trace: AttentionTrace) -> str:
    smallest = float(trace.weights.min())
    sign = (
        "none of them is negative here"
        if smallest >= 0
        else f"some are negative, down to −{-smallest:.2g} (drawn like 0), so none is a share of 1"
    )
    feature_map = MECHANISMS[trace.mechanism].map_note
    return (
        f"Linear attention with {feature_map}: there is no softmax and no logit. Shown "
        "are effective weights, φ(q)·φ(k) divided by its sum over the keys. They replay the model, "
        f"and each row sums to 1; {sign}."
    )


def _reach(latents: Sequence[int], n_tokens: int) -> str:
    """What later tokens can and cannot be told about, in one sentence.

    Token t sees the latents at or before t, a latent the tokens at or before its own position: what
    stands between the two is lost. Two tokens behind the last latent are needed for that.
    """
    last, stride = latents[-1], latents[1] - latents[0] if len(latents) > 1 else 1
    ends = last + max(stride, 2) < n_tokens
    if stride <= 2:
        if ends:
            return (
                f"Tokens up to position {last} reach all later ones, those behind only themselves."
            )
        return "Every token reaches all later ones."
    lost = f"Every token misses up to {stride - 2} of those just before it"
    return f"{lost}; those behind position {last} reach only themselves." if ends else f"{lost}."
