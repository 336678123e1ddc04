"""The replay cases: every mechanism in every case, and a reason wherever it does not apply."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
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
from core.attention.masks import NoCausalFormError, blind_rows, hidden_pairs

N_HEADS, HEAD_DIM, N_TOKENS, N_PADDED = 2, 8, 96, 16
LONGEST = N_TOKENS + N_PADDED


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def drawn(*shape: int, seed: int) -> Tensor:
    return torch.randn(*shape, generator=generator(seed), dtype=torch.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanism:
    """attend(query, key, value, causal, padding) to the output; a map where there is one."""

    attend: Callable[[Tensor, Tensor, Tensor, bool, Tensor | None], Tensor]
    feature_map: FeatureMap | None = None


def by_softmax(q: Tensor, k: Tensor, v: Tensor, causal: bool, padding: Tensor | None) -> Tensor:
    return softmax.attend(q, k, v, hidden=hidden_pairs(q, k, causal=causal, padding=padding))[0]


def by_sdpa(q: Tensor, k: Tensor, v: Tensor, causal: bool, padding: Tensor | None) -> Tensor:
    return sdpa.attend_all(q, k, v, causal=causal, padding=padding)


def by_map(feature_map: FeatureMap) -> Mechanism:
    return Mechanism(
        attend=lambda q, k, v, causal, padding: linear.attend(
            q, k, v, feature_map, causal=causal, padding=padding, chunk=16
        ),
        feature_map=feature_map,
    )


def by_linformer(q: Tensor, k: Tensor, v: Tensor, causal: bool, padding: Tensor | None) -> Tensor:
    mix = linformer.draw_projection(24, LONGEST, generator=generator(1))
    return linformer.attend(q, k, v, mix, mix, causal=causal, padding=padding)


def by_bigbird(q: Tensor, k: Tensor, v: Tensor, causal: bool, padding: Tensor | None) -> Tensor:
    # Drawn for the longest text; a shorter one's blocks are those of its own rows and columns.
    size, n_blocks = 8, -(-q.shape[2] // 8)
    blocks = bigbird.draw_blocks(LONGEST // size, causal=causal, generator=generator(2))[:n_blocks]
    blocks = blocks.masked_fill(blocks >= n_blocks, -1)
    return bigbird.attend(q, k, v, blocks, block_size=size, causal=causal, padding=padding)


def by_nystrom(q: Tensor, k: Tensor, v: Tensor, causal: bool, padding: Tensor | None) -> Tensor:
    return nystrom.attend(q, k, v, n_landmarks=12, causal=causal, padding=padding)


def by_perceiver(q: Tensor, k: Tensor, v: Tensor, causal: bool, padding: Tensor | None) -> Tensor:
    basis = drawn(N_HEADS, 24, HEAD_DIM, seed=3)
    return perceiver.attend(q, k, v, basis, causal=causal, stride=4, padding=padding)


def by_dense(q: Tensor, k: Tensor, v: Tensor, causal: bool, padding: Tensor | None) -> Tensor:
    second, offset = drawn(HEAD_DIM, LONGEST, seed=4), drawn(LONGEST, seed=5)
    scored = synthesizer.written(q.relu(), second, offset, k.shape[2])
    hidden = hidden_pairs(q, k, causal=causal, padding=padding)
    return synthesizer.attend(scored, v, hidden=hidden)


def by_random(q: Tensor, k: Tensor, v: Tensor, causal: bool, padding: Tensor | None) -> Tensor:
    table = drawn(N_HEADS, LONGEST, LONGEST, seed=6)
    scored = synthesizer.random_scores(table, q.shape[2], k.shape[2])
    hidden = hidden_pairs(q, k, causal=causal, padding=padding)
    return synthesizer.attend(scored, v, hidden=hidden)


def in_order(attend: Callable[..., Tensor], n_rates: int, **sizes: Any) -> Mechanism:
    """What is read in the order of the tokens; β and log a are the first tokens' of one draw."""
    drawn_rates = drawn(2, 2, N_HEADS, LONGEST, seed=8)
    rates = (drawn_rates[0].sigmoid(), logsigmoid(drawn_rates[1] + 2))

    def call(q: Tensor, k: Tensor, v: Tensor, causal: bool, padding: Tensor | None) -> Tensor:
        assert causal
        own = [rate[:, :, : q.shape[2]] for rate in rates[len(rates) - n_rates :]]
        return attend(q, k, v, *own, **sizes, padding=padding)

    return Mechanism(attend=call)


