"""Reports: slopes and crossovers of records, by setting."""

from collections.abc import Callable

import pytest

from core.bench.record import Bench, Record
from core.bench.summary import (
    crossovers_of,
    fits_of,
    report_of,
    summaries_of,
    times_of,
)

MakeRecord = Callable[..., Record]
MakeBench = Callable[..., Bench]
LENGTHS = (128, 256, 512, 1024)


@pytest.fixture
def records(make_record: MakeRecord) -> list[Record]:
    """SDPA grows with the square, elu+1 with the length: they cross at 400; the explicit form is
    twice as slow as SDPA, and was refused at the longest length.
    """
    found: list[Record] = []
    for n in LENGTHS:
        found += [
            make_record("explicit", n, None if n == 1024 else 2e-9 * n * n),
            make_record("sdpa", n, 1e-9 * n * n),
            make_record("elu", n, 4e-7 * n),
        ]
    return found


def test_times_leave_out_what_was_not_run(records: list[Record]):
    assert times_of(records, "explicit").lengths == LENGTHS[:3]
    assert times_of(records[::-1], "sdpa").lengths == LENGTHS
    assert times_of(records, "favor").lengths == ()


def test_every_method_has_its_slope(records: list[Record]):
    slopes = {method: fit.slope for method, fit in fits_of(records).items()}
    assert slopes == pytest.approx({"explicit": 2, "sdpa": 2, "elu": 1})


def test_methods_are_compared_with_both_baselines_and_these_not_with_each_other(
    records: list[Record],
):
    found = crossovers_of(records)
    assert list(found) == [("elu", "sdpa"), ("elu", "explicit")]
    assert found["elu", "sdpa"].seq_len == pytest.approx(400)
    assert found["elu", "explicit"].seq_len == pytest.approx(200)
    assert found["elu", "sdpa"].verdict == "from"
    without = [record for record in records if record.method != "sdpa"]
    assert list(crossovers_of(without)) == [("elu", "explicit")]


def test_a_report_has_exactly_the_keys_that_are_asked_for(
    records: list[Record], make_bench: MakeBench
):
    report = report_of(make_bench(*records))
    assert set(report) == {"machine", "environment", "records", "fits", "crossovers"}
    assert all(set(row) == {"method", "slope", "standard_error"} for row in report["fits"])
    keys = {"method", "baseline", "seq_len", "low", "high", "verdict"}
    assert all(set(row) == keys for row in report["crossovers"])
    assert "quantiles" not in report["records"][0]


def test_settings_of_a_file_are_never_mixed(
    records: list[Record], make_bench: MakeBench, make_record: MakeRecord
):
    causal = [make_record("elu", n, 9e-7 * n, causal=True) for n in LENGTHS]
    causal += [make_record("sdpa", n, 1e-9 * n * n, causal=True) for n in LENGTHS]
    found = summaries_of(make_bench(*records, *causal))
    assert [(row["causal"], row["seq_len"]) for row in found["crossovers"]] == [
        (False, pytest.approx(400)),
        (False, pytest.approx(200)),
        (True, pytest.approx(900)),
    ]
    assert {(row["pass"], row["head_dim"]) for row in found["fits"]} == {("forward", 32)}
    assert len(found["fits"]) == 5
