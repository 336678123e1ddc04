"""How much memory a pass takes on the processor: asked of a process apart, one case at a time.

There freed tensors leave the process at once (no huge pages, every large block mapped by itself),
so that what an earlier case has left cannot hide what this one takes; timing would suffer by it.
The peak is VmHWM after writing 5 to /proc/self/clear_refs, less VmRSS before: Linux only. If the
system ends that process for want of memory, this one lives and can say so.
"""

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self, cast

from core.bench.spec import BenchSpec, spec_from_dict
from core.paths import ROOT

SMALL = 64  # tokens of the pass that loads what a first pass loads
PROCESS = Path("/proc/self")
AT_ONCE = {"MALLOC_MMAP_THRESHOLD_": "16384", "MALLOC_TRIM_THRESHOLD_": "0"}


class MemoryMeter:
    """Asks the process apart, and starts it anew if it is gone."""

    def __init__(self, spec: BenchSpec) -> None:
        self._spec = spec
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def peak_bytes(self, method: str, seq_len: int) -> int | None:
        """Of one pass, output included, to some hundred kB; None where it cannot be measured.

        Raises MemoryError if the process was ended while it tried, ValueError with what it said.
        """
        if not _can_measure():
            return None
        process = self._process or self._start()
        asked, answers = cast("IO[str]", process.stdin), cast("IO[str]", process.stdout)
        try:
            print(json.dumps([method, seq_len]), file=asked, flush=True)
            line = answers.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            self.close()
            raise MemoryError(f"{method} at {seq_len} tokens was ended by the system")
        said: Any = json.loads(line)
        if isinstance(said, str):
            raise ValueError(said)
        return said

    def close(self) -> None:
        """End the process; it ends by itself when its input does."""
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):  # what nobody has read is lost with it
                    pipe.close()
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _start(self) -> subprocess.Popen[str]:
        threads = {"OMP_NUM_THREADS": str(self._spec.threads), **AT_ONCE}
        kept = {k: v for k, v in os.environ.items() if k != "GLIBC_TUNABLES"}
        self._process = subprocess.Popen(  # noqa: S603 - a list of our own making
            [sys.executable, "-m", "core.bench.memory", json.dumps(self._spec.to_dict())],
            cwd=ROOT,
            env={**kept, **threads, "OMP_WAIT_POLICY": "passive"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,  # a stop is heard by whoever asks, not here
        )
        return self._process


def _can_measure() -> bool:
    return os.access(PROCESS / "clear_refs", os.W_OK)


def _serve(spec: BenchSpec) -> None:
    """Answer each case on standard input: bytes, or a sentence why there are none."""
    import torch  # noqa: PLC0415 - the asking side may have none

    torch.set_num_threads(spec.threads)
    for line in sys.stdin:
        method, seq_len = json.loads(line)
        try:
            print(json.dumps(measure(spec, method, seq_len)), flush=True)
        except (RuntimeError, ValueError, MemoryError) as error:
            print(json.dumps(str(error) or type(error).__name__), flush=True)


def measure(spec: BenchSpec, method: str, seq_len: int) -> int:
    """How far this process's resident memory rises over what it was with the inputs."""
    from core.bench.methods import build, inputs, once  # noqa: PLC0415

    small = min(SMALL, seq_len)
    once(spec, build(spec, method, small), *inputs(spec, small))
    call, given = build(spec, method, seq_len), inputs(spec, seq_len)
    (PROCESS / "clear_refs").write_text("5", encoding="ascii")
    before = _status("VmRSS")
    once(spec, call, *given)
    return max(0, _status("VmHWM") - before)


def _status(name: str) -> int:
    """A line of /proc/self/status in bytes."""
    lines = (PROCESS / "status").read_text(encoding="ascii").splitlines()
    (line,) = [line for line in lines if line.startswith(name + ":")]
    return int(line.split()[1]) * 1024


if __name__ == "__main__":
    _serve(spec_from_dict(json.loads(sys.argv[1])))