def by_delta(*given: Any, **sizes: Any) -> Tensor:
    """It has the first of the two rates alone."""
    return delta.attend(*given[:4], **sizes)


ROWS = favor.draw_projection(32, HEAD_DIM, generator=generator(7))
MECHANISMS = {
    "explicit": Mechanism(attend=by_softmax),
    "sdpa": Mechanism(attend=by_sdpa),
    "elu": by_map(elu),
    "favor positive": by_map(favor.feature_map(ROWS)),
    "favor hyperbolic": by_map(favor.feature_map(ROWS, "hyperbolic")),
    "favor trigonometric": by_map(favor.feature_map(ROWS, "trigonometric")),
    "taylor full": by_map(taylor.feature_map(HEAD_DIM, 3, symmetric=False)),
    "taylor symmetric": by_map(taylor.feature_map(HEAD_DIM, 3)),
    "linformer": Mechanism(attend=by_linformer),
    "bigbird": Mechanism(attend=by_bigbird),
    "nystrom": Mechanism(attend=by_nystrom),
    "perceiver": Mechanism(attend=by_perceiver),
    "synthesizer dense": Mechanism(attend=by_dense),
    "synthesizer random": Mechanism(attend=by_random),
    "delta": in_order(by_delta, 2, chunk=16),
    "gated delta": in_order(gated_delta.attend, 2, chunk=16),
    "gate": in_order(gate.attend, 1, chunk=16),
    "window": in_order(window.attend, 0, window=7, n_sinks=2),
    "based": in_order(based.attend, 0, features=based.feature_map(HEAD_DIM), window=7),
}
STATES = ("delta", "gated delta", "gate", "window", "based")
ONLY_CAUSAL: dict[str, str] = dict.fromkeys(STATES, "it is read in the order of the tokens")
NO_NORM = "there is no normaliser: rows need not sum to 1"
NO_SUMS: dict[str, str] = dict.fromkeys(STATES[:3], NO_NORM)
NO_CAUSAL = {
    "linformer": "each of its k rows mixes all positions before a mask could be applied",
    "nystrom": "its landmarks are means over the whole text",
}
NO_ONES = {
    "linformer": "the rows of F need not sum to 1",
    "nystrom": "rows sum to 1 only as nearly as the iteration has reached the inverse",
}
# Case -> mechanism -> why not.
NO: dict[str, dict[str, str]] = {
    "ones stay ones": NO_ONES | ONLY_CAUSAL,
    "causal ones stay ones": NO_CAUSAL | NO_SUMS,
    "the future has no influence": NO_CAUSAL,
    "appended padding changes nothing": ONLY_CAUSAL,
    "causal appended padding changes nothing": NO_CAUSAL,
    "a row that sees nothing is 0": ONLY_CAUSAL,
    "a causal row that sees nothing is 0": NO_CAUSAL,
    "two calls are identical": ONLY_CAUSAL,
    "a split pass goes on": {
        name: "there is no state: each row looks at the keys themselves"
        for name, mechanism in MECHANISMS.items()
        if mechanism.feature_map is None
    }
    | dict.fromkeys(STATES, "its state is another: see test_states.py"),
}


def cells(case: str) -> pytest.MarkDecorator:
    """All mechanisms that the case applies to."""
    return pytest.mark.parametrize("name", [name for name in MECHANISMS if name not in NO[case]])


