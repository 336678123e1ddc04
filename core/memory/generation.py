"""What a model keeps while it writes: a cache that grows with the text, or a state that does not.

    keys and values   2 · L · heads · d numbers a layer (heads that hold them: fewer than the
                      queries' where these share, GQA)
    latents (MLA)     L · (rank + rotary) numbers a layer, from which keys and values are formed
    window            as keys and values, of the last w tokens and the first s
    state             heads · d_k · d_v numbers a layer, and a short convolution's last inputs

The shapes of named models are those of their public configurations (transformers'
`configuration_*.py` and the models' `config.json`), looked up in November 2026. Caches are counted
with 2 bytes a number (bfloat16), states with 4, as both are kept in those models.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from core.memory.names import Kind
from core.memory.spec import METHODS, MemorySpec, state_numbers

CACHE_BYTES, STATE_BYTES = 2, 4
LENGTHS = tuple(2**power for power in range(7, 21))
MOST_TOKENS = 2**24


@dataclass(frozen=True, slots=True, kw_only=True)
class Layers:
    """Some layers of a model that are alike: numbers kept for each token, of at most `most` tokens
    if there is a window, and numbers of a state that stays.
    """

    count: int
    per_token: int = 0
    most: int | None = None
    state: int = 0

    def n_bytes(self, n_tokens: int) -> int:
        """Of all these layers, for one text."""
        seen = n_tokens if self.most is None else min(n_tokens, self.most)
        return self.count * (CACHE_BYTES * seen * self.per_token + STATE_BYTES * self.state)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelShape:
    """A named model; `note` says what its layers are, `kind` what a token does to what most of
    them keep.
    """

    name: str
    note: str
    kind: Kind
    layers: tuple[Layers, ...]

    def n_bytes(self, n_tokens: int) -> int:
        """Of one text of so many tokens. Raises ValueError for lengths that are none."""
        if not 1 <= n_tokens <= MOST_TOKENS:
            raise ValueError(f"{n_tokens} tokens: 1 to {MOST_TOKENS:,} are possible")
        return sum(layers.n_bytes(n_tokens) for layers in self.layers)


def _full(count: int, heads: int, dim: int, most: int | None = None) -> Layers:
    return Layers(count=count, per_token=2 * heads * dim, most=most)


# A state of 32 heads of 128 x 128, and what a convolution of 4 over q, k and v has to keep.
_GATED_DELTA = Layers(count=36, state=32 * 128 * 128 + 3 * (2 * 16 * 128 + 32 * 128))
_KIMI_DELTA = Layers(count=20, state=32 * 128 * 128 + 3 * (3 * 32 * 128))

MODELS = (
    ModelShape(
        name="GPT-2 XL",
        note="48 layers of softmax, 25 heads of 64, each with keys of its own",
        kind="keeps all",
        layers=(_full(48, 25, 64),),
    ),
    ModelShape(
        name="Llama 3 8B",
        note="32 layers of softmax, 32 heads of 128 that share 8 heads of keys",
        kind="keeps all",
        layers=(_full(32, 8, 128),),
    ),
    ModelShape(
        name="Mistral 7B v0.1",
        note="the same shape, and a window of 4,096 tokens",
        kind="keeps the last",
        layers=(_full(32, 8, 128, 4096),),
    ),
    ModelShape(
        name="Qwen3-Next 80B-A3B",
        note="36 layers of the gated delta rule and 12 of softmax with 2 heads of keys of 256",
        kind="fades, takes away",
        layers=(_GATED_DELTA, _full(12, 2, 256)),
    ),
    ModelShape(
        name="Kimi Linear 48B-A3B",
        note="20 layers of a delta rule with a gate for each channel and 7 of latents (MLA)",
        kind="fades, takes away",
        layers=(_KIMI_DELTA, Layers(count=7, per_token=512 + 64)),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Bytes by name, one for each length."""

    lengths: tuple[int, ...]
    n_bytes: dict[str, tuple[int, ...]]


def kept_by_models(lengths: Sequence[int] = LENGTHS) -> Kept:
    """Of each named model, for one text."""
    return Kept(
        lengths=tuple(lengths),
        n_bytes={model.name: tuple(map(model.n_bytes, lengths)) for model in MODELS},
    )


def kept_by_methods(spec: MemorySpec, lengths: Sequence[int] = LENGTHS) -> Kept:
    """Of one head of each mechanism: caches of keys and values grow, states do not."""
    if not all(1 <= n <= MOST_TOKENS for n in lengths):
        raise ValueError(f"lengths from 1 to {MOST_TOKENS:,} tokens are possible")
    return Kept(
        lengths=tuple(lengths),
        n_bytes={method: tuple(head_bytes(method, spec, n) for n in lengths) for method in METHODS},
    )


def head_bytes(method: str, spec: MemorySpec, n_tokens: int) -> int:
    """What one head keeps of so many tokens: keys and values in 2 bytes a number, sums in 4."""
    cached = 2 * min(spec.window, n_tokens) * spec.dim if method in ("window", "based") else 0
    cached = 2 * n_tokens * spec.dim if method == "softmax" else cached
    return CACHE_BYTES * cached + STATE_BYTES * (state_numbers(method, spec, n_tokens) - cached)


def bytes_text(n_bytes: float) -> str:
    """Three digits and a unit: 16.4 kB."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.3g} {unit}"
    return f"{n_bytes:g} B"
