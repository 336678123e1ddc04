"""Explicit and fused softmax attention against a loop that is written from the formula."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from core.attention import sdpa, softmax


def draw(n_queries: int, n_keys: int, *, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    query = torch.randn(2, 3, n_queries, 4, generator=generator)
    key, value = (torch.randn(2, 3, n_keys, 4, generator=generator) for _ in range(2))
    return query, key, value


def positions(n_queries: int, n_keys: int) -> tuple[Tensor, Tensor]:
    """Of queries and keys, where the queries are the last positions."""
    columns = torch.arange(n_keys)
    return (columns, columns) if n_queries == n_keys else (columns[-n_queries:], columns)


def causal_weights(query: Tensor, key: Tensor) -> Tensor:
    hidden = softmax.future(*positions(query.shape[2], key.shape[2]))
    return softmax.weights(softmax.scores(query, key, hidden=hidden))


def naive_weights(query: Tensor, key: Tensor) -> np.ndarray:
    """Causal weights in float64, one number at a time; the queries are the last positions."""
    q, k = query.double().numpy(), key.double().numpy()
    n_batch, n_heads, n_queries, d = q.shape
    n_keys = k.shape[2]
    weights = np.zeros((n_batch, n_heads, n_queries, n_keys))
    for b in range(n_batch):
        for h in range(n_heads):
            for i in range(n_queries):
                seen = range(n_keys - n_queries + i + 1)
                raised = [math.exp(float(q[b, h, i] @ k[b, h, j]) / math.sqrt(d)) for j in seen]
                weights[b, h, i, : len(seen)] = np.array(raised) / sum(raised)
    return weights


@pytest.mark.parametrize("n_queries", [7, 3, 1])
def test_weights_equal_a_naive_loop_in_float64(n_queries: int):
    query, key, _ = draw(n_queries, 7)
    weights = causal_weights(query, key)
    np.testing.assert_allclose(weights.numpy(), naive_weights(query, key), atol=1e-6)


@pytest.mark.parametrize("n_queries", [7, 3, 1])
def test_the_fused_output_equals_weights_times_value(n_queries: int):
    query, key, value = draw(n_queries, 7)
    fused = sdpa.attend(query, key, value, *positions(n_queries, 7))
    torch.testing.assert_close(fused, causal_weights(query, key) @ value, atol=1e-6, rtol=1e-5)


def test_positions_alone_say_what_is_hidden():
    rows, columns = torch.tensor([0, 2, 4, 6]), torch.tensor([0, 3, 5])
    assert softmax.future(rows, columns).tolist() == [
        [False, True, True],
        [False, True, True],
        [False, False, True],
        [False, False, False],
    ]
    query, key, value = draw(4, 3)
    hidden = softmax.future(rows, columns)
    output = softmax.weights(softmax.scores(query, key, hidden=hidden)) @ value
    fused = sdpa.attend(query, key, value, rows, columns)
    torch.testing.assert_close(fused, output, atol=1e-6, rtol=1e-5)


def test_no_query_gives_no_output():
    query, key, value = draw(0, 5)
    assert sdpa.attend(query, key, value, torch.arange(0), torch.arange(5)).shape == (2, 3, 0, 4)


def test_rows_sum_to_one_and_the_future_is_exactly_zero():
    query, key, _ = draw(7, 7)
    weights = causal_weights(query, key)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 3, 7))
    future = torch.ones(7, 7, dtype=torch.bool).triu(1)
    assert (weights[..., future] == 0).all()
    assert (weights[..., ~future] > 0).all()


def test_masked_scores_are_minus_infinity_and_all_others_finite():
    query, key, _ = draw(3, 5)
    scores = softmax.scores(query, key, hidden=softmax.future(*positions(3, 5)))
    hidden = torch.isneginf(scores[0, 0])
    assert hidden.tolist() == [
        [False, False, False, True, True],
        [False, False, False, False, True],
        [False, False, False, False, False],
    ]
    assert torch.isfinite(scores[..., ~hidden]).all()


def test_without_the_mask_every_key_is_seen():
    query, key, _ = draw(5, 5)
    scores = softmax.scores(query, key)
    torch.testing.assert_close(scores, query @ key.transpose(-2, -1) / 2)
    assert (softmax.weights(scores) > 0).all()


@pytest.mark.parametrize(
    ("dtype", "computed"),
    [
        (torch.float16, torch.float32),
        (torch.bfloat16, torch.float32),
        (torch.float64, torch.float64),
    ],
)
def test_scores_are_computed_in_float32_or_better(dtype: torch.dtype, computed: torch.dtype):
    query, key, _ = draw(4, 4)
    assert softmax.scores(query.to(dtype), key.to(dtype)).dtype == computed


def test_scores_of_a_thousand_do_not_overflow():
    query, key, _ = draw(4, 4)
    weights = softmax.weights(softmax.scores(query * 1e3, key * 1e3))
    assert torch.isfinite(weights).all()
