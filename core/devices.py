"""CUDA, MPS and the processor: which are at hand, how long a call takes there, how much memory.

The one place that asks torch about a device. Torch and psutil are loaded by the functions that need
them and not before, so that a page can say what is at hand without them.
"""

import platform
import time
from collections.abc import Callable
from pathlib import Path

# Operations a second of a matrix product, about: of one thread with AVX-512, and of a GPU.
RATES = {"cpu": 80e9, "cuda": 20e12, "mps": 3e12}
DEVICES = tuple(RATES)
AUTO = "auto"
NVIDIA = Path("/proc/driver/nvidia/version")
OUT_OF_MEMORY = ("out of memory", "can't allocate memory", "not enough memory")


def devices_at_hand() -> list[str]:
    """The processor, and a GPU whose driver is there; torch may see less (`resolve_device`)."""
    at_hand = ["cpu"]
    if NVIDIA.exists():
        at_hand.append("cuda")
    if (platform.system(), platform.machine()) == ("Darwin", "arm64"):
        at_hand.append("mps")
    return at_hand


def resolve_device(asked: str) -> str:
    """A device that torch sees here; of `auto` a GPU if there is one. Raises ValueError."""
    if asked == "cpu":
        return asked
    import torch

    seen = ["cpu"]
    seen += ["cuda"] if torch.cuda.is_available() else []
    seen += ["mps"] if torch.backends.mps.is_available() else []
    if asked == AUTO:
        return seen[-1]
    if asked not in DEVICES:
        raise ValueError(f"unknown device {asked!r}; devices: {', '.join((AUTO, *DEVICES))}")
    if asked not in seen:
        missing = "sees no CUDA" if asked == "cuda" else "has no MPS"
        raise ValueError(f"torch {missing} device here; devices: {', '.join(seen)}")
    return asked


def gpu_name(device: str) -> str | None:
    """The name of a card; None for the processor, and for a GPU that is part of it."""
    import torch

    return torch.cuda.get_device_name() if device == "cuda" else None


def processor_name() -> str:
    """The processor's name, where the system tells it."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def free_bytes(device: str = "cpu") -> int:
    """Of the memory in which a tensor of this device would live."""
    if device == "cuda":
        import torch

        return int(torch.cuda.mem_get_info()[0])
    import psutil

    return int(psutil.virtual_memory().available)


def synchronize(device: str) -> None:
    """Wait until the device has done all it was given."""
    import torch

    if device == "cuda":
        torch.cuda.synchronize()
    elif device == "mps":
        torch.mps.synchronize()


def seconds_of(run: Callable[[], object], device: str) -> float:
    """Of one run, its end waited for: on CUDA between two events, elsewhere by the clock."""
    import torch

    if device == "cuda":
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        run()
        end.record()
        torch.cuda.synchronize()
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
    if device != "cuda":
        return None
    import torch

    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    run()
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated() - before


def is_out_of_memory(error: BaseException) -> bool:
    """Python says so by MemoryError, torch by a RuntimeError of its own or an OutOfMemoryError."""
    text = " ".join(str(error).split())
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and any(sign in text for sign in OUT_OF_MEMORY)
    )


def give_back(device: str) -> None:
    """Return cached memory to the device, after something that did not fit."""
    import torch

    if device == "cuda":
        torch.cuda.empty_cache()
    elif device == "mps":
        torch.mps.empty_cache()
