"""Hidden pairs and rows that see nothing, and what softmax makes of them."""

import pytest
import torch
from torch import Tensor

from core.attention import sdpa, softmax, synthesizer
from core.attention.masks import blind_rows, hidden_pairs


def draw(n_tokens: int, *, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    query, key, value = (torch.randn(2, 3, n_tokens, 4, generator=generator) for _ in range(3))
    return query, key, value


PADDING = torch.tensor([[True, False, False, True], [False, False, True, True]])


def test_nothing_hidden_needs_no_mask():
    query, key, _ = draw(4)
    assert hidden_pairs(query, key) is None


def test_padding_hides_columns_and_the_order_what_comes_later():
    query, key, _ = draw(4)
    causal = hidden_pairs(query, key, causal=True, padding=PADDING)
    assert causal is not None
    assert causal[0, 0].int().tolist() == [[1, 1, 1, 1], [1, 0, 1, 1], [1, 0, 0, 1], [1, 0, 0, 1]]
    both = hidden_pairs(query, key, padding=PADDING)
    assert both is not None
    assert both.shape == (2, 1, 1, 4)
    assert both[1, 0, 0].tolist() == [False, False, True, True]


def test_blind_rows_are_those_with_padding_alone():
    assert blind_rows(PADDING, 4, causal=True).int().tolist() == [[1, 0, 0, 0], [0, 0, 0, 0]]
    assert not blind_rows(PADDING, 3).any()
    assert blind_rows(PADDING | True, 3).all()


def test_the_explicit_and_the_fused_form_agree_on_every_mask():
    query, key, value = draw(4)
    for causal in (False, True):
        for padding in (None, PADDING):
            hidden = hidden_pairs(query, key, causal=causal, padding=padding)
            explicit, weights = softmax.attend(query, key, value, hidden=hidden)
            fused = sdpa.attend_all(query, key, value, causal=causal, padding=padding)
            torch.testing.assert_close(fused, explicit, atol=1e-6, rtol=1e-5)
            sums = weights.sum(-1)
            seen = torch.ones_like(sums)
            if causal and padding is not None:
                seen[0, :, 0] = 0.0
            torch.testing.assert_close(sums, seen)


def test_a_row_that_sees_nothing_would_be_nan_without_care():
    query, key, _ = draw(4)
    hidden = hidden_pairs(query, key, causal=True, padding=PADDING)
    assert softmax.weights(softmax.scores(query, key, hidden=hidden))[0, 0, 0].isnan().all()
    assert (softmax.shown_weights(softmax.scores(query, key), hidden)[0, 0, 0] == 0).all()


def test_weights_that_are_shown_are_those_of_plain_softmax():
    query, key, _ = draw(4)
    hidden = hidden_pairs(query, key, causal=True)
    plain = softmax.weights(softmax.scores(query, key, hidden=hidden))
    assert torch.equal(softmax.shown_weights(softmax.scores(query, key), hidden), plain)


def test_padding_of_another_size_or_kind_is_refused():
    query, key, value = draw(4)
    with pytest.raises(ValueError, match=r"padding is \(2, 3\); \(batch, keys\) is \(2, 4\)"):
        hidden_pairs(query, key, padding=PADDING[:, :3])
    with pytest.raises(ValueError, match="padding is torch.int64; it must be torch.bool"):
        sdpa.attend_all(query, key, value, padding=PADDING.long())


def test_causal_attention_of_other_tokens_is_refused():
    query, key, value = draw(4)
    with pytest.raises(ValueError, match="3 queries and 4 keys: causal attention needs them"):
        sdpa.attend_all(query[:, :, :3], key, value, causal=True)


def test_a_random_synthesizer_looks_the_same_at_every_text():
    generator = torch.Generator().manual_seed(3)
    table = torch.randn(3, 6, 6, generator=generator)
    _, _, value = draw(4)
    scores = synthesizer.random_scores(table, 4, 4)
    assert torch.equal(scores[0], table[:, :4, :4])
    output = synthesizer.attend(scores, value)
    expected = torch.softmax(table[:, :4, :4], dim=-1) @ value
    torch.testing.assert_close(output, expected)


def test_more_tokens_than_a_synthesizer_has_columns_are_refused():
    table = torch.zeros(3, 6, 6)
    with pytest.raises(ValueError, match="7 tokens are more than the 6 columns of the Synth"):
        synthesizer.random_scores(table, 1, 7)
    with pytest.raises(ValueError, match="7 tokens are more than the 6 columns of the Synth"):
        synthesizer.written(torch.zeros(1, 1, 7, 2), torch.zeros(2, 6), torch.zeros(6), 7)
