"""Random features: unbiased, better with orthogonal rows, stable, the same until drawn anew."""

import io
import math

import pytest
import torch
from torch import Tensor

from core.attention import favor, linear, softmax
from core.attention.favor import Kind

KINDS: list[Kind] = ["positive", "hyperbolic", "trigonometric"]
N_DRAWS, D = 1500, 8


def estimates(kind: Kind, n_features: int, *, orthogonal: bool) -> Tensor:
    """φ(q)·φ(k) for N_DRAWS projections, and beside it exp(q · k / √d)."""
    generator = torch.Generator().manual_seed(0)
    query, key = (0.5 * torch.randn(D, generator=generator).double() for _ in range(2))
    found: list[Tensor] = []
    for _ in range(N_DRAWS):
        rows = favor.draw_projection(n_features, D, generator=generator, orthogonal=orthogonal)
        q, k = (favor.feature_map(rows, kind)(x) for x in (query, key))
        assert q.log2_scale is not None
        assert k.log2_scale is not None
        found.append((q.values @ k.values) * (q.log2_scale + k.log2_scale).exp2())
    return torch.cat(found) / (query @ key / math.sqrt(D)).exp()


@pytest.mark.parametrize("orthogonal", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_the_product_of_features_is_unbiased(kind: Kind, orthogonal: bool):
    ratios = estimates(kind, 8, orthogonal=orthogonal)
    standard_error = float(ratios.std()) / math.sqrt(N_DRAWS)
    assert abs(float(ratios.mean()) - 1) < 4 * standard_error
    assert standard_error < 0.03


@pytest.mark.parametrize("kind", KINDS)
def test_orthogonal_rows_vary_less_than_independent_ones(kind: Kind):
    orthogonal, independent = (estimates(kind, 8, orthogonal=kept) for kept in (True, False))
    assert orthogonal.var() < 0.9 * independent.var()


def test_rows_of_a_block_are_orthogonal_and_as_long_as_normal_ones():
    rows = favor.draw_projection(2000, 16, generator=torch.Generator().manual_seed(0))
    blocks = rows.view(125, 16, 16)
    products = blocks @ blocks.mT
    assert (products - torch.diag_embed(products.diagonal(dim1=1, dim2=2))).abs().max() < 1e-12
    squares = rows.square().sum(-1)
    assert float(squares.mean()) == pytest.approx(16, abs=4 * math.sqrt(32 / 2000))
    assert float(squares.var()) == pytest.approx(32, rel=0.2)


def test_directions_are_as_often_on_one_side_as_on_the_other():
    """The QR routine alone gives every first row a negative first coordinate."""
    generator = torch.Generator().manual_seed(0)
    firsts = [float(favor.draw_projection(1, 4, generator=generator)[0, 0]) for _ in range(400)]
    assert abs(sum(x > 0 for x in firsts) - 200) < 4 * math.sqrt(100)


def test_the_last_block_may_be_cut_and_one_row_is_enough():
    generator = torch.Generator().manual_seed(0)
    assert favor.draw_projection(19, 8, generator=generator).shape == (19, 8)
    assert favor.draw_projection(1, 8, generator=generator).shape == (1, 8)
    with pytest.raises(ValueError, match="0 features; at least 1"):
        favor.draw_projection(0, 8, generator=generator)


def test_features_are_the_same_until_they_are_drawn_anew():
    generator = torch.Generator().manual_seed(4)
    rows = favor.draw_projection(12, D, generator=generator)
    x = torch.randn(3, D, generator=generator).double()
    kept = io.BytesIO()
    torch.save(rows, kept)
    kept.seek(0)
    loaded = torch.load(kept, weights_only=True)
    first = favor.feature_map(rows)(x).values
    assert torch.equal(favor.feature_map(loaded)(x).values, first)
    assert torch.equal(favor.feature_map(rows)(x).values, first)
    again = favor.draw_projection(12, D, generator=torch.Generator().manual_seed(4))
    assert torch.equal(again, rows)
    assert not torch.equal(favor.draw_projection(12, D, generator=generator), rows)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("norm", [1.0, 20.0, 1e3])
def test_large_queries_and_keys_stay_finite_and_between_the_values(norm: float, causal: bool):
    generator = torch.Generator().manual_seed(6)
    query, key, value = (torch.randn(1, 2, 130, 32, generator=generator) for _ in range(3))
    unit = torch.nn.functional.normalize
    query, key = (norm * unit(x, dim=-1) for x in (query, key))
    leaves = query.requires_grad_(), key.requires_grad_()
    rows = favor.draw_projection(64, 32, generator=generator)
    output = linear.attend(*leaves, value, favor.feature_map(rows), causal=causal)
    assert output.min() >= value.min()
    assert output.max() <= value.max()
    assert (output != 0).any(-1).all()
    output.square().sum().backward()
    assert all(x.grad is not None and x.grad.isfinite().all() for x in leaves)


def test_one_future_key_of_norm_20_changes_no_bit_before_it():
    """A maximum over all keys, as an exponent's reference, would."""
    generator = torch.Generator().manual_seed(7)
    query, key, value = (torch.randn(1, 2, 200, 32, generator=generator) for _ in range(3))
    feature_map = favor.feature_map(favor.draw_projection(64, 32, generator=generator))
    before = linear.attend(query, key, value, feature_map, causal=True)
    key[:, :, 150] *= 20 / torch.linalg.vector_norm(key[:, :, 150], dim=-1, keepdim=True)
    after = linear.attend(query, key, value, feature_map, causal=True)
    assert torch.equal(after[:, :, :150], before[:, :, :150])
    assert not torch.equal(after[:, :, 150:], before[:, :, 150:])


def relative_error(n_features: int, size: float, seed: int, kind: Kind = "positive") -> float:
    """Of the output against softmax, L = 256, d = 32; n_features 0 is uniform attention."""
    generator = torch.Generator().manual_seed(seed)
    query, key, value = (torch.randn(1, 1, 256, 32, generator=generator).double() for _ in "qkv")
    query, key = size * query, size * key
    exact, _ = softmax.attend(query, key, value)
    if n_features:
        rows = favor.draw_projection(n_features, 32, generator=generator)
        found = linear.attend(query, key, value, favor.feature_map(rows, kind))
    else:
        found = value.mean(2, keepdim=True).expand_as(value)
    return float((found - exact).norm() / exact.norm())


def median_error(n_features: int, size: float, kind: Kind = "positive") -> float:
    return sorted(relative_error(n_features, size, seed, kind) for seed in range(9))[4]


def test_the_error_shrinks_with_the_number_of_features():
    errors = [median_error(m, 0.5) for m in (16, 64, 256, 1024)]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.25 * errors[0]


def test_on_raw_normal_inputs_128_features_are_no_better_than_uniform_attention():
    assert median_error(128, 1.0) > median_error(0, 1.0)
    assert median_error(1024, 0.5) < 0.8 * median_error(0, 0.5) < median_error(128, 0.5)


def test_trigonometric_features_win_at_small_norms_and_lose_at_large_ones():
    assert median_error(64, 0.2, "trigonometric") < 0.5 * median_error(64, 0.2)
    assert median_error(64, 1.2, "trigonometric") > 2 * median_error(64, 1.2)


def test_only_trigonometric_weights_are_negative():
    generator = torch.Generator().manual_seed(8)
    query, key = (1.2 * torch.randn(1, 1, 64, 32, generator=generator) for _ in range(2))
    rows = favor.draw_projection(64, 32, generator=generator)
    for kind in KINDS:
        weights = linear.weights(query, key, favor.feature_map(rows, kind))
        assert (weights.min() < 0) == (kind == "trigonometric")


def test_a_projection_for_another_head_dim_is_named():
    rows = favor.draw_projection(8, D, generator=torch.Generator().manual_seed(0))
    with pytest.raises(ValueError, match="a projection of 8 columns does not fit a head_dim of 6"):
        favor.feature_map(rows)(torch.zeros(1, 6))


def test_an_unknown_kind_is_named_with_those_that_exist():
    with pytest.raises(ValueError, match="unknown kind of features 'sine'; kinds: positive, hyp"):
        favor.feature_map(torch.zeros(1, 1), "sine")  # pyright: ignore[reportArgumentType]
