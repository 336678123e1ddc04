"""`bench`: time, memory and error of attention mechanisms over lengths, on this machine.

With `--question generation` it is one token more that is timed, behind each of the lengths, and
memory is what is kept of those. It is causal.

Measured in a process that waits passively and uses huge pages (core.__main__ sees to it), one
setting at a time. With --out the records join those that the file has of other settings.
"""

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.bench.estimate import estimate
from core.bench.fits import Fit
from core.bench.machine import describe_environment, describe_machine
from core.bench.measure import measure
from core.bench.record import Bench, Record, merged, read_bench, write_bench
from core.bench.spec import DTYPES, GENERATION, PASS, QUESTIONS, BenchSpec
from core.bench.summary import fits_of, report_of, summaries_of
from core.catalogue import METHODS
from core.cli.arguments import add_device, named_file
from core.devices import AUTO, resolve_device
from core.files import is_stored
from core.runs.stopping import stop_requests
from core.theory.costs import Sizes

LENGTHS = (128, 256, 512, 1024, 2048)


def add_bench(parser: argparse.ArgumentParser) -> None:
    """The options of the verb."""
    parser.description = __doc__
    parser.add_argument(
        "--question", choices=QUESTIONS, default=PASS, help="a whole text, or one token behind it"
    )
    parser.add_argument("--methods", nargs="+", default=list(METHODS), metavar="METHOD")
    parser.add_argument("--lengths", nargs="+", type=int, default=list(LENGTHS), metavar="L")
    parser.add_argument("--head-dim", type=int, default=32)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--causal", action="store_true", help="no token sees a later one")
    parser.add_argument("--backward", action="store_true", help="forward and backward pass")
    parser.add_argument("--features", type=int, default=Sizes().n_features, help="of FAVOR+")
    parser.add_argument("--terms", type=int, default=Sizes().n_terms, help="of the Taylor series")
    usual = Sizes()
    parser.add_argument("--window", type=int, default=usual.window, help="of windows and Based")
    parser.add_argument("--sinks", type=int, default=usual.n_sinks, help="beside a window")
    add_device(parser, here=False)
    parser.add_argument("--dtype", choices=list(DTYPES), default="float32")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=5, help="calls of each method, at least")
    parser.add_argument("--seconds", type=float, default=0.3, help="of each method, at least")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--estimate", action="store_true", help="say how long it takes, and end")
    parser.add_argument(
        "--out", type=named_file, metavar="FILE", help="keep it, beside other settings"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object to standard output")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Measure, keep, print. Ctrl-C ends it between two calls; what there is is kept."""
    spec = _spec(options)
    if options.estimate:
        _print_estimate(spec, as_json=options.json)
        return
    resolve_device(spec.device)
    out: Path | None = options.out
    old = None if out is None or not is_stored(out) else read_bench(out)
    empty = Bench(
        machine=describe_machine(spec.device), environment=describe_environment(spec), records=()
    )
    if old is not None:
        merged(old, empty)  # before the time is spent
    with stop_requests() as stop:
        bench = replace(empty, records=tuple(measure(spec, is_stopped=stop.is_set, tell=_tell)))
    if out is not None and bench.records:
        kept = bench if old is None else merged(old, bench)
        write_bench(out, kept, summaries_of(kept))
    report = report_of(bench)
    print(json.dumps(report, ensure_ascii=False) if options.json else _text(bench, report))
    if stop.is_set():
        raise KeyboardInterrupt


def _spec(options: argparse.Namespace) -> BenchSpec:
    return BenchSpec(
        methods=tuple(options.methods),
        lengths=tuple(sorted(set(options.lengths))),
        head_dim=options.head_dim,
        n_heads=options.heads,
        causal=options.causal or options.question == GENERATION,
        backward=options.backward,
        device=resolve_device(AUTO) if options.device == AUTO else options.device,
        dtype=options.dtype,
        threads=options.threads,
        repeats=options.repeats,
        seconds=options.seconds,
        seed=options.seed,
        sizes=Sizes(
            n_features=options.features,
            n_terms=options.terms,
            window=options.window,
            n_sinks=options.sinks,
        ),
        question=options.question,
    )


def _print_estimate(spec: BenchSpec, *, as_json: bool) -> None:
    found = estimate(spec)
    left_out = [[method, length, why] for (method, length), why in found.left_out.items()]
    report = {
        "seconds": found.seconds,
        "peak_bytes": found.peak_bytes,
        "cases": len(spec.cases) - len(left_out),
        "left_out": left_out,
    }
    text = (
        f"about {found.seconds:.0f} s and {found.peak_bytes / 1e6:,.0f} MB "
        f"for {report['cases']} cases"
    )
    lines = [f"{method} at {length}: {why}" for method, length, why in left_out]
    print(json.dumps(report) if as_json else "\n".join([text, *lines]))


def _text(bench: Bench, report: dict[str, Any]) -> str:
    writes = any(record.setting.question == GENERATION for record in bench.records)
    memory = "kB kept" if writes else "MB"
    lines = [f"{'method':<12}{'tokens':>8}{'ms':>12}{memory:>10}{'error':>10}"]
    lines += [_line(record) for record in bench.records]
    fits = fits_of(bench.records)
    lines += [f"{method}: {_growth(fit, writes=writes)}" for method, fit in fits.items()]
    for found in report["crossovers"]:
        place = "" if found["seq_len"] is None else f" {found['seq_len']:,.0f} tokens"
        if found["low"] is not None and found["high"] is not None:
            place += f" ({found['low']:,.0f} to {found['high']:,.0f})"
        lines.append(
            f"{found['method']} faster than {found['baseline']}: {found['verdict']}{place}"
        )
    return "\n".join(lines)


def _growth(fit: Fit, *, writes: bool) -> str:
    """The power of L with its 95 % interval, or why the lengths do not tell it."""
    doubt = fit.doubt_of_step if writes else fit.doubt
    if doubt is not None or fit.half_width is None:
        return f"{doubt} to tell how time grows"
    return f"time grows as L^{fit.slope:.2f} ± {fit.half_width:.2f}"


def _line(record: Record) -> str:
    kept = record.kept_bytes
    numbers = (
        (record.median_seconds, 1e3, "12.3f"),
        (record.peak_bytes, 1e-6, "10.2f") if kept is None else (kept, 1e-3, "10.1f"),
        (record.relative_error, 1.0, "10.2g"),
    )
    shown = [
        format(number * scale, form) if number is not None else "-".rjust(int(form.split(".")[0]))
        for number, scale, form in numbers
    ]
    flags = f"  {'; '.join(record.flags)}" if record.flags else ""
    return f"{record.method:<12}{record.seq_len:>8}{''.join(shown)}{flags}"


def _tell(done: int, total: int, what: str) -> None:
    print(f"{done} of {total}: {what}", file=sys.stderr, flush=True)
