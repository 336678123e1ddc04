"""Based: exact in its window, a polynomial beyond it; its forms: test_states.py."""

import pytest
import torch

from core.attention import based, linear, softmax
from core.attention.masks import hidden_pairs
from tests.attention.states import FEATURES, HEAD_DIM, draw


def test_a_window_as_wide_as_the_text_is_softmax():
    given = draw(70)
    exact, _ = softmax.attend(*given[:3], hidden=hidden_pairs(*given[:2], causal=True))
    assert (based.attend(*given[:3], FEATURES, window=70) - exact).abs().max() < 1e-12


def test_what_is_far_is_weighed_as_linear_attention_weighs_it():
    """Between two far keys the window cancels."""
    given = draw(40)
    shown = based.weights(*given[:2], window=4)
    hidden = hidden_pairs(*given[:2], causal=True)
    taylor = linear.weights(*given[:2], FEATURES, hidden=hidden)
    ratio, expected = (w[:, :, 30, 3] / w[:, :, 30, 17] for w in (shown, taylor))
    assert (ratio - expected).abs().max() < 1e-12


@pytest.mark.parametrize("w", [1, 5, 64, 65, 200])
def test_blocks_equal_all_pairs(w: int):
    given = draw(300)
    padding = torch.zeros(2, 300, dtype=torch.bool)
    padding[1, :90] = True
    for mask in (None, padding):
        shown = based.weights(*given[:2], window=w, padding=mask)
        output = based.attend(*given[:3], FEATURES, window=w, padding=mask)
        assert (shown @ given.value - output).abs().max() < 1e-12


def test_no_weight_is_negative_and_a_window_is_sharper_than_the_polynomial():
    given = draw(60)
    sharp = 8.0 * given.query / given.query.norm(dim=-1, keepdim=True)
    shown = based.weights(sharp, given.key, window=10)
    assert shown.min() >= 0
    inside = based.weights(sharp, given.key, window=60)
    exact = softmax.weights(
        softmax.scores(sharp, given.key, hidden=hidden_pairs(*given[:2], causal=True))
    )
    assert (inside - exact).abs().max() < 1e-12
    assert shown.amax(-1).mean() < exact.amax(-1).mean()


@pytest.mark.parametrize("size", [-300.0, 300.0])
def test_logits_of_any_size_leave_numbers(size: float):
    """One direction: every logit is size²/√d, or minus that."""
    query = torch.full((1, 1, 90, HEAD_DIM), 20.0)
    key = torch.full((1, 1, 90, HEAD_DIM), size)
    value = draw(90, n_batch=1).value[:, :1].float()
    output = based.attend(query, key, value, FEATURES, window=4)
    assert output.isfinite().all()
    assert based.weights(query, key, window=4).isfinite().all()
    expected = value.cumsum(2)[:, :, :4] / torch.arange(1, 5)[:, None]
    assert (output[:, :, :4] - expected).abs().max() < 1e-5  # equal weights
