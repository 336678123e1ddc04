"""Which devices this machine has, with their memory, asked in a process of its own.

So the caller needs no torch, and keeps no context on a GPU, which would take memory there. That
process runs this module as `python -m core.jobs.at_hand` and prints JSON. Where no driver of a GPU
is found, nobody has to be asked.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict

from core.devices import AUTO, Device, devices_at_hand, numbered, only_processor, seen_devices
from core.from_json import dataclass_from_dict
from core.jobs.state import Job
from core.paths import ROOT

TIMEOUT_SECONDS = 60.0


def at_hand(*, ask: bool = True) -> tuple[Device, ...]:
    """The processor first, and alone unless torch is asked. Cost: nothing without a GPU, else some
    seconds. Raises ValueError where torch does not answer.
    """
    if not ask or devices_at_hand() == ["cpu"]:
        return (only_processor(),)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "core.jobs.at_hand"],
            capture_output=True,
            check=False,
            cwd=ROOT,
            encoding="utf-8",
            env={**os.environ},
            timeout=TIMEOUT_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise ValueError(f"torch took more than {TIMEOUT_SECONDS:.0f} s to list devices") from None
    if done.returncode:
        said = done.stderr.splitlines() or ["no answer"]
        raise ValueError(f"torch cannot say which devices are here: {said[-1]:.200}")
    return tuple(dataclass_from_dict(Device, one) for one in json.loads(done.stdout))


def chosen(asked: str, devices: Sequence[Device], jobs: Iterable[Job]) -> str:
    """The device that a job will have: of `auto` the GPU with the fewest jobs ahead, the first of
    them; the processor if there is none. Raises ValueError for one that is not at hand.
    """
    names = [device.name for device in devices]
    if asked == AUTO:
        slots = [job.slot for job in jobs if job.is_active and job.there is None]
        return min(names[1:] or names, key=slots.count)
    if numbered(asked) not in names:
        raise ValueError(f"device {asked!r:.40} is not at hand here; devices: {', '.join(names)}")
    return asked


if __name__ == "__main__":
    print(json.dumps([asdict(device) for device in seen_devices()]))
