"""Memory of forward passes, counted from the tensors that live at the same time.

What a matrix product needs inside itself is not counted; tests/benchmarks/attention.py measures
what the process takes.
"""

import weakref
from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

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
from core.theory.costs import Shape, Sizes, predict, taylor_features

N_HEADS, CHUNK = 8, 64


class Living(TorchDispatchMode):
    """The most bytes of storage that lived at once, but for what was there before."""

    def __init__(self, *known: Tensor) -> None:
        super().__init__()
        self.known = {x.untyped_storage()._cdata for x in known}
        self.living: dict[int, int] = {}
        self.most = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            if isinstance(leaf, Tensor):
                self.count(leaf.untyped_storage())
        return result

    def count(self, storage: torch.UntypedStorage) -> None:
        name = storage._cdata
        if name not in self.known and name not in self.living:
            self.living[name] = storage.nbytes()
            weakref.finalize(storage, self.living.pop, name, None)
            self.most = max(self.most, sum(self.living.values()))


def most_bytes(run: Callable[[], object], *known: Tensor) -> int:
    """The output counts, what is passed in does not."""
    with torch.no_grad(), Living(*known) as living:
        run()
    return living.most


def causal_bytes(feature_map: FeatureMap, n_tokens: int, d: int) -> int:
    x = torch.zeros(1, N_HEADS, n_tokens, d)
    return most_bytes(lambda: linear.attend(x, x, x, feature_map, causal=True, chunk=CHUNK), x)


def test_the_count_knows_what_lives_at_once():
    x = torch.zeros(1000)
    assert most_bytes(lambda: (x + 1) * 2, x) == 8000
    assert most_bytes(lambda: [x + i for i in range(3)], x) == 12000
    assert most_bytes(lambda: x.view(10, 100), x) == 0


@pytest.mark.parametrize("d", [32, 64])
def test_causal_elu_needs_less_than_three_times_what_goes_in_and_out(d: int):
    n_tokens = 8192
    in_and_out = 4 * N_HEADS * n_tokens * d * 4
    inputs = 3 * N_HEADS * n_tokens * d * 4
    assert inputs + causal_bytes(elu, n_tokens, d) < 3 * in_and_out
    assert causal_bytes(elu, n_tokens, d) < in_and_out


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("d", [32, 64])
def test_taylor_needs_at_most_half_as_much_again_and_a_chunk(d: int, symmetric: bool):
    n_tokens = 8192
    a_chunk = N_HEADS * CHUNK * taylor_features(d, 3, symmetric=symmetric) * 4
    feature_map = taylor.feature_map(d, 3, symmetric=symmetric)
    allowed = 1.5 * causal_bytes(elu, n_tokens, d) + a_chunk
    assert causal_bytes(feature_map, n_tokens, d) <= allowed


def test_large_features_are_formed_anew_on_the_way_back(monkeypatch: pytest.MonkeyPatch):
    x = torch.zeros(1, N_HEADS, 1024, 32).requires_grad_()
    feature_map = taylor.feature_map(32, 3, symmetric=False)
    most: dict[bool, int] = {}
    for kept in (True, False):
        monkeypatch.setattr("core.attention.linear_parts.KEEP", 2**40 if kept else 0)
        with Living(x) as living:
            linear.attend(x, x, x, feature_map, causal=True).sum().backward()
        most[kept] = living.most
    both = 2 * N_HEADS * 1024 * taylor_features(32, 3) * 4
    assert most[True] > both > 1.5 * most[False]


def test_carrying_nothing_takes_no_memory():
    x = torch.zeros(1, N_HEADS, 1, 64)
    feature_map = taylor.feature_map(64, 3)
    assert linear.start(x, x, feature_map).sums.untyped_storage().nbytes() == 4


def runs(n_tokens: int, d: int, sizes: Sizes) -> dict[tuple[str, bool], Callable[[], object]]:
    """A forward pass of each method, causal or not; all inputs are zeros."""
    x = torch.zeros(1, N_HEADS, n_tokens, d)
    rows = torch.zeros(sizes.n_features, d)
    mix = torch.zeros(sizes.n_mixed, n_tokens)
    basis = torch.zeros(N_HEADS, sizes.n_latents, d)
    table = torch.zeros(N_HEADS, n_tokens, n_tokens)
    maps: dict[str, FeatureMap] = {
        "elu": elu,
        "favor": favor.feature_map(rows),
        "taylor": taylor.feature_map(d, sizes.n_terms, symmetric=sizes.symmetric),
    }
    found: dict[tuple[str, bool], Callable[[], object]] = {
        ("explicit", False): lambda: softmax.attend(x, x, x),
        ("sdpa", False): lambda: sdpa.attend_all(x, x, x),
        ("linformer", False): lambda: linformer.attend(x, x, x, mix, mix),
        ("nystrom", False): lambda: nystrom.attend(x, x, x, n_landmarks=sizes.n_landmarks),
        ("synthesizer", False): lambda: synthesizer.attend(
            synthesizer.random_scores(table, n_tokens, n_tokens), x
        ),
        ("perceiver", False): lambda: perceiver.attend(x, x, x, basis),
    }
    for causal in (False, True):
        for name, feature_map in maps.items():
            found[name, causal] = lambda m=feature_map, c=causal: linear.attend(
                x, x, x, m, causal=c, chunk=sizes.chunk
            )
        blocks = bigbird.draw_blocks(
            -(-n_tokens // sizes.block_size), causal=causal, generator=torch.Generator()
        )
        found["bigbird", causal] = lambda b=blocks, c=causal: bigbird.attend(
            x, x, x, b, block_size=sizes.block_size, causal=c
        )
    rates, features = torch.zeros(1, N_HEADS, n_tokens), based.feature_map(d)
    found |= {
        ("delta", True): lambda: delta.attend(x, x, x, rates, chunk=sizes.chunk),
        ("gated-delta", True): lambda: gated_delta.attend(x, x, x, rates, rates, chunk=sizes.chunk),
        ("gate", True): lambda: gate.attend(x, x, x, rates, chunk=sizes.chunk),
        ("window", True): lambda: window.attend(
            x, x, x, window=sizes.window, n_sinks=sizes.n_sinks
        ),
        ("based", True): lambda: based.attend(x, x, x, features, window=sizes.window),
    }
    return found


CASES = list(runs(64, 4, Sizes()))


@pytest.mark.parametrize("n_tokens", [512, 2048])
@pytest.mark.parametrize(("method", "causal"), CASES)
def test_the_formula_is_within_a_factor_of_two(method: str, causal: bool, n_tokens: int):
    d, sizes = 32, Sizes()
    output = N_HEADS * n_tokens * d * 4
    before = torch.zeros(0)
    measured = most_bytes(runs(n_tokens, d, sizes)[method, causal], before) - output
    cost = predict(method, Shape(seq_len=n_tokens, head_dim=d), causal=causal, sizes=sizes)
    assert 0.5 < measured / cost.extra_bytes < 2
