"""Linear attention: a feature map φ in the place of the exponential, so that sums come first.

    output_i = φ(q_i) Σ_j φ(k_j) v_jᵀ / φ(q_i) Σ_j φ(k_j)       (Katharopoulos et al. 2020, eq. 5)

Causal, the sums run over j ≤ i: in chunks over a whole text, or one token at a time with a state
of r·d numbers that does not grow (`step`). Maps: core.attention.feature_maps, favor, taylor.

Shapes: query, key, value (batch, head, position, head_dim); padding (batch, position), True where
a key is padding. Cost: 4·L·r·d operations and no more than a few chunks of features; the causal
form 2·L·C·(r + d) more, with chunks of C tokens.

There is no softmax: `weights` are what each value is multiplied by, and maps that can be negative
give negative ones. A row that sees no key, or whose normaliser is 0, gets 0
(core.attention.masks.blind_rows names the former).
"""

from typing import NamedTuple, cast

import torch
from torch import Tensor

from core.attention.feature_maps import NOTHING, FeatureMap, of_keys
from core.attention.linear_causal import Causal, fitting
from core.attention.linear_parts import inverted, with_ones
from core.attention.linear_whole import Whole
from core.attention.masks import check_padding
from core.attention.softmax import widened

MOST = 100.0  # of two rows' scales; with any number of features it stays within float32


class State(NamedTuple):
    """All that later tokens need: Σ 2^(s_j − M) φ(k_j) [v_j, 1]ᵀ, and M.

    sums (B, H, r, d + 1), largest (B, H, 1, 1); s_j is the scale of key j.
    """

    sums: Tensor
    largest: Tensor


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    feature_map: FeatureMap,
    *,
    causal: bool = False,
    padding: Tensor | None = None,
    chunk: int | None = None,
) -> Tensor:
    """Output (B, H, L_q, d) in the value's dtype; `chunk` is used by the causal form only, which
    chooses one that fits if there is none.
    """
    if causal:
        first = start(key, value, feature_map)
        return resume(query, key, value, feature_map, first, padding=padding, chunk=chunk)[0]
    n_features = count_features(key, feature_map)
    hidden = _column(padding, key)
    return cast("Tensor", Whole.apply(query, key, value, hidden, feature_map, n_features))


def resume(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    feature_map: FeatureMap,
    state: State,
    *,
    padding: Tensor | None = None,
    chunk: int | None = None,
) -> tuple[Tensor, State]:
    """Causal output of tokens that follow those in `state`, and the state after them."""
    if query.shape[2] != key.shape[2]:
        raise ValueError(
            f"{query.shape[2]} queries and {key.shape[2]} keys: causal linear attention needs "
            "them to be the same tokens"
        )
    chunk = fitting(state.sums.shape[-2], value.shape[-1]) if chunk is None else chunk
    if chunk < 1:
        raise ValueError(f"chunks of {chunk} tokens; at least 1 is needed")
    sums, largest = state.sums.flatten(0, 1), state.largest.view(-1, 1)
    hidden = _column(padding, key)
    output, sums, largest = cast(
        "tuple[Tensor, Tensor, Tensor]",
        Causal.apply(query, key, value, sums, largest, hidden, feature_map, chunk),
    )
    return output, State(sums.view_as(state.sums), largest.view_as(state.largest))


def start(key: Tensor, value: Tensor, feature_map: FeatureMap) -> State:
    """The state before any token."""
    like = widened(key)
    shape = (*key.shape[:2], count_features(key, feature_map), value.shape[-1] + 1)
    nothing = like.new_zeros(()).expand(shape)  # zeros that take no memory
    return State(nothing, like.new_full((*key.shape[:2], 1, 1), NOTHING))


def step(
    query: Tensor, key: Tensor, value: Tensor, feature_map: FeatureMap, state: State
) -> tuple[Tensor, State]:
    """One token (B, H, 1, d) after those in `state`: its output and the next state. Cost: r·d."""
    queries = feature_map(widened(query)).values
    keys, scale = feature_map(widened(key))
    sums, largest = state
    if scale is None:
        sums = sums + keys.mT @ with_ones(value, keys.dtype)
    else:
        now = torch.maximum(largest, scale)
        columns = with_ones(value, keys.dtype) * (scale - now).exp2()
        sums, largest = sums * (largest - now).exp2() + keys.mT @ columns, now
    totals = queries @ sums
    output = totals[..., :-1] * inverted(totals[..., -1:])
    return output.to(value.dtype), State(sums, largest)


def weights(
    query: Tensor, key: Tensor, feature_map: FeatureMap, *, hidden: Tensor | None = None
) -> Tensor:
    """Effective weights (B, H, L_q, L_k), at least float32; hidden pairs get exactly 0.

    For looking at short texts: L² numbers. Rows sum to 1 unless nothing is seen.
    """
    queries = feature_map(widened(query)).values
    keys, scale = of_keys(widened(key), feature_map, None)
    products = queries @ keys.mT
    if scale is not None:
        lifted = scale.mT.expand_as(products)
        lifted = lifted if hidden is None else lifted.masked_fill(hidden, NOTHING)
        products = products * (lifted - lifted.amax(dim=-1, keepdim=True)).exp2()
    if hidden is not None:
        products = products.masked_fill(hidden, 0.0)
    return products * inverted(products.sum(dim=-1, keepdim=True))


def scores(
    query: Tensor, key: Tensor, feature_map: FeatureMap, *, hidden: Tensor | None = None
) -> Tensor:
    """φ(q)·φ(k) (B, H, L_q, L_k), at least float32; hidden pairs are minus infinity.

    For looking at: `weights` keep more of what is very small. Scales beyond 2^MOST are cut.
    """
    queries, query_scale = feature_map(widened(query))
    keys, key_scale = feature_map(widened(key))
    products = queries @ keys.mT
    if query_scale is not None and key_scale is not None:
        products = products * (query_scale + key_scale.mT).clamp(max=MOST).exp2()
    return products if hidden is None else products.masked_fill(hidden, -torch.inf)


def count_features(x: Tensor, feature_map: FeatureMap) -> int:
    """The r of rows like these. Raises ValueError for a map that is to be trained.

    The way back forms features anew and hands on the gradient of the rows alone.
    """
    with torch.enable_grad():
        values = feature_map(widened(x[:, :, :0]).detach()).values
    if values.requires_grad:
        raise ValueError(
            "the feature map has numbers that want a gradient; linear attention would not pass "
            "one on: detach them"
        )
    return values.shape[-1]


def _column(padding: Tensor | None, key: Tensor) -> Tensor | None:
    """The mask as (B, 1, L, 1)."""
    check_padding(padding, key)
    return None if padding is None else padding[:, None, :, None]
