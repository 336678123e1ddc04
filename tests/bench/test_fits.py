"""Slopes and crossovers of made-up times, whose answers are known."""

from collections.abc import Callable

import numpy as np
import pytest

from core.bench.fits import Crossover, Times, crossings, crossover, fit

LENGTHS = (128, 256, 512, 1024, 2048, 4096)


def times(
    law: Callable[[int], float],
    lengths: tuple[int, ...] = LENGTHS,
    *,
    spread: float = 0.0,
    repeats: int = 20,
) -> Times:
    """Times of a law, each with quantiles that are spread about it by a share."""
    medians = tuple(law(length) for length in lengths)
    shares = np.linspace(-spread, spread, 21)
    quantiles = tuple(tuple(m * (1 + share) for share in shares.tolist()) for m in medians)
    return Times(
        lengths=lengths, medians=medians, quantiles=quantiles, repeats=(repeats,) * len(lengths)
    )


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_the_slope_of_an_exact_power_is_the_power_without_any_error(power: float):
    found = fit(LENGTHS, [3e-6 * length**power for length in LENGTHS])
    assert found is not None
    assert found.slope == pytest.approx(power, abs=1e-12)
    assert found.standard_error == pytest.approx(0, abs=1e-12)
    assert np.exp(found.intercept) == pytest.approx(3e-6)


def test_only_the_last_three_octaves_count():
    seconds = [1.0, 1.0, *(1e-6 * length**2 for length in LENGTHS[2:])]
    found = fit(LENGTHS, seconds)
    assert found is not None
    assert (found.shortest, found.slope) == (512, pytest.approx(2))
    short = fit(LENGTHS[:4], seconds[:4])
    assert short is not None
    assert short.shortest == 128
    assert short.slope < 0.5


def test_the_standard_error_is_that_of_least_squares():
    rng = np.random.default_rng(0)
    x = np.log(np.array(LENGTHS[2:]))
    noise, slopes, errors = 0.05, list[float](), list[float]()
    for _ in range(2000):
        y = 1.3 * x + noise * rng.standard_normal(len(x))
        found = fit(LENGTHS[2:], np.exp(y).tolist())
        assert found is not None
        assert found.standard_error is not None
        slopes.append(found.slope)
        errors.append(found.standard_error**2)
    expected = noise / np.sqrt(((x - x.mean()) ** 2).sum())
    assert np.std(slopes) == pytest.approx(expected, rel=0.05)
    assert np.sqrt(np.mean(errors)) == pytest.approx(expected, rel=0.05)


def test_two_lengths_have_a_slope_without_error_and_one_has_none():
    found = fit((100, 200), (1.0, 4.0))
    assert found is not None
    assert (found.slope, found.standard_error) == (pytest.approx(2), None)
    assert fit((100,), (1.0,)) is None
    assert fit((), ()) is None
    assert fit((10, 1000), (1.0, 4.0)) is None  # too far apart for three octaves


@pytest.mark.parametrize("n_lengths", [3, 4, 7, 12, 14, 40])
def test_the_interval_holds_the_power_in_95_of_100_measurements(n_lengths: int):
    rng = np.random.default_rng(1)
    lengths = np.geomspace(1024, 8192, n_lengths).round().astype(int).tolist()
    y = 1.3 * np.log(lengths) + 0.05 * rng.standard_normal((3000, n_lengths))
    held = 0
    for times in np.exp(y):
        found = fit(lengths, times.tolist())
        assert found is not None
        assert found.half_width is not None
        held += abs(found.slope - 1.3) <= found.half_width
    assert held / 3000 == pytest.approx(0.95, abs=0.012)


@pytest.mark.parametrize(
    ("law", "lengths", "doubt"),
    [
        (lambda n: 1e-9 * n * n, LENGTHS, None),
        (lambda n: 1e-6 * n, LENGTHS, None),
        (lambda n: 1e-9 * n * n, (512, 1024), "too few lengths"),
        (lambda n: 1e-9 * n * n, (16, 24, 32, 48, 64), "too short"),
        (lambda n: 1e-9 * n * n, (16, 32, 64, 128), "too short"),
        (lambda n: 2e-3 + 1e-6 * n, LENGTHS[:4], "too short"),  # what a call costs
        (lambda n: 1e-9 * n * n * (4 if n == 2048 else 1), LENGTHS, "too uncertain"),
    ],
)
def test_a_power_is_doubted_where_the_lengths_do_not_tell_it(
    law: Callable[[int], float], lengths: tuple[int, ...], doubt: str | None
):
    found = fit(lengths, [law(n) for n in lengths])
    assert found is not None
    assert found.doubt == doubt


