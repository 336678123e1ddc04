"""Windows with sinks against softmax with a mask, and rings; forms: test_states.py."""

import pytest
import torch

from core.attention import bands, softmax, window
from core.attention.masks import hidden_pairs
from tests.attention.states import draw


@pytest.mark.parametrize("w", [1, 3, 16, 17, 40, 200])
@pytest.mark.parametrize("n_sinks", [0, 1, 4, 30])
def test_banded_blocks_equal_softmax_with_a_mask(w: int, n_sinks: int):
    given = draw(90)
    padding = torch.zeros(2, 90, dtype=torch.bool)
    padding[1, :7] = True
    for mask in (None, padding):
        shown = window.weights(*given[:2], window=w, n_sinks=n_sinks, padding=mask)
        output = window.attend(*given[:3], window=w, n_sinks=n_sinks, padding=mask)
        assert (shown @ given.value - output).abs().max() < 1e-12


def test_a_window_as_wide_as_the_text_is_softmax():
    given = draw(50)
    exact, _ = softmax.attend(*given[:3], hidden=hidden_pairs(*given[:2], causal=True))
    assert (window.attend(*given[:3], window=50) - exact).abs().max() < 1e-12
    assert (window.attend(*given[:3], window=1, n_sinks=50) - exact).abs().max() < 1e-12


def test_a_window_of_one_token_is_its_own_value():
    given = draw(50)
    assert (window.attend(*given[:3], window=1) - given.value).abs().max() < 1e-12


def test_a_row_sees_its_window_and_the_sinks_alone():
    positions = torch.arange(12)
    hidden = window.hidden_by(positions, positions, 3, 2)
    assert (~hidden[8]).nonzero()[:, 0].tolist() == [0, 1, 6, 7, 8]
    assert (~hidden[2]).nonzero()[:, 0].tolist() == [0, 1, 2]


@pytest.mark.parametrize("n_sinks", [0, 3])
def test_gradients_reach_only_what_is_seen(n_sinks: int):
    query, key, value = (x.requires_grad_() for x in draw(60)[:3])
    output = window.attend(query, key, value, window=5, n_sinks=n_sinks)
    output[:, :, 40].sum().backward()
    assert value.grad is not None
    seen = [*range(n_sinks), *range(36, 41)]
    assert (value.grad != 0).any(-1)[0, 0].nonzero()[:, 0].tolist() == seen


@pytest.mark.parametrize("n_tokens", [0, 2, 3, 7])
def test_a_ring_holds_the_last_tokens_whether_they_came_one_by_one_or_at_once(n_tokens: int):
    given = draw(n_tokens)
    whole = bands.ring_of(given.key, given.value, 3)
    single = bands.empty_ring(given.key, given.value, 3)
    for t in range(n_tokens):
        one = given.at(slice(t, t + 1))
        single = bands.with_token(single, one.key, one.value)
    assert torch.equal(whole.keys, single.keys)
    assert torch.equal(whole.values, single.values)
    kept = sorted(position for position in whole.positions.tolist() if position >= 0)
    assert kept == list(range(max(0, n_tokens - 3), n_tokens))


def test_a_window_of_no_token_and_fewer_sinks_than_none_are_refused():
    given = draw(5)
    with pytest.raises(ValueError, match="a window of 0 tokens; it must be at least 1"):
        window.attend(*given[:3], window=0)
    with pytest.raises(ValueError, match="-1 sinks; there can be 0 or more"):
        window.attend(*given[:3], window=3, n_sinks=-1)
