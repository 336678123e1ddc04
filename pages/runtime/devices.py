"""Which devices there may be, told without loading torch; a worker then says if it sees them."""

import platform
from pathlib import Path

NVIDIA = Path("/proc/driver/nvidia/version")


def devices_at_hand() -> list[str]:
    """The processor, and a GPU whose driver is there."""
    found = ["cpu"]
    if NVIDIA.exists():
        found.append("cuda")
    if (platform.system(), platform.machine()) == ("Darwin", "arm64"):
        found.append("mps")
    return found
