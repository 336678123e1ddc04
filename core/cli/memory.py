"""`memory`: what a state of fixed size recalls, overwrites and costs."""

import argparse
import json
from collections.abc import Mapping, Sequence

from core.cli.arguments import progress_line
from core.cli.heads_text import aligned
from core.cli.mqar import add_mqar
from core.intervals import Rate
from core.memory.capacity import Capacity, measure_capacity
from core.memory.generation import (
    LENGTHS,
    Kept,
    bytes_text,
    kept_by_methods,
    kept_by_models,
)
from core.memory.overwrite import N_KEYS, N_REWRITTEN, Overwriting, measure_overwriting
from core.memory.spec import PAIRS, MemorySpec

USUAL = MemorySpec()


def add_memory(parser: argparse.ArgumentParser) -> None:
    """The options of the verb."""
    verbs = parser.add_subparsers(dest="action", required=True)
    capacity = verbs.add_parser("capacity", help="share of N random pairs recalled, and its theory")
    _add_spec(capacity)
    capacity.add_argument("--pairs", type=int, nargs="+", default=list(PAIRS), metavar="N")
    capacity.set_defaults(run=run_capacity)
    overwrite = verbs.add_parser("overwrite", help="some keys get a second value")
    _add_spec(overwrite)
    overwrite.add_argument("--keys", type=int, default=N_KEYS)
    overwrite.add_argument("--rewritten", type=int, default=N_REWRITTEN, metavar="N")
    overwrite.set_defaults(run=run_overwrite)
    generation = verbs.add_parser("generation", help="bytes kept while a model writes")
    _add_spec(generation)
    generation.add_argument("--lengths", type=int, nargs="+", default=list(LENGTHS), metavar="L")
    generation.set_defaults(run=run_generation)
    add_mqar(verbs.add_parser("mqar", help="models trained to recall pairs, over seeds"))


def _add_spec(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dim", type=int, default=USUAL.dim, help="numbers of a key, of a value")
    parser.add_argument(
        "--beta", type=float, default=USUAL.beta, help="what scores are multiplied by in softmax"
    )
    parser.add_argument("--decay", type=float, default=USUAL.decay, help="of the gate, a pair")
    parser.add_argument(
        "--delta-decay", type=float, default=USUAL.delta_decay, help="of the gated delta rule"
    )
    parser.add_argument("--window", type=int, default=USUAL.window, help="pairs in the window")
    parser.add_argument("--features", type=int, default=USUAL.n_features, help="of FAVOR+")
    parser.add_argument("--draws", type=int, default=USUAL.n_draws)
    parser.add_argument("--seed", type=int, default=USUAL.seed)
    parser.add_argument("--json", action="store_true", help="one JSON object to standard output")


def spec_of(options: argparse.Namespace) -> MemorySpec:
    """Raises ValueError for sizes that are not possible."""
    return MemorySpec(
        dim=options.dim,
        beta=options.beta,
        decay=options.decay,
        delta_decay=options.delta_decay,
        window=options.window,
        n_features=options.features,
        n_draws=options.draws,
        seed=options.seed,
    )


def run_capacity(options: argparse.Namespace) -> None:
    """Measure and print."""
    tell = progress_line()
    found = measure_capacity(spec_of(options), pairs=options.pairs, progress=tell)
    tell("done")
    print(json.dumps(found.to_dict()) if options.json else _capacity_text(found))


def run_overwrite(options: argparse.Namespace) -> None:
    """Measure and print."""
    found = measure_overwriting(
        spec_of(options), n_keys=options.keys, n_rewritten=options.rewritten
    )
    print(json.dumps(found.to_dict()) if options.json else _overwrite_text(found))


def run_generation(options: argparse.Namespace) -> None:
    """Count and print."""
    models = kept_by_models(options.lengths)
    heads = kept_by_methods(spec_of(options), options.lengths)
    if options.json:
        report = {"lengths": list(models.lengths), "models": models.n_bytes, "head": heads.n_bytes}
        print(json.dumps(report))
        return
    print("\n".join(["bytes of one text", *_kept(models), "", "of one head", *_kept(heads)]))


def _capacity_text(found: Capacity) -> str:
    """Shares in percent; theory behind a stroke where there is one."""
    lines = [["pairs", *map(str, found.pairs), "half lost at"]]
    for method, rates in found.recalled.items():
        shares = [f"{100 * rate.value:.0f}" for rate in rates]
        lines.append([method, *shares, _half(found.half(method))])
        theory = found.theory[method]
        if theory is not None:
            shares = [f"{100 * share:.0f}" for share in theory]
            lines.append(["  theory", *shares, _half(found.half_by_theory(method))])
    spec = found.spec
    told = f"d = {spec.dim}, {spec.n_draws} draws, seed {spec.seed}, {found.seconds:.1f} s"
    return "\n".join([f"recalled, %; {told}", *aligned(lines)])


def _overwrite_text(found: Overwriting) -> str:
    head = ["mechanism", "rewritten (95 %)", "kept (95 %)", "still the old one (95 %)"]
    return "\n".join(
        [
            f"{found.n_rewritten} of {found.n_keys} keys get a second value; recalled, %",
            *aligned([head, *_rows(found)]),
        ]
    )


def _rows(found: Overwriting) -> list[list[str]]:
    parts: tuple[Mapping[str, Rate], ...] = (found.rewritten, found.kept, found.stale)
    return [[method, *(_share(rates[method]) for rates in parts)] for method in found.rewritten]


def _kept(kept: Kept) -> Sequence[str]:
    head = ["tokens", *(f"{length:,}" for length in kept.lengths)]
    return aligned([head, *([name, *map(bytes_text, row)] for name, row in kept.n_bytes.items())])


def _share(rate: Rate) -> str:
    return f"{100 * rate.value:.0f} ({100 * rate.low:.0f} to {100 * rate.high:.0f})"


def _half(pairs: float | None) -> str:
    return "-" if pairs is None else f"{pairs:.0f}"
