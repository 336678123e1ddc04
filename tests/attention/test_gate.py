"""The scalar gate at its ends, and gates in log space; its forms: test_states.py."""

import pytest
import torch

from core.attention import gate
from core.attention.chunks import between, decays, in_chunks
from tests.attention.states import draw


def test_open_gates_are_linear_attention_without_a_map_and_a_normaliser():
    given = draw(90)
    products = (given.query @ given.key.mT / given.key.shape[-1] ** 0.5).tril()
    output = gate.attend(*given[:3], torch.zeros_like(given.log_gate))
    assert (output - products @ given.value).abs().max() < 1e-12


def test_shut_gates_leave_each_token_alone():
    given = draw(90)
    own = (given.query * given.key).sum(-1, keepdim=True) / given.key.shape[-1] ** 0.5
    output = gate.attend(*given[:3], torch.full_like(given.log_gate, -torch.inf))
    assert (output - own * given.value).abs().max() < 1e-12


def test_products_of_gates_are_those_between_two_tokens():
    gates = torch.tensor([0.5, 0.2, 0.0, 0.7, 1.0], dtype=torch.float64)
    found = between(gates.log())
    for i in range(5):
        for j in range(5):
            expected = float(gates[j + 1 : i + 1].prod()) if j <= i else 0.0
            assert float(found[i, j]) == pytest.approx(expected, abs=1e-15)


def test_a_chunk_fades_by_all_its_gates():
    gates = torch.tensor([0.5, 0.2, 0.9], dtype=torch.float64)
    found = decays(gates.log())
    assert found.enter[:, 0].tolist() == pytest.approx([0.5, 0.1, 0.09])
    assert found.leave[:, 0].tolist() == pytest.approx([0.18, 0.9, 1.0])
    assert found.fade.tolist() == [[pytest.approx(0.09)]]


@pytest.mark.parametrize(("n_tokens", "n_chunks"), [(0, 1), (1, 1), (4, 1), (5, 2)])
def test_chunks_are_filled_up_with_zeros(n_tokens: int, n_chunks: int):
    x = torch.ones(1, 2, n_tokens, 3)
    found = in_chunks(x, 4)
    assert found.shape == (1, 2, n_chunks, 4, 3)
    assert found.sum() == 6 * n_tokens
