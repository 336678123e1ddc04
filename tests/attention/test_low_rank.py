"""Linformer, Nyström and the Perceiver's bottleneck: a few rows stand for all tokens."""

import pytest
import torch
from torch import Tensor

from core.attention import linformer, nystrom, perceiver, softmax
from core.attention.masks import NoCausalFormError


def draw(n_tokens: int, *, seed: int = 0, n_batch: int = 2) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    query, key, value = (
        torch.randn(n_batch, 3, n_tokens, 4, generator=generator).double() for _ in range(3)
    )
    return query, key, value


def some_padding(n_tokens: int) -> Tensor:
    padding = torch.zeros(2, n_tokens, dtype=torch.bool)
    padding[0, ::3] = True
    return padding


def mix(n_rows: int, n_tokens: int, *, seed: int = 1) -> Tensor:
    return linformer.draw_projection(
        n_rows, n_tokens, generator=torch.Generator().manual_seed(seed)
    )


@pytest.mark.parametrize("padding", [None, some_padding(20)])
def test_linformer_is_softmax_over_mixed_rows(padding: Tensor | None):
    query, key, value = draw(20)
    e, f = mix(5, 32), mix(5, 32, seed=2)
    kept = torch.ones(2, 20) if padding is None else 1.0 - padding.double()
    kept = kept[:, None, :, None].double()
    rows, mixed = e[:, :20] @ (key * kept), f[:, :20] @ (value * kept)
    expected = torch.softmax(query @ rows.mT / 2, dim=-1) @ mixed
    output = linformer.attend(query, key, value, e, f, padding=padding)
    assert (output - expected).abs().max() < 1e-12
    weights = linformer.weights(query, key, e, f, padding=padding)
    assert (weights @ value - output).abs().max() < 1e-12


def test_linformer_with_every_token_as_a_row_is_softmax():
    query, key, value = draw(6)
    exact, _ = softmax.attend(query, key, value)
    unit = torch.eye(6).double()
    assert (linformer.attend(query, key, value, unit, unit) - exact).abs().max() < 1e-12


def test_linformer_refuses_more_tokens_than_columns():
    query, key, value = draw(9)
    with pytest.raises(ValueError, match="9 tokens are more than the 8 columns of Linformer's"):
        linformer.attend(query, key, value, mix(4, 8), mix(4, 8))


def test_linformer_projects_with_variance_one_over_its_rows():
    drawn = mix(64, 1000)
    assert float(drawn.var()) == pytest.approx(1 / 64, rel=0.05)


@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (7, 7)])
def test_the_iterated_inverse_is_that_of_moore_and_penrose(shape: tuple[int, int]):
    generator = torch.Generator().manual_seed(3)
    matrix = torch.softmax(2 * torch.randn(5, *shape, generator=generator).double(), dim=-1)
    found = nystrom.pseudo_inverse(matrix, 30)
    torch.testing.assert_close(found, torch.linalg.pinv(matrix), rtol=1e-6, atol=1e-6)


def test_the_inverse_of_a_singular_matrix_is_reached_too():
    matrix = torch.tensor([[0.5, 0.5], [0.5, 0.5]]).double()
    torch.testing.assert_close(nystrom.pseudo_inverse(matrix, 30), torch.linalg.pinv(matrix))


def test_each_matrix_is_inverted_with_its_own_norms():
    generator = torch.Generator().manual_seed(4)
    small = torch.softmax(torch.randn(1, 4, 4, generator=generator).double(), dim=-1)
    together = nystrom.pseudo_inverse(torch.cat([small, 100 * small]), 4)
    assert torch.equal(together[:1], nystrom.pseudo_inverse(small, 4))


def test_with_a_landmark_for_each_token_nystrom_is_softmax():
    query, key, value = draw(8)
    exact, _ = softmax.attend(query, key, value)
    found = nystrom.attend(query, key, value, n_landmarks=8, n_iterations=40)
    assert (found - exact).abs().max() < 1e-6


