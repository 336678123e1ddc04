"""Curves: what was measured, what the formulas say, and the machine's floor."""

from collections.abc import Callable
from typing import Any

import pytest

from core.bench.curves import (
    floors,
    kept_curves,
    memory_curves,
    not_run,
    sizes_of,
    small_curves,
    time_curves,
)
from core.bench.record import Bench, Record
from core.catalogue import family, label
from core.theory.costs import Shape, Sizes, floor_seconds, predict

MakeRecord = Callable[..., Record]
MakeBench = Callable[..., Bench]
ROOF = {"bytes_per_second": 1e10, "operations_per_second": 1e11}


@pytest.fixture
def measured(make_record: MakeRecord, make_bench: MakeBench) -> Callable[..., Bench]:
    def make(*records: Record, **environment: Any) -> Bench:
        told: dict[str, Any] = {"n_heads": 2, "batch": 1, "dtype": "float32", "roof": ROOF}
        return make_bench(*records, **{**told, **environment})

    return make


def test_a_formula_meets_the_longest_measured_time_and_goes_on(
    make_record: MakeRecord, measured: Callable[..., Bench]
):
    records = [make_record("sdpa", n, 1e-9 * n * n) for n in (512, 128, 256)]
    records += [make_record("elu", 1024, 1e-3)]
    bench = measured(*records)
    curve = next(c for c in time_curves(bench, records[0].setting) if c.method == "sdpa")
    assert [point.seq_len for point in curve.points] == [128, 256, 512]
    assert dict(curve.predicted)[512] == pytest.approx(1e-9 * 512**2)
    assert dict(curve.predicted)[1024] == pytest.approx(4e-9 * 512**2)
    assert curve.slope is not None
    assert curve.slope.slope == pytest.approx(2)
    point = curve.points[0]
    assert (point.low, point.high) == pytest.approx((0.9 * point.value, 1.1 * point.value))


def test_a_refused_length_has_no_point_and_is_told(
    make_record: MakeRecord, measured: Callable[..., Bench]
):
    records = [
        make_record("explicit", 128, 1e-3),
        make_record("explicit", 256, None, flags=("refused: too much",)),
    ]
    (curve,) = time_curves(measured(*records), records[0].setting)
    assert len(curve.points) == 1
    assert curve.slope is None
    assert dict(curve.predicted)[256] == pytest.approx(4e-3)
    assert not_run(records) == [("explicit", 256, "refused: too much")]


def test_a_method_that_never_ran_has_nothing_to_meet(
    make_record: MakeRecord, measured: Callable[..., Bench]
):
    records = [make_record("nystrom", 128, None, causal=True, flags=("no causal form: x",))]
    (curve,) = time_curves(measured(*records), records[0].setting)
    assert (curve.points, curve.predicted) == ((), ())


def test_memory_by_formula_holds_the_output(
    make_record: MakeRecord, measured: Callable[..., Bench]
):
    records = [make_record("explicit", n, 1e-3, peak_bytes=n * n) for n in (128, 256)]
    records += [make_record("sdpa", 128, 1e-3, peak_bytes=0)]
    bench = measured(*records)
    explicit, sdpa = memory_curves(bench, records[0].setting)
    extra = predict("explicit", Shape(seq_len=256, head_dim=32, n_heads=2)).extra_bytes
    assert dict(explicit.predicted)[256] == extra + 2 * 256 * 32 * 4
    assert [point.value for point in explicit.points] == [128**2, 256**2]
    assert sdpa.points == ()
    both = [make_record("explicit", 128, 1e-3, pass_name="forward+backward")]
    (curve,) = memory_curves(measured(*both), both[0].setting)
    assert (curve.predicted, len(curve.points)) == ((), 1)


def test_sizes_in_a_formula_are_those_of_the_measurement(
    make_record: MakeRecord, measured: Callable[..., Bench]
):
    records = [make_record("favor", 128, 1e-3), make_record("favor", 256, 2e-3)]
    bench = measured(*records, sizes={"n_features": 16, "from_the_future": 3})
    assert sizes_of(bench) == Sizes(n_features=16)
    (curve,) = memory_curves(bench, records[0].setting)
    shape = Shape(seq_len=256, head_dim=32, n_heads=2)
    extra = predict("favor", shape, sizes=Sizes(n_features=16)).extra_bytes
    assert dict(curve.predicted)[256] == extra + 2 * 256 * 32 * 4


