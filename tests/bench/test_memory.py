"""Memory measured in a process apart, beside what the formulas say."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.bench import memory
from core.bench.memory import MemoryMeter
from core.bench.spec import BenchSpec
from core.catalogue import METHODS
from core.theory.costs import predict

LENGTH = 1024
linux = pytest.mark.skipif(
    not os.access("/proc/self/clear_refs", os.W_OK), reason="the peak is known on Linux only"
)


@pytest.fixture(scope="module")
def spec() -> BenchSpec:
    return BenchSpec(methods=METHODS, lengths=(LENGTH,))


@pytest.fixture(scope="module")
def meter(spec: BenchSpec) -> Iterator[MemoryMeter]:
    with MemoryMeter(spec) as running:
        yield running


@linux
def test_the_explicit_form_takes_what_its_formula_says(meter: MemoryMeter, spec: BenchSpec):
    output = 8 * LENGTH * 32 * 4
    expected = predict("explicit", spec.shape(LENGTH)).extra_bytes + output
    found = meter.peak_bytes("explicit", LENGTH)
    assert found == pytest.approx(expected, rel=0.05)


@linux
def test_linear_attention_takes_far_less_and_every_time_the_same(meter: MemoryMeter):
    first, again = (meter.peak_bytes("elu", LENGTH) for _ in range(2))
    explicit = meter.peak_bytes("explicit", LENGTH)
    assert first is not None
    assert again == pytest.approx(first, abs=5e5)
    assert explicit is not None
    assert first < explicit / 10


@linux
def test_an_error_there_is_told_here_and_the_process_lives(meter: MemoryMeter):
    with pytest.raises(ValueError, match="-5"):
        meter.peak_bytes("elu", -5)
    assert meter.peak_bytes("elu", 64) is not None


@linux
def test_a_process_that_is_ended_is_a_memory_error_and_a_new_one_comes(
    spec: BenchSpec, monkeypatch: pytest.MonkeyPatch
):
    wait = subprocess.Popen.wait  # a busy machine may need longer than the meter has patience
    monkeypatch.setattr(subprocess.Popen, "wait", lambda process, timeout=None: wait(process))
    with MemoryMeter(spec) as meter:
        assert meter.peak_bytes("sdpa", 64) is not None
        process = meter._process
        assert process is not None
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        with pytest.raises(MemoryError, match="sdpa at 64 tokens was ended by the system"):
            meter.peak_bytes("sdpa", 64)
        assert meter.peak_bytes("sdpa", 64) is not None
        last = meter._process
    assert last is not None
    assert last.returncode == 0


def test_where_the_peak_is_not_known_nothing_is_said(
    spec: BenchSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(memory, "PROCESS", tmp_path)
    with MemoryMeter(spec) as meter:
        assert meter.peak_bytes("sdpa", 64) is None
        assert meter._process is None
