"""How many pairs are recalled: facts that hold for any draw, theory against sample, refusals."""

import numpy as np
import pytest

from core.memory.capacity import measure_capacity
from core.memory.coefficients import coefficients
from core.memory.pairs import draw_pairs
from core.memory.spec import LINEAR, MATRICES, METHODS, MOST_PAIRS, MemorySpec, state_numbers
from core.theory.recall import delta_moments, half_lost, linear_moments, recall_share

SPEC = MemorySpec(dim=32, window=16, n_draws=40)
PAIRS = (8, 32, 64, 128)


def test_what_keeps_everything_recalls_it_and_a_window_what_is_in_it():
    found = measure_capacity(SPEC, pairs=PAIRS, methods=("softmax", "window"))
    assert [rate.value for rate in found.recalled["softmax"]] == [1.0] * 4
    assert [rate.value for rate in found.recalled["window"]] == [1.0, 0.5, 0.25, 0.125]
    assert found.theory == {"softmax": None, "window": (1.0, 0.5, 0.25, 0.125)}
    assert found.half("window") == pytest.approx(32)
    assert found.half("softmax") is None


@pytest.mark.parametrize("dim", [32, 64])
def test_theory_lies_within_four_points_of_the_sample(dim: int):
    spec = MemorySpec(dim=dim, n_draws=24)
    pairs = (dim // 2, dim, 2 * dim, 4 * dim, 8 * dim)
    found = measure_capacity(spec, pairs=pairs, methods=MATRICES)
    for method in MATRICES:
        theory = found.theory[method]
        assert theory is not None
        for share, rate in zip(theory, found.recalled[method], strict=True):
            error = max(rate.value - rate.low, rate.high - rate.value)
            assert abs(share - rate.value) < 0.04 + error, (method, dim)


def test_pairs_and_seed_give_the_same_again_in_any_order():
    one = measure_capacity(SPEC, pairs=(8, 64), methods=(LINEAR, "delta"))
    other = measure_capacity(SPEC, pairs=(64, 8, 8), methods=(LINEAR, "delta"))
    assert one == other
    alone = measure_capacity(SPEC, pairs=(64,), methods=("delta",))
    assert alone.recalled["delta"][0] == one.recalled["delta"][1]


def test_progress_is_told_for_each_mechanism_and_number():
    told: list[str] = []
    measure_capacity(SPEC, pairs=(8, 16), methods=(LINEAR,), progress=told.append)
    assert told == ["linear, 8 pairs", "linear, 16 pairs"]


@pytest.mark.parametrize("decay", [1.0, 0.97])
def test_second_moments_are_those_of_samples(decay: float):
    spec = MemorySpec(dim=12, n_draws=1000, decay=decay, delta_decay=decay)
    keys, _ = draw_pairs(spec, 10, 10)
    for method, moments in (
        ("gate", linear_moments(10, 12, decay=decay)),
        ("gated-delta", delta_moments(10, 12, decay=decay)),
    ):
        found = coefficients(method, keys, keys, spec).astype(float)
        squares = (found**2).mean(0)
        error = (found**2).std(0) / 1000**0.5
        own = np.einsum("tii->ti", found)
        np.fill_diagonal(squares, 0.0)
        np.fill_diagonal(error, 0.0)
        assert (np.abs(squares - moments.noise) <= 5 * error + 1e-6).all(), method
        signal_error = own.std(0) / 1000**0.5
        assert (np.abs(own.mean(0) - moments.signal) <= 5 * signal_error + 1e-6).all(), method
        assert np.allclose(own.var(0), moments.jitter, rtol=0.3, atol=1e-6), method


def test_a_share_falls_with_the_pairs_and_rises_with_the_numbers():
    falling = [recall_share(linear_moments(n, 32), 32) for n in (8, 32, 128, 512)]
    assert falling == sorted(falling, reverse=True)
    rising = [recall_share(linear_moments(128, dim), dim) for dim in (8, 16, 32, 64)]
    assert rising == sorted(rising)
    assert 0 <= falling[-1] < 0.1 < 0.99 < falling[0] <= 1 + 1e-12


def test_the_half_lies_between_two_that_were_measured():
    assert half_lost([8, 32], [0.75, 0.25]) == pytest.approx(16)
    assert half_lost([8, 32], [0.4, 0.2]) is None
    assert half_lost([8, 32], [1.0, 0.9]) is None


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ((), "no number of pairs"),
        ((1,), "1 pairs: 2 to 1,024 are possible"),
        ((MOST_PAIRS + 1,), "1025 pairs: 2 to 1,024"),
        ((1024,), "1024 pairs in 40 draws are 41,943,040 numbers a mechanism: at most 6,291,456"),
    ],
)
def test_numbers_that_cannot_be_measured_are_refused(pairs: tuple[int, ...], message: str):
    with pytest.raises(ValueError, match=message):
        measure_capacity(SPEC, pairs=pairs)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dim": 3}, "dim is 3: 4 to 256 are possible"),
        ({"dim": 4.5}, "dim is 4.5: a whole number is needed"),
        ({"beta": float("nan")}, "beta is nan: 0.5 to 64 are possible"),
        ({"decay": 1.5}, "decay is 1.5: 0 to 1 are possible"),
        ({"n_draws": True}, "n_draws is True: a whole number is needed"),
        ({"delta_decay": "1"}, "delta_decay is '1': a number is needed"),
    ],
)
def test_sizes_that_are_none_are_refused(changes: dict[str, object], message: str):
    with pytest.raises(ValueError, match=message):
        MemorySpec(**changes)  # pyright: ignore[reportArgumentType]


def test_a_state_stays_and_a_cache_grows():
    for method in METHODS:
        few, many = (state_numbers(method, SPEC, n) for n in (100, 1000))
        assert (many > few) == (method == "softmax"), method
    assert state_numbers(LINEAR, SPEC, 8) == 32 * 32
    assert state_numbers("taylor", SPEC, 8) == 33 * 34 // 2 * 33
