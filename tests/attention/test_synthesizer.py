"""The Synthesizer's scores against a loop written from the exercise's formula."""

import numpy as np
import pytest
import torch
from torch import Tensor

from core.attention import softmax, synthesizer

N_COLUMNS, N_HEADS, HEAD_DIM = 9, 3, 4


def draw(n_rows: int, *, own: bool, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """hidden, B and b₂; `own`: each head has its own B and b₂."""
    generator = torch.Generator().manual_seed(seed)
    heads = (N_HEADS,) if own else ()
    hidden = torch.randn(2, N_HEADS, n_rows, HEAD_DIM, generator=generator).relu()
    second = torch.randn(*heads, HEAD_DIM, N_COLUMNS, generator=generator)
    offset = torch.randn(*heads, *([1] if own else []), N_COLUMNS, generator=generator)
    return hidden, second, offset


def naive_scores(hidden: Tensor, second: Tensor, offset: Tensor, first_row: int) -> np.ndarray:
    """One number at a time in float64; the rows are first_row, first_row + 1, …"""
    shared = second.dim() == 2
    n_batch, _, n_rows, _ = hidden.shape
    n_keys = first_row + n_rows
    scores = np.full((n_batch, N_HEADS, n_rows, n_keys), -np.inf)
    for b, h, i in np.ndindex(n_batch, N_HEADS, n_rows):
        columns = (second if shared else second[h]).double().numpy()
        biases = (offset if shared else offset[h, 0]).double().numpy()
        for j in range(first_row + i + 1):
            scores[b, h, i, j] = hidden[b, h, i].double().numpy() @ columns[:, j] + biases[j]
    return scores


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize(("n_rows", "first_row"), [(7, 0), (9, 0), (3, 4), (1, 8)])
def test_scores_equal_a_naive_loop_in_float64(n_rows: int, first_row: int, own: bool):
    hidden, second, offset = draw(n_rows, own=own)
    columns = torch.arange(first_row + n_rows)
    scores = synthesizer.scores(hidden, second, offset, columns[first_row:], columns)
    expected = naive_scores(hidden, second, offset, first_row)
    np.testing.assert_allclose(scores.numpy(), expected, atol=1e-5)


def test_rows_sum_to_one_and_the_future_is_exactly_zero():
    places = torch.arange(7)
    weights = softmax.weights(synthesizer.scores(*draw(7, own=False), places, places))
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, N_HEADS, 7))
    assert (weights[..., softmax.future(places, places)] == 0).all()


def test_a_row_of_scores_does_not_change_with_the_other_rows():
    hidden, second, offset = draw(7, own=False)
    places = torch.arange(7)
    before = synthesizer.scores(hidden, second, offset, places, places)
    changed = hidden.clone()
    changed[:, :, [0, 2, 6]] += 1.0
    after = synthesizer.scores(changed, second, offset, places, places)
    same = [1, 3, 4, 5]
    assert torch.equal(after[:, :, same], before[:, :, same])
    assert not torch.equal(after[:, :, 2], before[:, :, 2])


def test_scores_of_half_precision_are_computed_in_float32():
    places = torch.arange(7)
    hidden, second, offset = (part.half() for part in draw(7, own=True))
    scores = synthesizer.scores(hidden, second, offset, places, places)
    assert scores.dtype == torch.float32
