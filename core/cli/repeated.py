"""`repeated`: random tokens said twice: what every head looks at the second time, and its worth."""

import argparse
import json
import sys
import time

from core.checkpoints.any import load_any, records_folder, weights_digest_of
from core.cli.arguments import add_device, progress_line
from core.cli.heads_text import aligned
from core.inspection.heads import head_name
from core.inspection.repeated import measure_repeated
from core.inspection.repeated_record import RepeatedRecord, repeated_dict, save_repeated
from core.inspection.repeated_rows import NAMES, SCORES, Estimate, Repeated
from core.inspection.repeated_tokens import N_SEQUENCES
from core.runs.card import machine


def add_repeated(parser: argparse.ArgumentParser) -> None:
    """The options of the verb, without --checkpoint."""
    parser.description = __doc__
    parser.add_argument("--sequences", type=int, default=N_SEQUENCES, metavar="N")
    parser.add_argument("--seed", type=int, default=0, help="of the tokens, and of the draws after")
    parser.add_argument(
        "--begin", type=int, metavar="ID", help="a token in front of each sequence, if it needs one"
    )
    parser.add_argument(
        "--record",
        action="store_true",
        help="write the result beside the checkpoint: the page shows it at once",
    )
    add_device(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object to standard output")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Measure, write what was asked for, print."""
    stored = load_any(options.checkpoint, progress=progress_line(), device=options.device)
    started = time.perf_counter()
    found = measure_repeated(
        stored,
        n_sequences=options.sequences,
        seed=options.seed,
        begin=options.begin,
        progress=_show_progress,
    )
    if options.record:
        record = RepeatedRecord(
            result=found,
            seconds=time.perf_counter() - started,
            machine=machine(),
            weights=weights_digest_of(options.checkpoint),
        )
        save_repeated(records_folder(options.checkpoint), record)
    print(json.dumps(repeated_dict(found), ensure_ascii=False) if options.json else _text(found))


def _text(found: Repeated) -> str:
    """The heads with the largest induction score first, then the losses."""
    front = "" if found.begin is None else f" behind token {found.begin}"
    start = (
        f"{found.checkpoint}: {found.n_sequences} sequences of {found.n_tokens} random tokens said "
        f"twice{front}, seed {found.seed}; mean weights of the second half, in brackets without "
        "the first token"
    )
    has_effective = found.has_effective_weights
    effective = ["effective weights: there is no softmax"] if has_effective else []
    return "\n".join([start, *effective, *_table(found), *_clear(found), *_losses(found)])


def _table(found: Repeated) -> list[str]:
    lines = [["head", *(text for name in SCORES for text in (NAMES[name], "uniform"))]]
    for row in found.sorted_by("induction"):
        line = [row.name]
        for name in SCORES:
            score = row.score(name)
            line.append(f"{score.weight:.3f} ({_number(score.without_first)})")
            line.append(f"{score.uniform:.3f} ({score.uniform_without_first:.3f})")
        lines.append(line)
    return aligned(lines)


def _clear(found: Repeated) -> list[str]:
    """Which heads do it, by thresholds, or that none does."""
    return [
        f"{NAMES[name]}: "
        + (", ".join(row.name for row in found.clear(name)) or "no head does it")
        + " (at least 0.3, and twice uniform)"
        for name in SCORES
    ]


def _losses(found: Repeated) -> list[str]:
    losses, (low, high) = found.losses, found.losses.range
    n, best = len(losses.best), ", ".join(head_name(*head) for head in losses.best)
    seeds = f"seeds {losses.draws[0].seed} to {losses.draws[-1].seed}"
    lines = {
        "nats a token (95 % interval over sequences)": f"{found.chance:.2f} for a guess among all "
        f"{found.n_ordinary} tokens",
        "  first half": _interval(losses.first),
        "  second half": f"{_interval(losses.second)}, less by {_interval(losses.saved)}",
        f"  second half without the {n} best for induction ({best})": (
            f"{_interval(losses.without_best)}, more by {_interval(losses.added_by_best)}"
        ),
        f"  second half without {n} random heads ({len(losses.draws)} draws, {seeds})": (
            f"{_interval(losses.without_random)}, from {low:.2f} to {high:.2f}"
        ),
        "  the best above the random ones": _interval(losses.best_above_random),
    }
    return [f"{what}: {said}" for what, said in lines.items()]


def _interval(value: Estimate) -> str:
    return f"{value.mean:.2f} ({value.low:.2f} to {value.high:.2f})"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _show_progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        end = "\n" if done == total else ""
        print(f"\r{done} of {total} passes", end=end, file=sys.stderr)
