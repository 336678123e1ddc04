"""Costs by formula against what torch counts while the mechanisms run."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from core.attention import (
    based,
    bigbird,
    delta,
    favor,
    gate,
    gated_delta,
    linear,
    linformer,
    nystrom,
    perceiver,
    sdpa,
    softmax,
    synthesizer,
    taylor,
    window,
)
from core.attention.feature_maps import FeatureMap, elu
from core.theory.costs import (
    Shape,
    Sizes,
    crossover_length,
    perceiver_ratio,
    predict,
    taylor_features,
)

N_HEADS, D = 2, 8
SIZES = Sizes(n_features=24, n_mixed=12, n_landmarks=8, n_iterations=3, n_latents=10, block_size=16)


def product(_: Any, left: Any, right: Any, *, out_shape: Any, **__: Any) -> int:
    """Of (N, a, b) and (N, b, c)."""
    return 2 * math.prod(left) * right[-1]


def triangular(_: Any, right: Any, *, out_shape: Any, **__: Any) -> int:
    """Of (N, a, a) and (N, a, b): half of a product."""
    return math.prod(right) * right[-2]


def counted(run: Callable[[], object]) -> int:
    """Operations of all matrix products; torch leaves the in-place ones out by itself."""
    in_place = {
        torch.ops.aten.baddbmm_: product,
        torch.ops.aten.linalg_solve_triangular: triangular,
    }
    with (
        torch.no_grad(),
        sdpa_kernel(SDPBackend.MATH),
        FlopCounterMode(display=False, custom_mapping=in_place) as counter,
    ):
        run()
    return counter.get_total_flops()


def runs(n_tokens: int, *, causal: bool) -> dict[str, Callable[[], object]]:
    x = torch.zeros(1, N_HEADS, n_tokens, D)
    mix = torch.zeros(SIZES.n_mixed, n_tokens)
    basis = torch.zeros(N_HEADS, SIZES.n_latents, D)
    blocks = bigbird.draw_blocks(
        -(-n_tokens // SIZES.block_size), causal=causal, generator=torch.Generator()
    )
    maps: dict[str, FeatureMap] = {
        "elu": elu,
        "favor": favor.feature_map(torch.zeros(SIZES.n_features, D)),
        "taylor": taylor.feature_map(D, SIZES.n_terms, symmetric=SIZES.symmetric),
    }
    found: dict[str, Callable[[], object]] = {
        name: lambda m=feature_map: linear.attend(x, x, x, m, causal=causal, chunk=SIZES.chunk)
        for name, feature_map in maps.items()
    }
    found["explicit"] = lambda: softmax.attend(x, x, x)
    found["sdpa"] = lambda: sdpa.attend_all(x, x, x, causal=causal)
    found["bigbird"] = lambda: bigbird.attend(
        x, x, x, blocks, block_size=SIZES.block_size, causal=causal
    )
    found["perceiver"] = lambda: perceiver.attend(
        x, x, x, basis, causal=causal, stride=n_tokens // SIZES.n_latents
    )
    found["synthesizer"] = lambda: synthesizer.attend(
        synthesizer.random_scores(torch.zeros(N_HEADS, n_tokens, n_tokens), n_tokens, n_tokens), x
    )
    if causal:
        found |= runs_in_order(x)
    else:
        found["linformer"] = lambda: linformer.attend(x, x, x, mix, mix)
        found["nystrom"] = lambda: nystrom.attend(
            x, x, x, n_landmarks=SIZES.n_landmarks, n_iterations=SIZES.n_iterations
        )
    return found


def runs_in_order(x: torch.Tensor) -> dict[str, Callable[[], object]]:
    rates, features = x[..., 0], based.feature_map(D)
    return {
        "delta": lambda: delta.attend(x, x, x, rates, chunk=SIZES.chunk),
        "gated-delta": lambda: gated_delta.attend(x, x, x, rates, rates, chunk=SIZES.chunk),
        "gate": lambda: gate.attend(x, x, x, rates, chunk=SIZES.chunk),
        "window": lambda: window.attend(x, x, x, window=SIZES.window, n_sinks=SIZES.n_sinks),
        "based": lambda: based.attend(x, x, x, features, window=SIZES.window),
    }


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("n_tokens", [128, 200])
def test_operations_are_what_torch_counts(n_tokens: int, causal: bool):
    for method, run in runs(n_tokens, causal=causal).items():
        shape = Shape(seq_len=n_tokens, head_dim=D, n_heads=N_HEADS)
        expected = predict(method, shape, causal=causal, sizes=SIZES).operations
        assert counted(run) == expected, method


@pytest.mark.parametrize("method", ["delta", "gated-delta", "gate", "window", "based"])
def test_a_state_grows_with_the_length_alone_and_has_no_other_order(method: str):
    short, long = (
        predict(method, Shape(seq_len=n, head_dim=32), causal=True).operations for n in (2048, 8192)
    )
    assert long / short == pytest.approx(4, rel=0.05)
    with pytest.raises(ValueError, match=f"{method} has only a causal form"):
        predict(method, Shape(seq_len=64, head_dim=32))


def test_a_dense_synthesizer_writes_its_scores_too():
    hidden, second = torch.zeros(1, N_HEADS, 32, D), torch.zeros(D, 32)

    def run() -> None:
        synthesizer.attend(synthesizer.written(hidden, second, torch.zeros(32), 32), hidden)

    shape = Shape(seq_len=32, head_dim=D, n_heads=N_HEADS)
    assert counted(run) == predict("synthesizer", shape, sizes=Sizes(dense=True)).operations


def test_heads_and_texts_multiply_the_cost():
    one = predict("explicit", Shape(seq_len=64, head_dim=8, n_heads=1))
    many = predict("explicit", Shape(seq_len=64, head_dim=8, n_heads=4, batch=3))
    assert many.operations == 12 * one.operations
    assert many.extra_bytes == 12 * one.extra_bytes == 12 * 2 * 64**2 * 4


@pytest.mark.parametrize("method", ["elu", "favor", "taylor", "linformer", "nystrom", "perceiver"])
def test_twice_the_length_is_twice_the_cost_but_for_softmax(method: str):
    short, long = (predict(method, Shape(seq_len=n, head_dim=32)).operations for n in (4096, 8192))
    assert long / short == pytest.approx(2, rel=0.02)
    short, long = (predict("sdpa", Shape(seq_len=n, head_dim=32)).operations for n in (4096, 8192))
    assert long == 4 * short


@pytest.mark.parametrize(("n_terms", "full", "symmetric"), [(1, 1, 1), (2, 4, 4), (3, 13, 10)])
def test_taylor_dimensions_are_counted_by_listing_them(n_terms: int, full: int, symmetric: int):
    assert taylor_features(3, n_terms) == full
    assert taylor_features(3, n_terms, symmetric=True) == symmetric
    products = [p for k in range(n_terms) for p in itertools.product(range(3), repeat=k)]
    assert len(products) == full
    assert len({tuple(sorted(p)) for p in products}) == symmetric


def test_three_terms_at_head_dim_32_need_1057_and_561():
    assert (taylor_features(32, 3), taylor_features(32, 3, symmetric=True)) == (1057, 561)


def test_the_crossover_is_about_the_number_of_features():
    full = Sizes(symmetric=False)
    assert crossover_length("taylor", 32, sizes=full) == pytest.approx(1057, rel=0.02)
    assert crossover_length("elu", 32) == pytest.approx(32, rel=0.02)
    assert crossover_length("favor", 32, sizes=Sizes(n_features=128)) == pytest.approx(
        2 * 128, rel=0.02
    )
    at = crossover_length("taylor", 32, sizes=full)
    for n_tokens, cheaper in ((int(at), "explicit"), (int(at) + 1, "taylor")):
        shape = Shape(seq_len=n_tokens, head_dim=32)
        costs = {m: predict(m, shape, sizes=full).operations for m in ("explicit", "taylor")}
        assert min(costs, key=lambda m: costs[m]) == cheaper


def test_the_perceiver_ratio_counts_pairs():
    n_layers, m, n_tokens = 4, 64, 128
    pairs = sum([m * n_tokens, *([m * m] * (n_layers - 2)), n_tokens * m])
    assert perceiver_ratio(n_layers, m, n_tokens) == pairs / (n_layers * n_tokens**2)
    assert perceiver_ratio(2, n_tokens, n_tokens) == 1.0
    ratios = np.array([perceiver_ratio(6, 64, n) for n in (64, 128, 1024)])
    assert (np.diff(ratios) < 0).all()


def test_forms_that_do_not_exist_are_refused():
    shape = Shape(seq_len=8, head_dim=8)
    for method in ("linformer", "nystrom"):
        with pytest.raises(ValueError, match=f"{method} has no causal form"):
            predict(method, shape, causal=True)
    with pytest.raises(ValueError, match="unknown method 'reformer'; methods: explicit, sdpa"):
        predict("reformer", shape)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="'sdpa' has no feature map; maps: elu, favor, taylor"):
        crossover_length("sdpa", 8)


def test_sizes_below_one_are_refused():
    with pytest.raises(ValueError, match="seq_len is 0; it must be at least 1"):
        Shape(seq_len=0, head_dim=8)
    with pytest.raises(ValueError, match="0 terms of the Taylor series"):
        taylor_features(3, 0)
    with pytest.raises(ValueError, match="1 layers; a Perceiver needs one down and one up"):
        perceiver_ratio(1, 4, 8)