def test_short_lengths_do_not_count_where_there_are_others():
    lengths = (64, 128, 256, 512)
    found = fit(lengths, [1.0, *(1e-9 * n**2 for n in lengths[1:])])
    assert found is not None
    assert (found.shortest, found.n_lengths, found.doubt) == (128, 3, None)
    assert found.slope == pytest.approx(2)


def test_crossings_are_interpolated_in_the_logarithm_of_the_length():
    # t_a / t_b = 1000 / L crosses 1 at 1000, between 512 and 1024.
    ratio = np.log(1000 / np.array(LENGTHS))
    assert crossings(LENGTHS, ratio) == [pytest.approx(1000)]
    assert crossings(LENGTHS, np.full(6, 0.1)) == []
    assert crossings((1, 2, 4), np.array([1.0, -1.0, 1.0])) == pytest.approx([2**0.5, 2**1.5])


@pytest.mark.parametrize(
    ("law", "expected"),
    [
        (lambda n: 1e-7 * n, Crossover(verdict="always")),
        (lambda n: 1e-2 * n, Crossover(verdict="not in range")),
    ],
)
def test_without_a_crossing_a_verdict_says_which_side(
    law: Callable[[int], float], expected: Crossover
):
    assert crossover(times(law), times(lambda n: 1e-9 * n * n + 1e-4)) == expected


def test_a_crossing_has_its_length_and_an_interval_about_it():
    linear, square = times(lambda n: 1e-6 * n, spread=0.1), times(lambda n: 2e-9 * n * n)
    found = crossover(linear, square)
    assert found is not None
    assert (found.verdict, found.seq_len) == ("from", pytest.approx(500))
    assert found.low is not None
    assert found.high is not None
    assert 470 < found.low < 500 < found.high < 530
    back = crossover(square, linear)
    assert back is not None
    assert (back.verdict, back.seq_len) == ("up to", pytest.approx(500))


def test_a_wider_spread_or_fewer_repeats_widen_the_interval():
    square = times(lambda n: 2e-9 * n * n)

    def width(spread: float, repeats: int) -> float:
        found = crossover(times(lambda n: 1e-6 * n, spread=spread, repeats=repeats), square)
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        return found.high - found.low

    assert width(0.0, 20) == pytest.approx(0, abs=1e-6)
    assert width(0.2, 20) > 1.5 * width(0.1, 20)
    assert width(0.1, 5) > 1.5 * width(0.1, 50)


@pytest.mark.parametrize("backwards", [False, True])
def test_a_crossing_near_the_end_has_an_interval_that_reaches_it(backwards: bool):
    one = times(lambda n: 1e-6 * n, spread=0.3, repeats=5)
    other = times(lambda n: 1e-6 * n * n / 3900, spread=0.3, repeats=5)
    found = crossover(other, one) if backwards else crossover(one, other)
    assert found is not None
    assert found.seq_len == pytest.approx(3900)
    assert found.high == 4096
    assert found.low is not None
    assert 2048 < found.low < 3900


def test_several_crossings_are_an_answer_too():
    bumpy = Times(lengths=LENGTHS, medians=(2.0, 0.5, 2.0, 0.5, 0.5, 0.5))
    found = crossover(bumpy, Times(lengths=LENGTHS, medians=(1.0,) * 6))
    assert found is not None
    assert (found.verdict, found.seq_len) == ("several", None)
    assert found.low == pytest.approx(128 * 2**0.5)
    assert found.high == pytest.approx(512 * 2**0.5)


def test_only_lengths_of_both_are_compared():
    short = times(lambda n: 1e-6 * n, (128, 512))
    found = crossover(short, times(lambda n: 2e-9 * n * n, (512, 1024)))
    assert found == Crossover(verdict="always")
    assert crossover(short, times(lambda n: 1.0, (64,))) is None


def test_the_same_seed_draws_the_same_interval():
    one, other = times(lambda n: 1e-6 * n, spread=0.2), times(lambda n: 2e-9 * n * n, spread=0.2)
    assert crossover(one, other, seed=1) == crossover(one, other, seed=1)
    assert crossover(one, other, seed=1) != crossover(one, other, seed=2)


def test_not_to_grow_is_an_answer_of_a_step_alone():
    flat = times(lambda n: 1e-4)
    found = fit(flat.lengths, flat.medians)
    assert found is not None
    assert (found.doubt, found.doubt_of_step) == ("too short", None)
    few = fit((128, 256), (1e-4, 1e-4))
    assert few is not None
    assert few.doubt_of_step == "too few lengths"
    wild = fit((128, 256, 512), (1e-4, 9e-4, 1e-4))
    assert wild is not None
    assert wild.doubt_of_step == "too uncertain"
