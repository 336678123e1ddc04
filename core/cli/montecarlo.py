"""`montecarlo`: draw outputs under perturbed keys and set theory beside the sample."""

import argparse
import json
import sys
import time
from typing import Any

from core.montecarlo.compare import FALSE_VERDICTS, Row, compare
from core.montecarlo.sample import sample
from core.montecarlo.spec import NAMED_HEADS, PerturbationSpec, parse_heads

SLOW_DRAWS = 10_000_000  # from here on progress is told


def add_montecarlo(parser: argparse.ArgumentParser) -> None:
    """The options of the verb."""
    names = ", ".join(NAMED_HEADS)
    parser.add_argument("--heads", default="one", help=f"{names}, or a number of heads")
    parser.add_argument("--beta", type=float, default=10.0, help="scale of the queries")
    parser.add_argument("--keys", type=int, default=6)
    parser.add_argument("--dimension", type=int, help="64, or the number of keys if that is more")
    parser.add_argument("--radial-variance", type=float, default=0.5, help="of key a's length")
    parser.add_argument("--noise-variance", type=float, default=0.0, help="in all directions")
    parser.add_argument("--draws", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--ignore-negative", action="store_true", help="leave out draws in which k_a·q < 0"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object to standard output")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Draw, compare, print; beyond ten million draws tell progress on standard error."""
    spec = PerturbationSpec(
        n_keys=options.keys,
        dimension=max(64, options.keys) if options.dimension is None else options.dimension,
        beta=options.beta,
        heads=parse_heads(options.heads),
        radial_variance=options.radial_variance,
        noise_variance=options.noise_variance,
        n_draws=options.draws,
        seed=options.seed,
        ignore_negative=options.ignore_negative,
    )
    started = time.perf_counter()
    drawn = sample(spec, progress=_tell if spec.n_draws >= SLOW_DRAWS else None)
    seconds = time.perf_counter() - started
    rows = compare(drawn)
    if options.json:
        print(json.dumps({**_report(spec, seconds), "rows": [row.to_dict() for row in rows]}))
        return
    plural = "" if spec.n_draws == 1 else "s"
    print(f"{spec.n_draws:,} draw{plural} in {seconds:.2f} s, {drawn.n_kept:,} kept")
    print(f"{'quantity':<18}{'theory':>12}{'sample':>12}{'error':>12}  verdict")
    for row in rows:
        print(_line(row))
    print(
        f"While theory is right, any row disagrees in at most {FALSE_VERDICTS:.0%} of all samples; "
        "too few draws: no sample could disagree."
    )


def _report(spec: PerturbationSpec, seconds: float) -> dict[str, Any]:
    settings = {
        "heads": spec.heads,
        "beta": spec.beta,
        "keys": spec.n_keys,
        "dimension": spec.dimension,
        "radial_variance": spec.radial_variance,
        "noise_variance": spec.noise_variance,
        "draws": spec.n_draws,
        "seed": spec.seed,
        "ignore_negative": spec.ignore_negative,
    }
    return {"settings": settings, "seconds": seconds}


def _line(row: Row) -> str:
    """A row of the table; what is not there is a dash."""
    theory = "sample only" if row.theory is None else f"{row.theory:.4g}"
    sample = "-" if row.sample is None else f"{row.sample:.4g}"
    error = "-" if row.standard_error is None else f"{row.standard_error:.1g}"
    verdict = "" if row.theory is None else f"  {row.verdict}"
    return f"{row.quantity:<18}{theory:>12}{sample:>12}{error:>12}{verdict}"


def _tell(done: int, total: int) -> None:
    print(f"{done:,} of {total:,} draws", file=sys.stderr)