def test_a_method_of_a_later_version_is_drawn_without_a_formula(
    make_record: MakeRecord, measured: Callable[..., Bench]
):
    records = [make_record("mamba", 128, 1e-3), make_record("mamba", 256, 2e-3)]
    for curves in (time_curves, memory_curves):
        (curve,) = curves(measured(*records), records[0].setting)
        assert (len(curve.points), curve.predicted) == (2, ())
    assert (label("mamba"), family("mamba")) == ("mamba", "no pairs")


def test_the_floor_follows_from_the_roof(make_record: MakeRecord, measured: Callable[..., Bench]):
    records = [make_record("elu", n, 1e-3) for n in (128, 1024)]
    found = floors(measured(*records), records[0].setting)
    moving, products = found["moving inputs and outputs"], found["the products of softmax"]
    assert moving[0] == (128, pytest.approx(4 * 2 * 128 * 32 * 4 / 1e10))
    assert products[1] == (1024, pytest.approx(4 * 2 * 1024**2 * 32 / 1e11))
    assert floors(measured(*records, roof={}), records[0].setting) == {}


def test_curves_of_generation_are_what_a_step_takes_and_what_is_kept(
    make_record: MakeRecord, measured: Callable[..., Bench]
):
    def step(method: str, n: int, seconds: float, kept: int | None) -> Record:
        given = {"pass_name": "generation", "causal": True, "kept_bytes": kept}
        return make_record(method, n, seconds if kept else None, **given)

    records = [step("sdpa", n, 1e-6 * n, 128 * n) for n in (128, 256, 512)]
    records += [step("delta", n, 1e-4, 8192) for n in (128, 256, 512)]
    records += [step("bigbird", 128, 1e-4, None), step("mamba", 128, 1e-4, 10)]
    bench = measured(*records)
    times = {c.method: c for c in time_curves(bench, records[0].setting)}
    kept = {c.method: c for c in kept_curves(bench, records[0].setting)}
    assert [value for _, value in times["delta"].predicted] == pytest.approx([1e-4] * 3)
    assert dict(times["sdpa"].predicted)[128] == pytest.approx(1.28e-4)
    assert [point.value for point in kept["delta"].points] == [8192] * 3
    assert [value for _, value in kept["delta"].predicted] == [2 * 32 * 32 * 4] * 3
    slope = kept["sdpa"].slope
    assert slope is not None
    assert slope.slope == pytest.approx(1)
    assert (kept["bigbird"].points, kept["mamba"].predicted) == ((), ())
    (floor,) = floors(bench, records[0].setting).items()
    assert floor[0] == "reading all keys and values"
    assert floor[1][0] == (128, pytest.approx(2 * 2 * 128 * 32 * 4 / 1e10))


def test_a_causal_form_needs_half_the_products_and_a_way_back_three_times_as_many():
    shape = Shape(seq_len=64, head_dim=8)
    rates: dict[str, Any] = {"bytes_per_second": 1.0, "operations_per_second": 1.0}
    moving, products = floor_seconds(shape, **rates)
    assert floor_seconds(shape, causal=True, **rates) == (moving, products / 2)
    assert floor_seconds(shape, backward=True, **rates) == (2 * moving, 3 * products)


def test_a_small_picture_has_the_lengths_that_all_its_methods_share(
    make_record: MakeRecord, measured: Callable[..., Bench]
):
    records = [make_record("sdpa", n, 1e-3 * n**2) for n in (1, 2, 4)]
    records += [make_record("elu", n, 1e-3 * n) for n in (2, 4, 8)]
    found = small_curves(measured(*records), ["sdpa", "elu"])
    # Logarithms of 4, 16 and of 2, 4: from 1 to 4.
    assert found.tolist() == [pytest.approx([1 / 3, 1]), pytest.approx([0, 1 / 3])]
    assert small_curves(measured(*records), ["sdpa", "favor"]).size == 0
    assert small_curves(measured(), ["sdpa"]).size == 0
