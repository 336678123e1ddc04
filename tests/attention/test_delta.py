"""The delta rule: what it overwrites, and what it is without a gate; its forms: test_states.py."""

import pytest
import torch
from torch import Tensor

from core.attention import delta, gate, gated_delta
from core.attention.wy import unit
from tests.attention.states import draw

KEYS = torch.linalg.qr(torch.eye(4, dtype=torch.float64) + 0.3)[0][None, None]  # of length 1


def read(keys: Tensor, values: Tensor, beta: float) -> Tensor:
    """What is stored at the four keys after these pairs (n, 4)."""
    rates = torch.full((1, 1, len(keys)), beta, dtype=torch.float64)
    first = delta.start(keys[None, None], values[None, None])
    state = delta.resume(keys[None, None], keys[None, None], values[None, None], rates, first)[1]
    return (KEYS @ state.matrix)[0, 0]


def test_a_second_value_takes_the_place_of_the_first_and_leaves_the_others():
    values = torch.arange(20.0, dtype=torch.float64).view(5, 4)
    keys = torch.cat([KEYS[0, 0], KEYS[0, 0, 1:2]])
    stored = read(keys, values, 1.0)
    assert (stored[[0, 2, 3]] - values[[0, 2, 3]]).abs().max() < 1e-4
    assert (stored[1] - values[4]).abs().max() < 1e-4
    half = read(keys, values, 0.5)
    assert (half[1] - (0.25 * values[1] + 0.5 * values[4])).abs().max() < 1e-4


def test_without_the_rule_both_values_are_added():
    values = torch.arange(20.0, dtype=torch.float64).view(1, 1, 5, 4)
    keys = torch.cat([KEYS, KEYS[:, :, 1:2]], 2)
    open_gates = torch.zeros(1, 1, 5, dtype=torch.float64)
    state = gate.resume(keys, keys, values, open_gates, gate.start(keys, values))[1]
    assert ((KEYS @ state.matrix)[0, 0, 1] - values[0, 0, [1, 4]].sum(0)).abs().max() < 1e-12


def test_gates_of_one_make_the_gated_rule_the_plain_one():
    given = draw(90)
    gated = gated_delta.attend(*given[:4], torch.zeros_like(given.log_gate))
    assert (gated - delta.attend(*given[:4])).abs().max() < 1e-12


def test_a_beta_of_zero_writes_nothing():
    given = draw(20)
    assert (delta.attend(*given[:3], torch.zeros_like(given.beta)) == 0).all()


def test_keys_and_queries_count_by_their_direction_alone():
    given = draw(30)
    longer = delta.attend(3 * given.query, 7 * given.key, given.value, given.beta)
    assert (longer - delta.attend(*given[:4])).abs().max() < 1e-5
    lengths = unit(given.key).square().sum(-1).sqrt()
    assert (lengths - 1).abs().max() < 1e-4
    assert (unit(torch.zeros(3, 4)) == 0).all()


@pytest.mark.parametrize("beta", [0.3, 1.0, 2.0])
def test_no_state_grows_beyond_what_was_written(beta: float):
    """I − β k kᵀ lengthens nothing for β up to 2: a state is at most the sum of its writes."""
    given = draw(400, n_batch=1)
    rates = torch.full_like(given.beta, beta)
    state = delta.resume(*given[:3], rates, delta.start(given.key, given.value))[1]
    written = beta * given.value.square().sum(-1).sqrt().sum(-1)
    assert (torch.linalg.matrix_norm(state.matrix, 2) <= written + 1e-9).all()
