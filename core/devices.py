"""CUDA, MPS and the processor: which are at hand, how long a call takes there, how much memory.

The one place that asks torch about a device. Torch and psutil are loaded by the functions that need
them and not before, so that a page can say what is at hand without them.

A device is named as torch names it: `cpu`, `mps`, `cuda:N`; `cuda` is the first of its kind. What
somebody asks for may also be `auto`, of which `resolve_device` makes a name, once, at the edge.
"""

import platform
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

# Operations a second of a matrix product, about: of one thread with AVX-512, and of a GPU.
RATES = {"cpu": 80e9, "cuda": 20e12, "mps": 3e12}
DEVICES = tuple(RATES)
AUTO = "auto"
ASKED = (AUTO, "cpu", "cuda", "cuda:N", "mps")
NVIDIA = Path("/proc/driver/nvidia/version")
OUT_OF_MEMORY = ("out of memory", "can't allocate memory", "not enough memory")
NUMBERED = re.compile(r"cuda:(0|[1-9][0-9]{0,2})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One that torch sees: what it is asked for by, what it is called, and its memory in bytes."""

    name: str
    title: str
    total_bytes: int
    free_bytes: int


def kind_of(device: str) -> str:
    """A row of RATES: `cuda` of `cuda:1`."""
    return device.partition(":")[0]


def is_device(name: str) -> bool:
    """Whether a device can have this name, here or on another machine; `auto` is none."""
    return name in DEVICES or NUMBERED.fullmatch(name) is not None


def numbered(device: str) -> str:
    """The one name of a device that has two: `cuda:0` of `cuda`."""
    return f"{device}:0" if device == "cuda" else device


def devices_at_hand() -> list[str]:
    """The processor, and a GPU whose driver is there; torch may see less (`resolve_device`)."""
    at_hand = ["cpu"]
    if NVIDIA.exists():
        at_hand.append("cuda")
    if (platform.system(), platform.machine()) == ("Darwin", "arm64"):
        at_hand.append("mps")
    return at_hand


def resolve_device(asked: str) -> str:
    """A device that torch sees here, by the name that it was asked for; of `auto` a GPU if there
    is one. Raises ValueError.
    """
    if asked == "cpu":
        return asked
    if asked != AUTO and not is_device(asked):
        raise ValueError(f"unknown device {asked!r:.40}; devices: {', '.join(ASKED)}")
    seen = _seen()
    if asked == AUTO:
        return kind_of(seen[-1])
    if numbered(asked) not in seen:
        missing = "has no MPS device" if asked == "mps" else "sees no CUDA device"
        if NUMBERED.fullmatch(asked) and "cuda:0" in seen:
            missing += f" {asked.removeprefix('cuda:')}"
        raise ValueError(f"torch {missing} here; devices: {', '.join(seen)}")
    return asked


def _seen() -> list[str]:
    import torch

    seen = ["cpu"]
    if torch.cuda.is_available():
        seen += [f"cuda:{number}" for number in range(torch.cuda.device_count())]
    return [*seen, "mps"] if torch.backends.mps.is_available() else seen


def seen_devices() -> list[Device]:
    """All that torch sees, with their memory. Cost: torch, and a context on every GPU, which takes
    memory there: a page asks a process of its own.
    """
    import torch

    processor = only_processor()
    found = [processor]
    for name in _seen()[1:]:
        if kind_of(name) == "cuda":
            free, total = (int(n_bytes) for n_bytes in torch.cuda.mem_get_info(name))
            title = gpu_name(name) or name
            found.append(Device(name=name, title=title, total_bytes=total, free_bytes=free))
        else:  # it is a part of the processor, and shares its memory
            found.append(replace(processor, name=name))
    return found


def only_processor() -> Device:
    """The one device of every machine. No torch."""
    import psutil

    memory = psutil.virtual_memory()
    return Device(
        name="cpu",
        title=processor_name(),
        total_bytes=int(memory.total),
        free_bytes=int(memory.available),
    )


def gpu_name(device: str) -> str | None:
    """The name of a card; None for the processor, and for a GPU that is part of it."""
    import torch

    return torch.cuda.get_device_name(device) if kind_of(device) == "cuda" else None


def processor_name() -> str:
    """The processor's name, where the system tells it."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def free_bytes(device: str = "cpu") -> int:
    """Of the memory in which a tensor of this device would live."""
    if kind_of(device) == "cuda":
        import torch

        return int(torch.cuda.mem_get_info(device)[0])
    import psutil

    return int(psutil.virtual_memory().available)


def take_card(number: int, *, of: int) -> None:
    """What this process, one of several, does on CUDA from now on is done on this card unless told.

    Raises ValueError where there are fewer cards than processes.
    """
    import torch

    if of > (n_cards := torch.cuda.device_count()):
        raise ValueError(f"{of} processes need a card each, and torch sees {n_cards} here")
    torch.cuda.set_device(number)


def synchronize(device: str) -> None:
    """Wait until the device has done all it was given."""
    import torch

    if kind_of(device) == "cuda":
        torch.cuda.synchronize(device)
    elif device == "mps":
        torch.mps.synchronize()


def seconds_of(run: Callable[[], object], device: str) -> float:
    """Of one run, its end waited for: on CUDA between two events, elsewhere by the clock."""
    import torch

    if kind_of(device) == "cuda":
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        stream = torch.cuda.current_stream(device)  # of the device, which need not be the first
        start.record(stream)
        run()
        end.record(stream)
        torch.cuda.synchronize(device)
        return start.elapsed_time(end) / 1000
    synchronize(device)
    began = time.perf_counter()
    run()
    synchronize(device)
    return time.perf_counter() - began


def peak_bytes(run: Callable[[], object], device: str) -> int | None:
    """What one run takes on a CUDA device beside what is there already; after the warm-up only.

    None elsewhere: nobody counts there.
    """
    if kind_of(device) != "cuda":
        return None
    import torch

    torch.cuda.synchronize(device)
    torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_allocated(device)
    run()
    torch.cuda.synchronize(device)
    return torch.cuda.max_memory_allocated(device) - before


def round_products(device: str, *, rounded: bool = False) -> None:
    """Let a GPU of NVIDIA round what goes into products in float32 to 10 bits (TF32), or not: in
    this process from now on. Said either way, for torch rounds convolutions there unless told.
    """
    if kind_of(device) != "cuda":
        return
    import torch

    asked = "tf32" if rounded else "ieee"
    cudnn = cast(Any, torch.backends.cudnn)  # which makes its attributes when it is asked
    for room in (torch.backends.cuda.matmul, cudnn.conv, cudnn.rnn):
        room.fp32_precision = asked


def is_out_of_memory(error: BaseException) -> bool:
    """Python says so by MemoryError, torch by a RuntimeError of its own or an OutOfMemoryError."""
    text = " ".join(str(error).split())
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and any(sign in text for sign in OUT_OF_MEMORY)
    )


def give_back(device: str) -> None:
    """Return cached memory to the device, after something that did not fit."""
    import torch

    if kind_of(device) == "cuda":
        torch.cuda.empty_cache()
    elif device == "mps":
        torch.mps.empty_cache()