def tokens(n_tokens: int = N_TOKENS, *, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Small enough that no trigonometric normaliser comes near 0."""
    query, key = (0.5 * drawn(2, N_HEADS, n_tokens, HEAD_DIM, seed=seed + i) for i in (10, 20))
    return query, key, drawn(2, N_HEADS, n_tokens, HEAD_DIM, seed=seed + 30)


@cells("ones stay ones")
def test_values_of_one_stay_one(name: str):
    query, key, value = tokens()
    output = MECHANISMS[name].attend(query, key, torch.ones_like(value), False, None)
    assert (output - 1).abs().max() < 1e-12


@cells("causal ones stay ones")
def test_values_of_one_stay_one_causally(name: str):
    query, key, value = tokens()
    output = MECHANISMS[name].attend(query, key, torch.ones_like(value), True, None)
    assert (output - 1).abs().max() < 1e-12


@cells("the future has no influence")
@pytest.mark.parametrize("norm", [1.0, 20.0])
@pytest.mark.parametrize("at", [1, 47, 48, 95])
def test_a_changed_token_leaves_the_rows_before_it_as_they_are(name: str, at: int, norm: float):
    query, key, value = tokens()
    before = MECHANISMS[name].attend(query, key, value, True, None)
    other = torch.nn.functional.normalize(drawn(HEAD_DIM, seed=99), dim=0) * norm
    for x in (query, key, value):
        x[:, :, at] = other
    after = MECHANISMS[name].attend(query, key, value, True, None)
    assert torch.equal(after[:, :, :at], before[:, :, :at])
    assert not torch.equal(after[:, :, at:], before[:, :, at:])


@cells("appended padding changes nothing")
@pytest.mark.parametrize("size", [0.0, 3.0])
def test_appended_keys_that_are_padding_change_nothing(name: str, size: float):
    before, after, counted = appended(name, size, causal=False)
    assert (after - before).abs().max() < 1e-12
    assert size == 0 or (counted - before).abs().max() > 1e-3


@cells("causal appended padding changes nothing")
@pytest.mark.parametrize("size", [0.0, 3.0])
def test_appended_padding_changes_nothing_causally(name: str, size: float):
    before, after, _ = appended(name, size, causal=True)
    assert (after - before).abs().max() < 1e-12


def appended(name: str, size: float, *, causal: bool) -> tuple[Tensor, Tensor, Tensor]:
    """The output without 16 more tokens, with them as padding, and with them as tokens."""
    attend = MECHANISMS[name].attend
    more = size * drawn(2, N_HEADS, N_PADDED, HEAD_DIM, seed=98)
    query, key, value = (torch.cat([x, more], 2) for x in tokens())
    padding = torch.zeros(2, LONGEST, dtype=torch.bool)
    padding[:, N_TOKENS:] = True
    after, counted = (
        attend(query, key, value, causal, seen)[:, :, :N_TOKENS] for seen in (padding, None)
    )
    return attend(*tokens(), causal, None), after, counted


@cells("a row that sees nothing is 0")
def test_a_row_that_sees_nothing_is_zero_and_named(name: str):
    blinded(name, causal=False)


@cells("a causal row that sees nothing is 0")
def test_a_causal_row_that_sees_nothing_is_zero_and_named(name: str):
    blinded(name, causal=True)


def blinded(name: str, *, causal: bool) -> None:
    """The first text is all padding; the second begins with some."""
    padding = torch.zeros(2, N_TOKENS, dtype=torch.bool)
    padding[0], padding[1, :20] = True, True
    query, key, value = (x.requires_grad_() for x in tokens())
    output = MECHANISMS[name].attend(query, key, value, causal, padding)
    blind = blind_rows(padding, N_TOKENS, causal=causal)
    assert blind.sum(1).tolist() == [N_TOKENS, 20 if causal else 0]
    rows = output.detach().transpose(1, 2)
    assert (rows[blind] == 0).all()
    assert (rows[~blind] != 0).all()
    output.sum().backward()
    assert all(x.grad is None or x.grad.isfinite().all() for x in (query, key, value))


@cells("two calls are identical")
def test_two_calls_are_identical(name: str):
    query, key, value = tokens()
    outputs = [MECHANISMS[name].attend(query, key, value, False, None) for _ in range(2)]
    assert torch.equal(*outputs)


@cells("a split pass goes on")
@pytest.mark.parametrize("cut", [1, 40, 95])
def test_a_pass_split_in_two_equals_one(name: str, cut: int):
    feature_map = MECHANISMS[name].feature_map
    assert feature_map is not None
    query, key, value = tokens()
    whole = linear.attend(query, key, value, feature_map, causal=True)
    state = linear.start(key, value, feature_map)
    parts: list[Tensor] = []
    for rows in (slice(0, cut), slice(cut, None)):
        q, k, v = (x[:, :, rows] for x in (query, key, value))
        output, state = linear.resume(q, k, v, feature_map, state, chunk=16)
        parts.append(output)
    assert (torch.cat(parts, 2) - whole).abs().max() < 1e-12


@pytest.mark.parametrize("name", NO_CAUSAL)
def test_what_has_no_causal_form_says_why(name: str):
    with pytest.raises(NoCausalFormError, match="has no causal form: (each of its|its landmarks)"):
        MECHANISMS[name].attend(*tokens(), True, None)


def test_linformer_does_not_keep_ones_and_nystrom_nearly():
    query, key, value = tokens()
    far, near = (
        (MECHANISMS[name].attend(query, key, torch.ones_like(value), False, None) - 1).abs().max()
        for name in NO_ONES
    )
    assert far > 0.1
    assert 1e-12 < near < 0.05
