"""The mechanisms as calls on (query, key, value), each with what it needs made beforehand.

What a model would hold anyway (projections, tables, masks) is made outside the timer, from the
spec's seed. A random Synthesizer's table has L² numbers a head.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from core.attention import (
    based,
    bigbird,
    delta,
    favor,
    gate,
    gated_delta,
    linear,
    linformer,
    nystrom,
    perceiver,
    sdpa,
    softmax,
    synthesizer,
    taylor,
    window,
)
from core.attention.feature_maps import FeatureMap, elu
from core.attention.masks import hidden_pairs
from core.bench.spec import BenchSpec
from core.catalogue import ONLY_CAUSAL

Call = Callable[[Tensor, Tensor, Tensor], Tensor]
Maker = Callable[[BenchSpec, int, torch.Generator], Call]
OPEN = 3.0  # what gates are shifted by: half of what is written has faded after some 15 tokens


def build(spec: BenchSpec, method: str, seq_len: int) -> Call:
    """The method at this length; raises NoCausalFormError when it is called where it has none.

    Raises ValueError for a form that is not causal of what is read in order.
    """
    if not spec.causal and method in ONLY_CAUSAL:
        raise ValueError(f"{method} has only a causal form: a state is read in the tokens' order")
    return MAKERS[method](spec, seq_len, generator_of(spec))


def generator_of(spec: BenchSpec) -> torch.Generator:
    """Of what a method is made with, another than that of the inputs."""
    return torch.Generator().manual_seed(spec.seed + 1)


def inputs(spec: BenchSpec, seq_len: int) -> tuple[Tensor, Tensor, Tensor]:
    """Query, key and value N(0, 1), the same for all methods at a length."""
    generator = torch.Generator().manual_seed(spec.seed)
    shape = (spec.batch, spec.n_heads, seq_len, spec.head_dim)
    drawn = [torch.randn(shape, generator=generator) for _ in range(3)]
    query, key, value = (x.to(**_placed(spec)) for x in drawn)
    return query, key, value


def once(spec: BenchSpec, call: Call, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """One pass; backwards the value is the gradient that comes in, which is as good as any."""
    if not spec.backward:
        with torch.no_grad():
            return call(query, key, value)
    leaves = [x.detach().requires_grad_() for x in (query, key, value)]
    output = call(leaves[0], leaves[1], leaves[2])
    output.backward(value)
    return output.detach()


def _explicit(spec: BenchSpec, seq_len: int, _: torch.Generator) -> Call:
    like = torch.empty(1, 1, seq_len, 1, device=spec.device)
    hidden = hidden_pairs(like, like, causal=spec.causal)

    def call(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        return softmax.attend(query, key, value, hidden=hidden)[0]

    return call


def feature_map(spec: BenchSpec, method: str, generator: torch.Generator) -> FeatureMap:
    """Of a method that has one; FAVOR+'s is drawn."""
    sizes = spec.sizes
    if method == "taylor":
        return taylor.feature_map(spec.head_dim, sizes.n_terms, symmetric=sizes.symmetric)
    if method == "favor":
        rows = favor.draw_projection(sizes.n_features, spec.head_dim, generator=generator)
        return favor.feature_map(_single(rows, spec))
    return elu


def rates(
    spec: BenchSpec, method: str, seq_len: int, generator: torch.Generator
) -> dict[str, Tensor]:
    """What a state is written and fades by (B, H, L): β a sigmoid, log gates near 0."""
    found: dict[str, Tensor] = {}
    if method in ("delta", "gated-delta"):
        found["beta"] = _drawn(spec, seq_len, generator).sigmoid()
    if method in ("gate", "gated-delta"):
        found["log_gate"] = logsigmoid(_drawn(spec, seq_len, generator) + OPEN)
    return found


def _linear(method: str) -> Maker:
    def make(spec: BenchSpec, _: int, generator: torch.Generator) -> Call:
        chosen = feature_map(spec, method, generator)
        options = {"causal": spec.causal, "chunk": spec.sizes.chunk}
        return partial(linear.attend, feature_map=chosen, **options)

    return make


def _linformer(spec: BenchSpec, seq_len: int, generator: torch.Generator) -> Call:
    mix = [
        _single(linformer.draw_projection(spec.sizes.n_mixed, seq_len, generator=generator), spec)
        for _ in range(2)
    ]
    return partial(linformer.attend, mix_keys=mix[0], mix_values=mix[1], causal=spec.causal)


