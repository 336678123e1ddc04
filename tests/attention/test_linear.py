"""Linear attention: naive sums against chunks, chunks against single steps, gradients both ways."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from core.attention import favor, linear, linear_parts, softmax, taylor
from core.attention.feature_maps import FeatureMap, Features, elu
from core.attention.masks import hidden_pairs

HEAD_DIM = 6
ROWS = favor.draw_projection(16, HEAD_DIM, generator=torch.Generator().manual_seed(1))
MAPS: dict[str, FeatureMap] = {
    "elu": elu,
    "positive": favor.feature_map(ROWS),
    "hyperbolic": favor.feature_map(ROWS, "hyperbolic"),
    "trigonometric": favor.feature_map(ROWS, "trigonometric"),
    "taylor": taylor.feature_map(HEAD_DIM, 3),
    "taylor full": taylor.feature_map(HEAD_DIM, 3, symmetric=False),
}
Tokens = tuple[Tensor, Tensor, Tensor]
every_map = pytest.mark.parametrize("name", MAPS)


def draw(n_tokens: int, *, seed: int = 0, n_batch: int = 2) -> Tokens:
    generator = torch.Generator().manual_seed(seed)
    shape = (n_batch, 2, n_tokens, HEAD_DIM)
    query, key, value = (torch.randn(shape, generator=generator).double() for _ in range(3))
    return 0.5 * query, 0.5 * key, value


def wanting(tokens: Tokens) -> Tokens:
    """The same, each wanting a gradient."""
    query, key, value = (x.requires_grad_() for x in tokens)
    return query, key, value


def at(rows: slice, tokens: Tokens) -> Tokens:
    query, key, value = (x[:, :, rows] for x in tokens)
    return query, key, value


def kernel(name: str, query: np.ndarray, key: np.ndarray) -> np.ndarray:
    """φ(q)·φ(k) for all pairs, from the formulas alone."""
    d = query.shape[-1]
    products = query @ key.swapaxes(-1, -2) / math.sqrt(d)
    if name == "elu":
        q, k = (np.where(x > 0, x + 1, np.exp(x)) for x in (query, key))
        return q @ k.swapaxes(-1, -2)
    if name.startswith("taylor"):
        return 1 + products + products**2 / 2
    rows, scaled = ROWS.numpy(), [x / d**0.25 for x in (query, key)]
    half = [(x**2).sum(-1, keepdims=True) / 2 for x in scaled]
    angles = [x @ rows.T for x in scaled]
    if name == "trigonometric":
        q, k = (
            np.exp(h) * np.concatenate([np.cos(a), np.sin(a)], -1)
            for h, a in zip(half, angles, strict=True)
        )
    elif name == "hyperbolic":
        q, k = (
            np.exp(-h) * np.concatenate([np.exp(a), np.exp(-a)], -1) / math.sqrt(2)
            for h, a in zip(half, angles, strict=True)
        )
    else:
        q, k = (np.exp(a - h) for h, a in zip(half, angles, strict=True))
    return q @ k.swapaxes(-1, -2) / len(rows)


def naive(name: str, query: Tensor, key: Tensor, value: Tensor, *, causal: bool) -> Tensor:
    """Sum over sum in float64."""
    pairs = kernel(name, query.double().numpy(), key.double().numpy())
    pairs = np.tril(pairs) if causal else pairs
    return torch.from_numpy(pairs @ value.double().numpy() / pairs.sum(-1, keepdims=True))


@every_map
@pytest.mark.parametrize("chunk", [16, 64])
@pytest.mark.parametrize("n_tokens", [1, 63, 64, 65, 1000])
def test_chunks_equal_the_naive_sums(name: str, n_tokens: int, chunk: int):
    query, key, value = draw(n_tokens, n_batch=1)
    output = linear.attend(query, key, value, MAPS[name], causal=True, chunk=chunk)
    assert (output - naive(name, query, key, value, causal=True)).abs().max() < 1e-12


@every_map
@pytest.mark.parametrize("n_keys", [1, 64, 300])
def test_without_an_order_blocks_equal_the_naive_sums(
    name: str, n_keys: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(linear_parts, "CACHE", 1)  # so that there are several blocks
    (query, _, _), (_, key, value) = draw(130), draw(n_keys, seed=1)
    output = linear.attend(query, key, value, MAPS[name])
    assert (output - naive(name, query, key, value, causal=False)).abs().max() < 1e-12


@every_map
def test_single_steps_equal_chunks(name: str):
    query, key, value = draw(200)
    whole = linear.attend(query, key, value, MAPS[name], causal=True)
    state, steps = linear.start(key, value, MAPS[name]), list[Tensor]()
    for i in range(200):
        token = at(slice(i, i + 1), (query, key, value))
        output, state = linear.step(*token, MAPS[name], state)
        steps.append(output)
    assert (torch.cat(steps, 2) - whole).abs().max() < 1e-12
    _, after = linear.resume(query, key, value, MAPS[name], linear.start(key, value, MAPS[name]))
    torch.testing.assert_close(state.sums, after.sums, rtol=1e-10, atol=1e-12)


@every_map
@pytest.mark.parametrize("causal", [False, True])
def test_effective_weights_times_value_are_the_output(name: str, causal: bool):
    query, key, value = draw(70)
    padding = torch.zeros(2, 70, dtype=torch.bool)
    padding[0, :5], padding[1, 60:] = True, True
    hidden = hidden_pairs(query, key, causal=causal, padding=padding)
    assert hidden is not None
    weights = linear.weights(query, key, MAPS[name], hidden=hidden)
    output = linear.attend(query, key, value, MAPS[name], causal=causal, padding=padding)
    assert (weights @ value - output).abs().max() < 1e-12
    assert (weights[hidden.expand_as(weights)] == 0).all()


@every_map
@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("causal", [False, True])
def test_gradients_equal_those_of_the_quadratic_form(
    name: str, causal: bool, kept: bool, monkeypatch: pytest.MonkeyPatch
):
    """Several groups of several chunks, with features kept or formed anew, and padding."""
    monkeypatch.setattr(linear_parts, "CACHE", 2**14)
    monkeypatch.setattr(linear_parts, "KEEP", 2**30 if kept else 0)
    leaves = wanting(draw(150))
    query, key, value = leaves
    padding = torch.zeros(2, 150, dtype=torch.bool)
    padding[0, :20] = True
    hidden = hidden_pairs(query, key, causal=causal, padding=padding)
    pull = torch.randn(value.shape, generator=torch.Generator().manual_seed(9)).double()
    quadratic = linear.weights(query, key, MAPS[name], hidden=hidden) @ value
    expected = torch.autograd.grad((quadratic * pull).sum(), leaves)
    fast = linear.attend(query, key, value, MAPS[name], causal=causal, padding=padding, chunk=16)
    found = torch.autograd.grad((fast * pull).sum(), leaves)
    for x, y in zip(found, expected, strict=True):
        assert (x - y).abs().max() < 1e-11 * y.abs().max()


@every_map
def test_no_gradient_reaches_the_future(name: str):
    leaves = wanting(draw(100))
    output = linear.attend(*leaves, MAPS[name], causal=True, chunk=16)
    output[:, :, :40].square().sum().backward()
    for x in leaves:
        assert x.grad is not None
        assert (x.grad[:, :, 40:] == 0).all()
        assert (x.grad[:, :, 1:40].abs().sum(-1) > 0).all()


@every_map
def test_a_gradient_flows_back_through_the_carried_state(name: str):
    leaves = wanting(draw(90))
    query, key, value = leaves
    whole = linear.attend(query, key, value, MAPS[name], causal=True)
    expected = torch.autograd.grad(whole[:, :, 50:].square().sum(), leaves)
    early, late = at(slice(0, 50), leaves), at(slice(50, None), leaves)
    first = linear.start(key, value, MAPS[name])
    _, state = linear.resume(*early, MAPS[name], first)
    output, _ = linear.resume(*late, MAPS[name], state)
    found = torch.autograd.grad(output.square().sum(), leaves)
    for x, y in zip(found, expected, strict=True):
        assert (x - y).abs().max() < 1e-11 * y.abs().max()


# What each map earns in float32 at L = 1000, d = 32 on N(0, 1) inputs; the trigonometric
# normaliser changes its sign there, and no digit is left.
EARNED = {"elu": 2e-6, "taylor": 1e-5, "positive": 2e-5}


@pytest.mark.parametrize("name", EARNED)
def test_float32_keeps_what_the_map_earns(name: str):
    generator = torch.Generator().manual_seed(3)
    query, key, value = (torch.randn(1, 2, 1000, 32, generator=generator) for _ in range(3))
    rows = favor.draw_projection(128, 32, generator=generator)
    maps: dict[str, Callable[[Tensor], Features]] = {
        "elu": elu,
        "taylor": taylor.feature_map(32, 3),
        "positive": favor.feature_map(rows),
    }
    single = linear.attend(query, key, value, maps[name], causal=True)
    double = linear.attend(query.double(), key.double(), value.double(), maps[name], causal=True)
    error = (single - double).abs().max() / double.abs().max()
    assert error < EARNED[name]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("causal", [False, True])
def test_half_precision_is_summed_in_float32(dtype: torch.dtype, causal: bool):
    query, key, value = (x.to(dtype) for x in draw(300))
    output = linear.attend(query, key, value, elu, causal=causal)
    wide = linear.attend(query.float(), key.float(), value.float(), elu, causal=causal)
    assert output.dtype == dtype
    assert linear.start(key, value, elu).sums.dtype == torch.float32
    assert torch.equal(output, wide.to(dtype))


def test_no_tokens_give_no_output_and_the_same_state():
    query, key, value = draw(0)
    state = linear.start(key, value, elu)
    output, after = linear.resume(query, key, value, elu, state)
    assert output.shape == value.shape
    assert torch.equal(after.sums, state.sums)


def test_transposed_views_are_read_as_they_are():
    query, key, value = draw(80)
    q, k, v = (x.transpose(1, 2).contiguous().transpose(1, 2) for x in (query, key, value))
    for causal in (False, True):
        torch.testing.assert_close(
            linear.attend(q, k, v, elu, causal=causal),
            linear.attend(query, key, value, elu, causal=causal),
        )


def test_a_linear_map_cannot_be_as_sharp_as_softmax():
    """One aligned key at B = ‖q‖‖k‖/√d = 8 among 511 random ones of the same norm."""
    d, length = 32, 8**0.5 * 32**0.25
    generator = torch.Generator().manual_seed(5)
    key = torch.nn.functional.normalize(torch.randn(20, 1, 512, d, generator=generator), dim=-1)
    key = key * length
    query = key[:, :, :1]
    exact = softmax.weights(softmax.scores(query, key))[..., 0].mean()
    assert exact == pytest.approx(0.687, abs=0.05)
    for feature_map, most in ((elu, 0.004), (taylor.feature_map(d, 3), 0.05)):
        assert linear.weights(query, key, feature_map)[..., 0].mean() < most


def test_other_tokens_for_queries_are_refused_causally():
    (query, _, _), (_, key, value) = draw(4), draw(5)
    with pytest.raises(ValueError, match="4 queries and 5 keys: causal linear attention needs"):
        linear.attend(query, key, value, elu, causal=True)


def test_chunks_of_no_token_are_refused():
    with pytest.raises(ValueError, match="chunks of 0 tokens; at least 1"):
        linear.attend(*draw(4), elu, causal=True, chunk=0)


@pytest.mark.parametrize("causal", [False, True])
def test_a_map_that_is_to_be_trained_is_refused(causal: bool):
    weight = torch.ones(HEAD_DIM, dtype=torch.float64, requires_grad=True)
    with pytest.raises(ValueError, match="the feature map has numbers that want a gradient"):
        linear.attend(*draw(4), lambda x: elu(x * weight), causal=causal)


def test_a_second_derivative_is_refused():
    leaves = wanting(draw(4))
    output = linear.attend(*leaves, elu, causal=True).square().sum()
    (first,) = torch.autograd.grad(output, leaves[:1], create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()
