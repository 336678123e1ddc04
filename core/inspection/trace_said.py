"""What a trace of somebody else says beside its arrays, held to what it may say. No torch here.

Types and lengths first, then positions, layers and heads against each other: pages index with them.
"""

import json
from collections.abc import Iterable
from itertools import chain
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from core.catalogue import TRAINED
from core.inspection.heads import Head, head_name
from core.inspection.traced import Proof

MOST_TOKENS, MOST_LAYERS, MOST_HEADS = 8192, 512, 512  # heads: of one layer
MOST_LABEL, MOST_TEXT = 200, 200_000  # characters
Text = Annotated[str, Meta(max_length=MOST_TEXT)]
Label = Annotated[str, Meta(max_length=MOST_LABEL)]
Share = Annotated[float, Meta(ge=0, le=1)]
Count = Annotated[int, Meta(ge=0, le=2**31)]
HeadAt = tuple[Count, Count]
Positions = Annotated[tuple[Count, ...], Meta(max_length=MOST_TOKENS)]
Heads = Annotated[tuple[HeadAt, ...], Meta(max_length=MOST_LAYERS * MOST_HEADS)]
Flags = Annotated[tuple[bool, ...], Meta(max_length=MOST_TOKENS)]


class SaidStep(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A written token as `trace_to_dict` has it."""

    row: Count
    position: Count
    token: Label
    probability: Share
    next_best: Annotated[tuple[tuple[Label, Share], ...], Meta(max_length=100)]


class Said(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The keys of `trace_to_dict` beside the arrays."""

    question: Text
    answer: Text
    probability: Share
    tokens: Annotated[tuple[Label, ...], Meta(min_length=1, max_length=MOST_TOKENS)]
    word_starts: Flags
    name_positions: Positions
    latent_positions: Positions = ()
    mechanism: str = "softmax"
    kinds: Annotated[
        tuple[Literal["decoder", "encoder", "cross"], ...], Meta(max_length=MOST_LAYERS)
    ] = ()
    n_source: Count = 0
    n_kv_heads: Count = 0
    special: Flags = ()
    lacking: Annotated[tuple[Text, ...], Meta(max_length=100)] = ()
    teacher_forced: bool = False
    recorded: Heads = ()
    ablated: Heads = ()
    mode: Literal["zero", "mean"] = "zero"
    steps: Annotated[tuple[SaidStep, ...], Meta(max_length=MOST_TOKENS)]
    proof: Proof


def read_said(data: Any, n_layers: int, n_heads: int) -> Said:
    """What is said, of a model of so many layers of so many heads.

    Raises ValueError in one sentence for what is missing, unknown, too much or out of place.
    """
    refuse_half_characters(data)
    try:
        said = msgspec.convert(data, Said)
    except msgspec.ValidationError as error:
        raise ValueError(f"{error}".replace("\n", " ")[:300]) from None
    if said.mechanism not in TRAINED:
        raise ValueError(f"mechanism {said.mechanism!r:.60}; known are {', '.join(TRAINED)}")
    _refuse_odd_proof(said.proof)
    _refuse_lengths(said, n_layers)
    _refuse_places(said)
    _refuse_heads(said, n_layers, n_heads)
    for layer in range(n_layers):
        _refuse_rowless(said, said.kinds[layer] if said.kinds else "decoder", layer)
    return said


def refuse_half_characters(data: object) -> None:
    """JSON may hold half of a character (a lone surrogate), which no page could send."""
    try:
        json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("a text in it holds half a character (a lone surrogate)") from None


def _refuse_odd_proof(proof: Proof) -> None:
    for name in Proof.__slots__:
        value = getattr(proof, name)
        if isinstance(value, float) and not 0 <= value < float("inf"):
            raise ValueError(f"{name} of the proof is {value:g}; a difference is 0 or more")
    if len(proof.dtype) > MOST_LABEL:
        raise ValueError(f"dtype of the proof has {len(proof.dtype):,} characters")


def _refuse_lengths(said: Said, n_layers: int) -> None:
    n_tokens = len(said.tokens)
    for name, found, needed in (
        ("word_starts", len(said.word_starts), (n_tokens,)),
        ("special", len(said.special), (0, n_tokens)),
        ("kinds", len(said.kinds), (0, n_layers)),
    ):
        if found not in needed:
            raise ValueError(f"{name} has {found} entries; {needed[-1]} are needed")


def _refuse_places(said: Said) -> None:
    n_tokens = len(said.tokens)
    inside = chain(said.name_positions, said.latent_positions, (step.row for step in said.steps))
    if (furthest := max(inside, default=0)) >= n_tokens:
        raise ValueError(f"position {furthest}; the trace has {n_tokens} tokens, counted from 0")
    if (furthest := max((step.position for step in said.steps), default=0)) > n_tokens:
        raise ValueError(f"a token written at {furthest}; the last may stand at {n_tokens}")
    for name in ("name_positions", "latent_positions"):
        _refuse_unordered(name, getattr(said, name))
    if said.n_source >= n_tokens:
        raise ValueError(f"{said.n_source} tokens of a source; of {n_tokens} one must be left")
    if said.n_source and said.latent_positions:
        raise ValueError("latents and a source in one trace: no model here has both")
    if "cross" in said.kinds and not said.n_source:
        raise ValueError("cross-attention without a source (n_source is 0)")


def _refuse_heads(said: Said, n_layers: int, n_heads: int) -> None:
    for name in ("recorded", "ablated"):
        heads: tuple[Head, ...] = getattr(said, name)
        _refuse_unordered(name, heads)
        for layer, head in heads:
            if layer >= n_layers or head >= n_heads:
                raise ValueError(
                    f"{name}: {head_name(layer, head)}; layers are 0 to {n_layers - 1}, heads 0 to "
                    f"{n_heads - 1}"
                )
    if said.n_kv_heads and n_heads % said.n_kv_heads:
        raise ValueError(f"{said.n_kv_heads} heads of keys for {n_heads} of queries")


def _refuse_unordered(name: str, found: Iterable[Any]) -> None:
    listed = list(found)
    if listed != sorted(set(listed)):
        raise ValueError(f"{name} must be in order, each once")


def _refuse_rowless(said: Said, kind: str, layer: int) -> None:
    """Pages look for the last row of a layer at or before the one that writes."""
    writes = min((step.row for step in said.steps), default=len(said.tokens) - 1)
    first = said.latent_positions[0] if said.latent_positions else 0
    if said.n_source and kind != "encoder":
        first = said.n_source
    if writes < first:
        raise ValueError(f"row {writes} writes, before the first row of L{layer}, {first}")