def _bigbird(spec: BenchSpec, seq_len: int, generator: torch.Generator) -> Call:
    sizes = spec.sizes
    blocks = bigbird.draw_blocks(
        -(-seq_len // sizes.block_size),
        n_global=sizes.n_global,
        n_window=sizes.n_window,
        n_random=sizes.n_random,
        causal=spec.causal,
        generator=generator,
    )
    return partial(
        bigbird.attend,
        blocks=blocks.to(spec.device),
        block_size=sizes.block_size,
        n_global=sizes.n_global,
        causal=spec.causal,
    )


def _nystrom(spec: BenchSpec, _: int, __: torch.Generator) -> Call:
    sizes = spec.sizes
    return partial(
        nystrom.attend,
        n_landmarks=sizes.n_landmarks,
        n_iterations=sizes.n_iterations,
        causal=spec.causal,
    )


def _perceiver(spec: BenchSpec, seq_len: int, generator: torch.Generator) -> Call:
    """Causal, the latents stand at equal distances over the whole text."""
    n_latents = min(spec.sizes.n_latents, seq_len)
    basis = torch.randn(spec.n_heads, n_latents, spec.head_dim, generator=generator)
    stride = max(1, seq_len // n_latents)
    return partial(
        perceiver.attend, basis=basis.to(**_placed(spec)), causal=spec.causal, stride=stride
    )


def _synthesizer(spec: BenchSpec, seq_len: int, generator: torch.Generator) -> Call:
    """Scores that are a table, or that each token writes from its own ReLU(q) if dense."""
    like = torch.empty(1, 1, seq_len, 1, device=spec.device)
    hidden = hidden_pairs(like, like, causal=spec.causal)
    rows = spec.head_dim if spec.sizes.dense else seq_len
    table = torch.randn(spec.n_heads, rows, seq_len, generator=generator).to(**_placed(spec))
    offset = table.new_zeros(1)

    def dense(query: Tensor, _: Tensor, value: Tensor) -> Tensor:
        scores = synthesizer.written(query.relu(), table, offset.expand(seq_len), seq_len)
        return synthesizer.attend(scores, value, hidden=hidden)

    def random(_: Tensor, __: Tensor, value: Tensor) -> Tensor:
        scores = synthesizer.random_scores(table, seq_len, seq_len)
        return synthesizer.attend(scores, value, hidden=hidden)

    return dense if spec.sizes.dense else random


def _written(method: str, attend: Callable[..., Tensor]) -> Maker:
    """A state that is written and fades."""

    def make(spec: BenchSpec, seq_len: int, generator: torch.Generator) -> Call:
        return partial(attend, **rates(spec, method, seq_len, generator), chunk=spec.sizes.chunk)

    return make


def _window(spec: BenchSpec, _: int, __: torch.Generator) -> Call:
    return partial(window.attend, window=spec.sizes.window, n_sinks=spec.sizes.n_sinks)


def _based(spec: BenchSpec, _: int, __: torch.Generator) -> Call:
    features = based.feature_map(spec.head_dim)
    return partial(based.attend, features=features, window=spec.sizes.window)


def _drawn(spec: BenchSpec, seq_len: int, generator: torch.Generator) -> Tensor:
    """A number N(0, 1) a token and head."""
    drawn = torch.randn(spec.batch, spec.n_heads, seq_len, generator=generator)
    return drawn.to(**_placed(spec))


def _placed(spec: BenchSpec) -> dict[str, Any]:
    return {"device": spec.device, "dtype": getattr(torch, spec.dtype)}


def _single(x: Tensor, spec: BenchSpec) -> Tensor:
    """What maps compute with: float32, whatever the inputs are."""
    return x.float().to(spec.device)  # not every device knows float64


MAKERS: dict[str, Maker] = {
    "explicit": _explicit,
    "sdpa": lambda spec, _, __: partial(sdpa.attend_all, causal=spec.causal),
    "elu": _linear("elu"),
    "favor": _linear("favor"),
    "taylor": _linear("taylor"),
    "linformer": _linformer,
    "bigbird": _bigbird,
    "nystrom": _nystrom,
    "perceiver": _perceiver,
    "synthesizer": _synthesizer,
    "delta": _written("delta", delta.attend),
    "gated-delta": _written("gated-delta", gated_delta.attend),
    "gate": _written("gate", gate.attend),
    "window": _window,
    "based": _based,
}