def test_more_iterations_come_nearer_in_float64():
    query, key, value = draw(8)
    exact, _ = softmax.attend(query, key, value)
    errors = [
        float((nystrom.attend(query, key, value, n_landmarks=8, n_iterations=n) - exact).norm())
        for n in (1, 4, 8, 20)
    ]
    assert errors == sorted(errors, reverse=True)


def test_landmarks_are_means_of_stretches_of_what_is_not_padding():
    x = torch.arange(12.0).view(1, 1, 12, 1)
    nothing = torch.zeros(1, 12, dtype=torch.bool)
    assert nystrom.landmarks(x, nothing, 3).flatten().tolist() == [1.5, 5.5, 9.5]
    padding = nothing.clone()
    padding[0, [0, 1, 10, 11]] = True
    assert nystrom.landmarks(x, padding, 4).flatten().tolist() == [2.5, 4.5, 6.5, 8.5]
    few = ~nothing
    few[0, 5:7] = False
    assert nystrom.landmarks(x, few, 4).flatten().tolist() == [5.0, 5.0, 6.0, 6.0]
    assert nystrom.landmarks(x, ~nothing, 2).flatten().tolist() == [0.0, 0.0]


@pytest.mark.parametrize("padding", [None, some_padding(30)])
def test_nystrom_weights_times_value_are_the_output(padding: Tensor | None):
    query, key, value = draw(30)
    weights = nystrom.weights(query, key, n_landmarks=6, padding=padding)
    output = nystrom.attend(query, key, value, n_landmarks=6, padding=padding)
    assert (weights @ value - output).abs().max() < 1e-12
    alone = nystrom.attend(
        *(x[1:] for x in (query, key, value)),
        n_landmarks=6,
        padding=None if padding is None else padding[1:],
    )
    assert torch.allclose(alone, output[1:], rtol=0, atol=1e-13)


def test_no_landmark_is_refused():
    with pytest.raises(ValueError, match="0 landmarks; at least 1 is needed"):
        nystrom.attend(*draw(4), n_landmarks=0)


def test_weights_have_no_causal_form_either():
    query, key, _ = draw(4)
    with pytest.raises(NoCausalFormError, match="Nyström attention has no causal form"):
        nystrom.weights(query, key, n_landmarks=2, causal=True)
    with pytest.raises(NoCausalFormError, match="Linformer has no causal form: each of its k"):
        linformer.weights(query, key, mix(2, 4), mix(2, 4), causal=True)


@pytest.mark.parametrize(("causal", "stride"), [(False, 1), (True, 1), (True, 2), (True, 3)])
def test_a_bottleneck_is_softmax_down_and_up(causal: bool, stride: int):
    query, key, value = draw(12)
    basis = torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(5)).double()
    standing = torch.arange(5) * stride
    basis_seen = basis[:, standing < 12] if causal else basis
    standing = standing[standing < 12]
    down, up = basis_seen @ key.mT / 2, None
    if causal:
        down = down.masked_fill(torch.arange(12) > standing[:, None], -torch.inf)
    latents = torch.softmax(down, dim=-1) @ value
    up = query @ latents.mT / 2
    if causal:
        up = up.masked_fill(standing > torch.arange(12)[:, None], -torch.inf)
    expected = torch.softmax(up, dim=-1) @ latents
    output = perceiver.attend(query, key, value, basis, causal=causal, stride=stride)
    assert (output - expected).abs().max() < 1e-12
    weights = perceiver.weights(query, key, value, basis, causal=causal, stride=stride)
    assert (weights @ value - output).abs().max() < 1e-12


def test_a_latent_that_sees_only_padding_is_hidden():
    query, key, value = draw(6)
    basis = torch.randn(3, 6, 4, generator=torch.Generator().manual_seed(6)).double()
    padding = torch.zeros(2, 6, dtype=torch.bool)
    padding[0, :3] = True
    output = perceiver.attend(query, key, value, basis, causal=True, padding=padding)
    assert (output[0, :, :3] == 0).all()
    torch.testing.assert_close(output[0, :, 3], value[0, :, 3])
