"""Timers: what a call takes on a device, once all of it is done.

On CUDA between two events of the stream; elsewhere by the clock, after the device was waited for.
"""

import time
from collections.abc import Callable

import torch


def seconds_of(run: Callable[[], object], device: str) -> float:
    """Seconds of one run, its end waited for."""
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


def synchronize(device: str) -> None:
    """Wait until the device has done all it was given."""
    if device == "cuda":
        torch.cuda.synchronize()
    elif device == "mps":
        torch.mps.synchronize()


def gpu_peak_bytes(run: Callable[[], object]) -> int:
    """What one run takes on the GPU beside what is there already; after the warm-up only."""
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    run()
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated() - before


def is_out_of_memory(error: BaseException) -> bool:
    """Python says so by MemoryError, torch by a RuntimeError of its own or an OutOfMemoryError."""
    signs = ("out of memory", "can't allocate memory", "not enough memory")
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and any(sign in str(error) for sign in signs)
    )


def give_back(device: str) -> None:
    """Return cached memory to the device, after a case that did not fit."""
    if device == "cuda":
        torch.cuda.empty_cache()
    elif device == "mps":
        torch.mps.empty_cache()
