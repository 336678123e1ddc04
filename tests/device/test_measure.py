"""The script for a machine with a GPU keeps what it has, whatever fails; it runs nothing here."""

import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from core.bench.record import read_bench
from core.files import write_json
from tests.device import measure
from tests.device.measure import BUDGETS, MOST_SECONDS, PARTS, Plan, measured, report


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return Plan(device="cpu", quick=False, folder=tmp_path)


def test_the_parts_have_the_time_of_the_whole_and_no_more():
    assert sum(BUDGETS.values()) <= MOST_SECONDS == 240
    assert list(BUDGETS) == list(PARTS)


def test_a_part_that_fails_is_told_and_loses_nothing_else(
    plan: Plan, capsys: pytest.CaptureFixture[str]
):
    def fails(_plan: Plan, _seconds: float) -> dict[str, Any]:
        raise RuntimeError("CUDA error:\n unknown")

    parts = {"training": fails, "trace": lambda _plan, _seconds: {"answer": "Lima"}}
    found = measured(plan, parts)
    assert found["trace"] == {"answer": "Lima"}
    assert found["failed"] == {"training": "RuntimeError: CUDA error: unknown"}
    assert list(found["seconds"]) == ["training", "trace"]
    assert "training: RuntimeError: CUDA error: unknown in" in capsys.readouterr().err


def test_a_part_has_its_own_seconds_and_never_more_than_are_left(plan: Plan):
    given: list[float] = []
    clock: Iterator[int] = count(0, 70)  # as if 70 s passed between two looks

    def note(_plan: Plan, seconds: float) -> dict[str, Any]:
        given.append(seconds)
        return {}

    names = ("training", "mechanisms")
    measured(plan, dict.fromkeys(names, note), clock=lambda: next(clock))
    assert given == [100, 30]


def test_the_file_is_a_stored_machine_with_more_beside_it(plan: Plan, tmp_path: Path):
    stored = {"machine": {"processor": "A"}, "environment": {"torch": "2"}, "records": []}
    write_json(tmp_path / "bench.json", stored)
    told = {"file": str(tmp_path / "bench.json"), "problems": ["forward: too slow"]}
    found = {"mechanisms": told, "failed": {}, "trace": {"answer": "Lima"}}
    write_json(tmp_path / "out.json", report(plan, found))
    read = read_bench(tmp_path / "out.json")
    assert read.environment == {"torch": "2"}
    whole = report(plan, {"failed": {}, "trace": {"answer": "Lima"}})
    assert (whole["trace"], whole["device"]) == ({"answer": "Lima"}, "cpu")
    assert whole["records"] == []


def test_a_program_that_takes_too_long_is_ended_and_its_error_is_told():
    waits = [sys.executable, "-c", "import time; time.sleep(600)"]
    began = time.monotonic()
    with pytest.raises(RuntimeError, match="^more than 1 s$"):
        measure._said(waits, 1.0)
    assert time.monotonic() - began < 600
    with pytest.raises(RuntimeError, match="^ValueError: no$"):
        measure._said([sys.executable, "-c", "raise ValueError('no')"], 60.0)
    assert measure._said([sys.executable, "-c", "print('yes')"], 60.0) == "yes\n"
