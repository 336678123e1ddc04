"""Records and the files that keep them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.bench.record import (
    Bench,
    Record,
    Setting,
    merged,
    read_bench,
    record_from_dict,
    write_bench,
)
from core.bench.summary import summaries_of

MakeRecord = Callable[..., Record]
MakeBench = Callable[..., Bench]
KEYS = (
    "method causal pass seq_len head_dim median_seconds p25_seconds p75_seconds peak_bytes "
    "relative_error flags"
).split()


def test_a_report_s_record_has_exactly_the_keys_that_are_asked_for(make_record: MakeRecord):
    for record in (make_record(), make_record(median=None, flags=("refused: too much",))):
        short = record.to_dict(whole=False)
        assert list(short) == KEYS
        assert json.loads(json.dumps(short))["flags"] == list(record.flags)
    assert make_record(pass_name="forward+backward").to_dict()["pass"] == "forward+backward"


def test_a_record_comes_back_from_json_as_it_was(make_record: MakeRecord):
    for record in (make_record(), make_record(median=None, flags=("out of memory",))):
        assert record_from_dict(json.loads(json.dumps(record.to_dict()))) == record
    # What a report prints is enough for a picture.
    short = record_from_dict({**make_record().to_dict(whole=False), "step": 3})
    assert (short.median_seconds, short.quantiles) == (1e-3, ())


def test_a_record_of_generation_has_one_key_more_and_a_setting_of_its_own(
    make_record: MakeRecord,
):
    record = make_record(pass_name="generation", causal=True, kept_bytes=2048)
    short = record.to_dict(whole=False)
    assert list(short) == [*KEYS, "kept_bytes"]
    assert (short["pass"], short["kept_bytes"]) == ("generation", 2048)
    assert record_from_dict(json.loads(json.dumps(record.to_dict()))) == record
    assert [r.setting.question for r in (record, make_record())] == ["generation", "pass"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"median_seconds": 0.0}, "a time is not above 0"),
        ({"p25_seconds": float("inf")}, "a time is not above 0"),
        ({"quantiles": [1.0, -1.0]}, "a time is not above 0"),
        ({"seq_len": 0}, "not above 0"),
        ({"seq_len": "many"}, "not a measurement"),
        ({"flags": 3}, "not a measurement"),
    ],
)
def test_a_damaged_record_is_refused(
    make_record: MakeRecord, changes: dict[str, Any], message: str
):
    with pytest.raises(ValueError, match=message):
        record_from_dict({**make_record().to_dict(), **changes})
    missing = make_record().to_dict()
    del missing["pass"]
    with pytest.raises(ValueError, match="not a measurement: 'pass'"):
        record_from_dict(missing)


def test_a_stored_measurement_comes_back_with_its_settings_in_order(
    make_record: MakeRecord, make_bench: MakeBench, tmp_path: Path
):
    records = (make_record(), make_record("sdpa"), make_record(causal=True))
    bench = make_bench(*records)
    write_bench(tmp_path / "a.json", bench, summaries_of(bench))
    again = read_bench(tmp_path / "a.json")
    assert again == bench
    assert again.settings == [Setting(False, "forward", 32), Setting(True, "forward", 32)]
    assert again.of(again.settings[0]) == list(records[:2])
    stored = json.loads((tmp_path / "a.json").read_text())
    assert sorted(stored) == ["crossovers", "environment", "fits", "machine", "records"]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ({"records": [{}]}, "not a measurement"),
        ({"records": 3}, r"a\.json: "),
        ({"machine": "fast"}, r"a\.json: "),
    ],
)
def test_a_damaged_file_is_named(
    make_bench: MakeBench, tmp_path: Path, damage: dict[str, Any], message: str
):
    path = tmp_path / "a.json"
    write_bench(path, make_bench(), {})
    path.write_text(json.dumps({**json.loads(path.read_text()), **damage}))
    with pytest.raises(ValueError, match=message):
        read_bench(path)
    path.write_text('{"machine": {}}')
    with pytest.raises(ValueError, match=r"a\.json: 'environment' is missing"):
        read_bench(path)


def test_a_second_setting_joins_the_file_and_the_same_one_replaces_it(
    make_record: MakeRecord, make_bench: MakeBench
):
    old = make_bench(make_record(), make_record("sdpa"))
    new = make_bench(make_record(median=2e-3), make_record(causal=True), date="2026-02-01")
    both = merged(old, new)
    assert both.environment["date"] == "2026-02-01"
    assert [(r.method, r.causal, r.median_seconds) for r in both.records] == [
        ("sdpa", False, 1e-3),
        ("elu", False, 2e-3),
        ("elu", True, 1e-3),
    ]


def test_a_size_that_an_older_file_does_not_know_keeps_nothing_apart(
    make_record: MakeRecord, make_bench: MakeBench
):
    old = make_bench(make_record(), sizes={"n_terms": 3})
    new = make_bench(make_record("window", causal=True), sizes={"n_terms": 3, "window": 64})
    both = merged(old, new)
    assert len(both.records) == 2
    assert both.environment["sizes"] == {"n_terms": 3, "window": 64}
    with pytest.raises(ValueError, match="measured with another sizes: name another file"):
        merged(old, make_bench(make_record(), sizes={"n_terms": 2, "window": 64}))


def test_the_roof_of_a_machine_is_the_best_that_was_reached(
    make_record: MakeRecord, make_bench: MakeBench
):
    old = make_bench(make_record(), roof={"bytes_per_second": 3.0, "operations_per_second": 1.0})
    new = make_bench(make_record(), roof={"bytes_per_second": 2.0, "operations_per_second": 4.0})
    roof = merged(old, new).environment["roof"]
    assert roof == {"bytes_per_second": 3.0, "operations_per_second": 4.0}


def test_another_machine_does_not_join(make_record: MakeRecord, make_bench: MakeBench):
    old = make_bench(make_record())
    with pytest.raises(ValueError, match="measured with another threads: name another file"):
        merged(old, make_bench(make_record(), threads=2))
    other = Bench(machine={"processor": "b", "gpu": None}, environment=old.environment, records=())
    with pytest.raises(ValueError, match="measured with another processor"):
        merged(old, other)
