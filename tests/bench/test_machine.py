"""What is stored with every number."""

import json
from collections.abc import Callable

import pytest

from core.bench import machine
from core.bench.machine import OtherProcesses, describe_environment, describe_machine, sdpa_backend
from core.bench.spec import BenchSpec

Quick = Callable[..., BenchSpec]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "COPIED_BYTES", 2**20)
    monkeypatch.setattr(machine, "MATRIX_SIDE", 64)


def test_the_machine_is_its_hardware_and_nobody_s_name(monkeypatch: pytest.MonkeyPatch):
    told = describe_machine("cpu")
    assert sorted(told) == ["cores", "gpu", "memory_gb", "processor", "system"]
    assert told["gpu"] is None
    assert told["processor"]
    json.dumps(told)


def test_the_environment_says_what_times_depend_on(quick: Quick, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OMP_WAIT_POLICY", "passive")
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    told = describe_environment(quick())
    assert told["variables"]["OMP_WAIT_POLICY"] == "passive"
    assert told["variables"]["GLIBC_TUNABLES"] is None
    assert (told["threads"], told["dtype"], told["n_heads"]) == (1, "float32", 2)
    assert told["float32_matmul_precision"] == "highest"
    assert told["sizes"]["n_features"] == 128
    assert all(rate > 1e6 for rate in told["roof"].values())
    assert len(told["date"]) == 10
    json.dumps(told)


def test_the_kernel_behind_sdpa_is_named(quick: Quick):
    assert sdpa_backend(quick()) in ("math", "flash_attention")


def test_the_share_of_others_is_what_is_not_ours(monkeypatch: pytest.MonkeyPatch):
    readings = iter([(100.0, 10.0, 5.0), (200.0, 70.0, 45.0), (100.0, 10.0, 5.0)])
    monkeypatch.setattr(machine, "_busy", lambda: next(readings))
    assert OtherProcesses().share == pytest.approx(0.2)
    monkeypatch.setattr(machine, "_busy", lambda: (1.0, 1.0, 1.0))
    assert OtherProcesses().share == 0.0


def test_real_readings_make_a_share():
    others = OtherProcesses()
    sum(range(100_000))
    assert 0 <= others.share <= 1
