"""The one place that knows CUDA, MPS and the processor, on a machine that may have neither GPU."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from core import devices
from core.paths import ROOT


@pytest.fixture
def sees(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Says which GPUs torch sees."""

    def say(*gpus: str, n_cuda: int = 1) -> None:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: "cuda" in gpus)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: n_cuda)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: "mps" in gpus)

    return say


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A made-up card: what it was asked, in order."""
    asked: list[str] = []

    class Event:
        def __init__(self, *, enable_timing: bool) -> None:
            assert enable_timing

        def record(self, stream: str) -> None:
            asked.append(f"record on {stream}")

        def elapsed_time(self, _: Any) -> float:
            return 2500.0  # milliseconds

    def note(name: str, value: Any = None) -> Callable[..., Any]:
        return lambda *on: (asked.append(" ".join([name, *on])), value)[1]

    answers = {"memory_allocated": 100, "max_memory_allocated": 142, "mem_get_info": (7000, 9000)}
    for name in ("synchronize", "reset_peak_memory_stats", "empty_cache", *answers):
        monkeypatch.setattr(torch.cuda, name, note(name, answers.get(name)))
    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: f"the stream of {device}")
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: f"The card {device}")
    return asked


def test_nothing_else_asks_torch_about_a_device():
    files = [ROOT / "app.py", *(ROOT / "core").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]
    assert len(files) > 100
    gpus = [device for device in devices.DEVICES if device != "cpu"]
    signs = ["torch.accelerator", *(f"torch.{gpu}" for gpu in gpus)]
    signs += [f"backends.{gpu}" for gpu in gpus]
    asking = {
        path.relative_to(ROOT).as_posix()
        for path in files
        for sign in signs
        if sign in path.read_text(encoding="utf-8")
    }
    assert asking == {"core/devices.py"}


def test_the_ground_loads_no_torch():
    code = "import sys, core.devices, core.catalogue; assert 'torch' not in sys.modules"
    code += "; core.devices.devices_at_hand(); core.devices.free_bytes()"
    code += "; core.devices.resolve_device('cpu'); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env={**os.environ}, check=True)


@pytest.mark.parametrize(
    ("there", "system", "expected"),
    [
        (False, ("Linux", "x86_64"), ["cpu"]),
        (True, ("Linux", "x86_64"), ["cpu", "cuda"]),
        (False, ("Darwin", "arm64"), ["cpu", "mps"]),
    ],
)
def test_devices_are_told_without_torch(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    there: bool,
    system: tuple[str, str],
    expected: list[str],
):
    file = tmp_path / "version"
    if there:
        file.touch()
    monkeypatch.setattr(devices, "NVIDIA", file)
    monkeypatch.setattr(devices.platform, "system", lambda: system[0])
    monkeypatch.setattr(devices.platform, "machine", lambda: system[1])
    assert devices.devices_at_hand() == expected


@pytest.mark.parametrize(
    ("gpus", "best"),
    [((), "cpu"), (("cuda",), "cuda"), (("mps",), "mps"), (("cuda", "mps"), "mps")],
)
def test_auto_is_the_best_that_torch_sees(sees: Callable[..., None], gpus: Any, best: str):
    sees(*gpus)
    assert devices.resolve_device("auto") == best
    for device in ("cpu", *gpus):
        assert devices.resolve_device(device) == device


@pytest.mark.parametrize(
    ("gpus", "asked", "message"),
    [
        ((), "cuda", "^torch sees no CUDA device here; devices: cpu$"),
        ((), "mps", "^torch has no MPS device here; devices: cpu$"),
        (("mps",), "cuda", "^torch sees no CUDA device here; devices: cpu, mps$"),
        ((), "cuda:1", "^torch sees no CUDA device here; devices: cpu$"),
        (("cuda",), "cuda:1", "^torch sees no CUDA device 1 here; devices: cpu, cuda:0$"),
        (("cuda",), "mps", "^torch has no MPS device here; devices: cpu, cuda:0$"),
        ((), "tpu", "^unknown device 'tpu'; devices: auto, cpu, cuda, cuda:N, mps$"),
        (("cuda",), "cuda:01", "^unknown device 'cuda:01'"),
        (("cuda",), "cuda:-1", "^unknown device 'cuda:-1'"),
    ],
)
def test_a_device_that_is_not_there_is_refused(
    sees: Callable[..., None], gpus: Any, asked: str, message: str
):
    sees(*gpus)
    with pytest.raises(ValueError, match=message):
        devices.resolve_device(asked)


def test_cards_are_told_apart_by_their_numbers(sees: Callable[..., None]):
    sees("cuda", n_cuda=2)
    assert devices.resolve_device("cuda:1") == "cuda:1"
    with pytest.raises(ValueError, match="^torch sees no CUDA device 2 here; devices: cpu, cuda:0"):
        devices.resolve_device("cuda:2")
    assert [devices.numbered(name) for name in ("cuda", "cuda:0", "cuda:1", "cpu", "mps")] == [
        "cuda:0",
        "cuda:0",
        "cuda:1",
        "cpu",
        "mps",
    ]
    assert (devices.kind_of("cuda:1"), devices.kind_of("mps")) == ("cuda", "mps")
    assert not devices.is_device("auto")


def test_a_call_on_cuda_is_timed_between_two_events_of_its_card(cuda: list[str]):
    assert devices.seconds_of(lambda: cuda.append("run"), "cuda:1") == 2.5
    on = "record on the stream of cuda:1"
    assert cuda == [on, "run", on, "synchronize cuda:1"]


def test_elsewhere_the_device_is_waited_for_on_both_sides_of_the_clock(
    monkeypatch: pytest.MonkeyPatch,
):
    told, readings = list[str](), iter([10.0, 10.25])
    clock = SimpleNamespace(perf_counter=lambda: (told.append("clock"), next(readings))[1])
    monkeypatch.setattr(devices, "time", clock)
    monkeypatch.setattr(torch.mps, "synchronize", lambda: told.append("wait"))
    assert devices.seconds_of(lambda: told.append("run"), "mps") == 0.25
    assert told == ["wait", "clock", "run", "wait", "clock"]


def test_the_peak_of_a_card_is_what_comes_on_top(cuda: list[str]):
    assert devices.peak_bytes(lambda: cuda.append("run"), "cuda:1") == 42
    before, after = cuda[: cuda.index("run")], cuda[cuda.index("run") + 1 :]
    asked = ["synchronize", "reset_peak_memory_stats", "memory_allocated"]
    assert before == [f"{name} cuda:1" for name in asked]
    assert after == ["synchronize cuda:1", "max_memory_allocated cuda:1"]
    assert devices.peak_bytes(lambda: cuda.append("run"), "mps") is None
    assert cuda.count("run") == 1


def test_a_card_has_its_name_and_its_own_free_memory(cuda: list[str]):
    assert (devices.gpu_name("cuda:1"), devices.gpu_name("cpu")) == ("The card cuda:1", None)
    assert devices.free_bytes("cuda:1") == 7000
    assert cuda == ["mem_get_info cuda:1"]
    assert devices.free_bytes("mps") > 7000  # shared with the processor
    assert devices.processor_name()


def test_products_are_rounded_only_where_somebody_wants_it(monkeypatch: pytest.MonkeyPatch):
    products, conv, rnn = (SimpleNamespace(fp32_precision="none") for _ in range(3))
    monkeypatch.setattr(torch.backends.cuda, "matmul", products)
    monkeypatch.setattr(torch.backends, "cudnn", SimpleNamespace(conv=conv, rnn=rnn))
    for device in ("cpu", "mps"):
        devices.round_products(device, rounded=True)
    assert {one.fp32_precision for one in (products, conv, rnn)} == {"none"}
    for rounded, precision in ((True, "tf32"), (False, "ieee")):
        devices.round_products("cuda:1", rounded=rounded)
        assert {one.fp32_precision for one in (products, conv, rnn)} == {precision}


def test_a_process_takes_a_card_of_its_own(
    sees: Callable[..., None], monkeypatch: pytest.MonkeyPatch
):
    taken: list[int] = []
    monkeypatch.setattr(torch.cuda, "set_device", taken.append)
    sees("cuda", n_cuda=2)
    devices.take_card(1, of=2)
    assert taken == [1]
    with pytest.raises(ValueError, match="^3 processes need a card each, and torch sees 2 here$"):
        devices.take_card(1, of=3)


def test_memory_is_given_back_where_it_is_cached(cuda: list[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(torch.mps, "empty_cache", lambda: cuda.append("of mps"))
    for device in devices.DEVICES:
        devices.give_back(device)
    assert cuda == ["empty_cache", "of mps"]


def test_what_is_at_hand_is_listed_with_its_memory(cuda: list[str], sees: Callable[..., None]):
    sees("cuda", n_cuda=2)
    processor, *cards = devices.seen_devices()
    assert (processor.name, processor.title) == ("cpu", devices.processor_name())
    assert processor.total_bytes > processor.free_bytes > 0
    assert [(card.name, card.title) for card in cards] == [
        ("cuda:0", "The card cuda:0"),
        ("cuda:1", "The card cuda:1"),
    ]
    assert {(card.total_bytes, card.free_bytes) for card in cards} == {(9000, 7000)}
    sees()
    assert [device.name for device in devices.seen_devices()] == ["cpu"]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"), True),
        (RuntimeError("MPS backend out of memory (MPS allocated: 1.00 GB)"), True),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried 9 bytes"), True),
        (RuntimeError("[enforce fail] not enough\nmemory"), True),
        (MemoryError(), True),
        (RuntimeError("a shape does not fit"), False),
        (ValueError("out of memory"), False),
    ],
)
def test_scarce_memory_is_told_from_other_errors(error: BaseException, expected: bool):
    assert devices.is_out_of_memory(error) is expected
