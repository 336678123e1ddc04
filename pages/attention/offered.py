"""Which kinds of picture a trace has, and why others are not offered."""

from core.inspection.traced import AttentionTrace
from pages.attention.view import ARCS, MOST_ARC_TOKENS, PARTS, SPACE, View


def views_lacking(trace: AttentionTrace, view: View) -> dict[str, str]:
    """Kinds of picture that are not offered, and why."""
    lacking: dict[str, str] = {}
    if trace.latent_positions:
        lacking[ARCS] = "No arcs: latents and tokens do not stand on one line."
    elif trace.n_source:
        lacking[ARCS] = "No arcs: source and target do not stand on one line."
    elif view.n_rows > MOST_ARC_TOKENS:
        lacking[ARCS] = (
            f"Arcs are drawn for up to {MOST_ARC_TOKENS} tokens; here are {view.n_rows}."
        )
    if trace.query is None or trace.key is None:
        lacking[PARTS] = _without_vectors(trace)
        lacking[SPACE] = "No 3D: without queries and keys there are no points."
    elif trace.is_linear:
        lacking[PARTS] = (
            "No q·k parts: linear attention multiplies features of queries and keys, φ(q)·φ(k)."
        )
    elif trace.has_effective_weights:
        lacking[PARTS] = "No q·k parts: effective weights are no softmax of queries and keys."
    return lacking


def _without_vectors(trace: AttentionTrace) -> str:
    if trace.is_pairless:
        return (
            "No q·k parts: a Synthesizer has no queries and keys, and its weights do not depend on "
            "pairs of tokens."
        )
    return "No q·k parts: this trace has no queries and keys."
