"""What a time depends on beside the code: the machine, and the environment of the process.

The two rates are the machine's roof: no method can move its inputs faster than memory is copied,
nor multiply faster than two large matrices are multiplied.
"""

import os
import platform
import time
from datetime import UTC, datetime
from typing import Any

import psutil
import torch
from torch.nn.attention import SDPBackend

from core.bench.spec import BenchSpec
from core.devices import gpu_name, processor_name, seconds_of

VARIABLES = ("OMP_WAIT_POLICY", "GLIBC_TUNABLES", "OMP_NUM_THREADS")
COPIED_BYTES = 2**28
MATRIX_SIDE = 1536
RATE_REPEATS = 5


def describe_machine(device: str) -> dict[str, Any]:
    """The hardware, without anybody's name for it."""
    return {
        "processor": processor_name(),
        "cores": os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 1e9, 1),
        "gpu": gpu_name(device),
        "system": f"{platform.system()} {platform.machine()}",
    }


def describe_environment(spec: BenchSpec) -> dict[str, Any]:
    """All else: versions, variables, numbers of threads and heads, precision, roof, date."""
    return {
        **describe_process(spec.threads),
        "device": spec.device,
        "dtype": spec.dtype,
        "float32_matmul_precision": torch.get_float32_matmul_precision(),  # highest: no TF32
        "batch": spec.batch,
        "n_heads": spec.n_heads,
        "seed": spec.seed,
        "sizes": spec.to_dict()["sizes"],
        "sdpa_backend": sdpa_backend(spec),
        "roof": rates(spec),
    }


def describe_process(threads: int) -> dict[str, Any]:
    """What of it does not depend on what is measured."""
    return {
        "torch": torch.__version__,
        "python": platform.python_version(),
        "capability": torch.backends.cpu.get_cpu_capability(),
        "threads": threads,
        "variables": {name: os.environ.get(name) for name in VARIABLES},
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }


def rates(spec: BenchSpec) -> dict[str, float]:
    """Bytes copied (read and written) and operations of a matrix product, a second; the best."""
    kind = getattr(torch, spec.dtype)
    side = torch.ones(MATRIX_SIDE, MATRIX_SIDE, device=spec.device, dtype=kind)
    source = torch.ones(COPIED_BYTES // side.element_size(), device=spec.device, dtype=kind)
    target = torch.empty_like(source)

    def best(run: Any) -> float:
        return min(seconds_of(run, spec.device) for _ in range(RATE_REPEATS))

    product = torch.empty_like(side)
    return {
        "bytes_per_second": 2 * COPIED_BYTES / best(lambda: target.copy_(source)),
        "operations_per_second": 2
        * MATRIX_SIDE**3
        / best(lambda: torch.mm(side, side, out=product)),
    }


def sdpa_backend(spec: BenchSpec) -> str:
    """The kernel that torch chooses for the longest input."""
    choose = getattr(torch, "_fused_sdp_choice", None)
    if choose is None:
        return "not told by this torch"
    x = torch.empty(
        (spec.batch, spec.n_heads, spec.lengths[-1], spec.head_dim),
        device=spec.device,
        dtype=getattr(torch, spec.dtype),
        requires_grad=spec.backward,
    )
    if spec.writes:  # one token sees all, by a mask
        seen = torch.ones(1, spec.lengths[-1], dtype=torch.bool, device=spec.device)
        chosen = choose(x[:, :, -1:], x, x, attn_mask=seen)
    else:
        chosen = choose(x, x, x, is_causal=spec.causal)
    names = {backend.value: backend.name for backend in SDPBackend.__members__.values()}
    return names.get(int(chosen), "unknown").lower()


class OtherProcesses:
    """The share of all processors that other processes used since this was made."""

    def __init__(self) -> None:
        self._before = _busy()

    @property
    def share(self) -> float:
        total, busy, own = (b - a for a, b in zip(self._before, _busy(), strict=True))
        return min(1.0, max(0.0, busy - own) / total) if total > 0 else 0.0


def _busy() -> tuple[float, float, float]:
    """Seconds there were on all cores, of work on them, and of this process's own work."""
    times = psutil.cpu_times()
    idle = times.idle + getattr(times, "iowait", 0.0)
    own = psutil.Process().cpu_times()
    total = time.monotonic() * (os.cpu_count() or 1)
    busy = sum(times) - idle - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0)
    return total, busy, own.user + own.system
