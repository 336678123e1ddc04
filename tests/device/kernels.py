"""Fused kernels by name: those that torch's softmax attention can take, and linear attention of
flash-linear-attention where it is installed. One JSON object to standard output.

Called by measure.py, in a process of its own. Each is held against softmax (or elu+1) in float64,
timed as the mechanisms are, and left out with its reason where it cannot be run.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from core.attention import linear
from core.attention.feature_maps import elu
from core.bench.methods import inputs, once
from core.bench.reference import chosen_rows, reference, relative_error
from core.bench.spec import BenchSpec
from core.devices import give_back, resolve_device, seconds_of

BACKENDS = ("FLASH_ATTENTION", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION", "MATH")
DTYPES = ("float32", "bfloat16")
FEWEST, MOST_CALLS = 3, 200
Call = Callable[[Tensor, Tensor, Tensor], Tensor]


def of_torch(name: str, *, causal: bool) -> Call:
    """Softmax attention by one of torch's kernels and no other."""
    backend = SDPBackend.__members__[name]

    def call(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        with sdpa_kernel(backend):
            return F.scaled_dot_product_attention(query, key, value, is_causal=causal)

    return call


def of_fla(*, causal: bool) -> Call:
    """elu+1 by flash-linear-attention's chunks, which are causal. Raises ImportError without it."""
    from fla.ops.linear_attn import (  # pyright: ignore[reportMissingImports]
        chunk_linear_attn,
    )

    if not causal:
        raise ValueError("it is causal only")

    def call(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        rows = [x.transpose(1, 2).contiguous() for x in (F.elu(query) + 1, F.elu(key) + 1, value)]
        return chunk_linear_attn(*rows, scale=1.0, normalize=True)[0].transpose(1, 2)

    return call


def measure(spec: BenchSpec, name: str, call: Call, exact: Callable[..., Tensor]) -> dict[str, Any]:
    """Median seconds and error of every length; `why` where it cannot be run."""
    row: dict[str, Any] = {
        "kernel": name,
        "dtype": spec.dtype,
        "causal": spec.causal,
        "pass": spec.pass_name,
        "times": [],
    }
    for length in spec.lengths:
        given = inputs(spec, length)
        try:
            error = relative_error(once(spec, call, *given), exact(*given))
            times = _times(spec, lambda given=given: once(spec, call, *given))
        except (RuntimeError, ValueError, TypeError, NotImplementedError) as problem:
            give_back(spec.device)
            return {**row, "why": " ".join(str(problem).split())[:300]}
        seconds = statistics.median(times)
        row["times"].append({"seq_len": length, "seconds": seconds, "relative_error": error})
    return row


def _times(spec: BenchSpec, run: Callable[[], object]) -> list[float]:
    run()  # once more, to warm up
    times: list[float] = []
    until = time.monotonic() + spec.seconds
    while len(times) < FEWEST or (time.monotonic() < until and len(times) < MOST_CALLS):
        times.append(seconds_of(run, spec.device))
    return times


def every(device: str, lengths: tuple[int, ...], seconds: float) -> list[dict[str, Any]]:
    """Every kernel in both precisions, forward and with the backward pass, causal and not."""
    rows: list[dict[str, Any]] = []
    for dtype in DTYPES:
        for causal in (False, True):
            for backward in (False, True):
                spec = BenchSpec(
                    methods=("sdpa",),
                    lengths=lengths,
                    causal=causal,
                    backward=backward,
                    device=device,
                    dtype=dtype,
                    seconds=seconds,
                )
                rows += _of_setting(spec)
    return rows


def _of_setting(spec: BenchSpec) -> list[dict[str, Any]]:
    def softmax(*given: Tensor) -> Tensor:
        return reference(*given, causal=spec.causal)

    def of_elu(*given: Tensor) -> Tensor:
        query, key, value = (x.detach().cpu().double() for x in given)
        every = linear.attend(query, key, value, elu, causal=True)
        return every[:, :, chosen_rows(every.shape[2])]

    names = BACKENDS if spec.device != "cpu" else ("FLASH_ATTENTION", "MATH")
    rows = [measure(spec, n.lower(), of_torch(n, causal=spec.causal), softmax) for n in names]
    if spec.causal and spec.device != "cpu":
        try:
            rows.append(measure(spec, "fla chunk_linear_attn", of_fla(causal=True), of_elu))
        except ImportError as error:
            rows.append({"kernel": "fla chunk_linear_attn", "why": str(error)})
    return rows


def versions() -> dict[str, str | None]:
    """Of what the kernels come with; None where it is not installed."""
    found: dict[str, str | None] = {"torch": torch.__version__, "cuda": torch.version.cuda}
    for name in ("triton", "fla-core", "flash-linear-attention"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found


def main() -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", required=True)
    parser.add_argument("--lengths", nargs="+", type=int, required=True)
    parser.add_argument("--seconds", type=float, default=0.1)
    options = parser.parse_args()
    resolve_device(options.device)
    rows = every(options.device, tuple(options.lengths), options.seconds)
    print(json.dumps({"versions": versions(), "rows": rows}))


if __name__ == "__main__":
    main()
