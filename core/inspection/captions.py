"""One sentence about a head's row, with stated thresholds; "no clear pattern" is an answer."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.catalogue import MECHANISMS
from core.inspection.sinks import sinks_apart
from core.inspection.traced import Array, AttentionTrace, Step, contribution

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
    seen: Sequence[int] | None = None,
    sink: float | None = None,
    forced: bool = False,
) -> str:
    """What a head does at one query row: its key, if one stands out.

    A key stands out with a weight of at least 0.3 and twice what uniform attention over the keys
    that are `seen` (0 to row unless told) would give. Where a latent looks, `latent` is its name,
    and `step` the first piece whose row sees no later latent. Where the weights are those without
    the first token, `sink` is the share that was left out, which is said. `forced` steps are tokens
    that were given, and not written.
    """
    keys = list(range(row + 1) if seen is None else seen)
    best = max(keys, key=lambda key: float(weights[key]), default=row)
    top = float(weights[best]) if keys else 0.0
    rests = sink is not None and not any(float(weights[key]) for key in keys)
    clear = top >= max(CLEAR_WEIGHT, CLEAR_FACTOR / max(len(keys), 1))
    what = f"looks at “{labels[best]}”" if clear else "has no clear pattern"
    size = f"({'weight' if clear else 'largest weight'} {top:.2g}{_apart(sink)})"
    if rests:
        clear, what = True, "looks at nothing but the first token"
        size = f"(sink share {sink:.2g})"
    happens = "before the given" if forced else "when it writes"
    if latent:
        before = f", the last seen when “{step.label}” is written," if step else ""
        return f"At latent {latent}{before} {name} {what} {size}"
    when = f"{happens} “{step.label}”" if step else f"at “{labels[row]}”"
    return f"{name} {what} {size} {when}" if clear else f"{name} {what} {when} {size}"


def _apart(sink: float | None) -> str:
    return "" if sink is None else f" without the first token, which has {sink:.2g}"


def strongest_head(trace: AttentionTrace, layers: Sequence[int] | None = None) -> tuple[int, int]:
    """The head, of all layers or of some, that brings most of the name to the first written token.

    Measured by contribution (weight · value · W_O), not by weight alone. Where no name is known,
    every token of the question counts, without the first where sinks are set apart. Where nothing
    is written, every row does. Of a Perceiver only the first layer looks at tokens: its head that
    brings most of them to the last latent that the first written token sees. Cost: one row of each
    head; where all rows count one pass over the weights, layer by layer.
    """
    asked = range(trace.n_layers) if layers is None else layers
    looking = asked[:1] if trace.latent_positions else asked
    brought = np.stack([_brought(trace, layer) for layer in looking])
    brought[trace.not_recorded[list(looking)]] = -2
    place, head = divmod(int(brought.argmax()), trace.n_heads)
    found = (looking[place], head)
    return found if found in trace.heads else next(at for at in trace.heads if at[0] in asked)


def _brought(trace: AttentionTrace, layer: int) -> NDArray[np.float32]:
    """(n_heads,): what the heads of a layer bring, −1 where it neither looks from the row that
    writes nor at what counts.
    """
    rows, columns = trace.rows(layer), trace.columns(layer)
    kind, weights = trace.kind(layer), trace.weights[layer]
    if trace.steps:
        row = trace.steps[0].row
        looking = max((r for r in rows if r <= row), default=None) if kind == "decoder" else row
        if looking is None or looking not in rows:
            return np.full(trace.n_heads, -1, dtype=np.float32)
        taken = np.abs(weights[:, looking])
        counted = range(row + 1) if kind == "decoder" else columns
    else:
        taken, counted = np.abs(weights).sum(1), columns
    if trace.name_positions:
        counted = trace.name_positions
    elif sinks_apart(trace):
        counted = [position for position in counted if position != columns[0]]
    keys = {*columns}
    positions = [position for position in counted if position in keys]
    return contribution(taken[:, positions], trace.value_norm[layer][:, positions]).sum(-1)


def mechanism_note(trace: AttentionTrace) -> str:
    """What maps of anything but a decoder's softmax over its past cannot mean; else nothing."""
    if trace.is_pairless:
        return _synthesizer_note(trace.n_layers)
    if trace.is_linear:
        return _linear_note(trace)
    if trace.has_effective_weights:
        return _state_note(trace)
    if trace.mechanism == "window":
        return _window_note(trace)
    if not trace.latent_positions:
        return " ".join(filter(None, (_kinds_note(trace), _sink_note(trace))))
    return (
        f"A Perceiver: in L0 latents look at tokens, in L{trace.n_layers - 1} tokens at latents, "
        "between them latents at latents (learned vectors that take the tokens' place there), each "
        "from its position backwards. "
        f"{_reach(trace.latent_positions, trace.n_tokens)}"
    )


def _kinds_note(trace: AttentionTrace) -> str:
    """Who looks at whom, where not all layers are a decoder's."""
    if not trace.layers_of("encoder"):
        return ""
    if not trace.n_source:
        return "An encoder: every token may look both ways, at earlier and at later ones."
    before = "the target before them" if trace.teacher_forced else "what is written"
    return (
        f"An encoder reads the source both ways; in the decoder tokens look back at {before} "
        "and, by cross-attention, at all of the source."
    )


def _sink_note(trace: AttentionTrace) -> str:
    """How much of a row is no token's."""
    if trace.sink is None:
        return ""
    share = np.mean(
        [trace.sink[layer][:, list(trace.rows(layer))].mean() for layer in range(trace.n_layers)]
    )
    return (
        f"Learned sinks take {100 * float(share):.0f} % of the weight: rows of keys sum to less "
        "than 1, and what is lacking belongs to no token."
    )


def _synthesizer_note(n_layers: int) -> str:
    """A row is written from the token's own vector, which is its own in the first layer only."""
    later = "; in later layers its vector has taken up earlier tokens, and its row depends on them"
    return (
        "A Synthesizer: these weights do not depend on pairs of tokens. Each token writes its own "
        f"row, in L0 whatever stands at the other positions{later if n_layers > 1 else ''}."
    )


def _linear_note(trace: AttentionTrace) -> str:
    feature_map = MECHANISMS[trace.mechanism].map_note
    return (
        f"Linear attention with {feature_map}: there is no softmax and no logit. Shown "
        "are effective weights, φ(q)·φ(k) divided by its sum over the keys. They replay the model, "
        f"and each row sums to 1; {_sign(trace)}."
    )


def _state_note(trace: AttentionTrace) -> str:
    sums = "each row sums to 1" if trace.is_normalised else "rows need not sum to 1"
    return (
        f"{MECHANISMS[trace.mechanism].weights_note}. There is no softmax; these effective weights "
        f"replay the model, and {sums}; {_sign(trace)}."
    )


def _window_note(trace: AttentionTrace) -> str:
    past = np.tri(trace.n_tokens, dtype=bool)
    if bool(trace.visible[:, past].all()):
        return "A window with sinks: softmax over it, and all of this text is inside."
    return (
        "A window with sinks: softmax over the last tokens and the first few; what stands between "
        "the two is as unseen as the future."
    )


def _sign(trace: AttentionTrace) -> str:
    smallest = float(trace.weights.min())
    if smallest >= 0:
        return "none of them is negative here"
    return f"some are negative, down to −{-smallest:.2g} (drawn like 0), so none is a share of 1"


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
