"""`heads --off`: some heads off together, and what is left of the answers."""

import argparse
import json
import re
from typing import Any

from core.checkpoints.store import Checkpoint
from core.data.corpus import TrainingCorpus
from core.inspection.ablate import head_means
from core.inspection.answered import answered
from core.inspection.captions import head_name, parse_head
from core.inspection.effects import effect


def parse_typed(text: str) -> tuple[int, int]:
    """A head as it is shown, L1·H5, or as it is easily typed: L1H5, L1.H5. Raises ValueError."""
    return parse_head(re.sub(r"^(L\d+)[.\-]?H", r"\1·H", text.strip().upper()))


def run_off(stored: Checkpoint, corpus: TrainingCorpus, options: argparse.Namespace) -> None:
    """Switch off the set, answer the split, print."""
    heads = [parse_typed(text) for text in options.off]
    known = answered(stored.model, stored.vocabulary, corpus.questions(options.split))
    accuracy, means = known.accuracy, None
    if options.mode == "mean":
        dev = answered(stored.model, stored.vocabulary, corpus.dev)
        means = head_means(stored.model, dev)
    found = effect(stored.model, stored.vocabulary, known, heads, mode=options.mode, means=means)
    report: dict[str, Any] = {
        "checkpoint": stored.name,
        "split": options.split,
        "total": len(known.questions),
        "mode": options.mode,
        "off": [head_name(*head) for head in found.heads],
        "accuracy": accuracy,
        "accuracy_without": found.accuracy,
        "changed": int(found.changed.sum()),
        "log_probability_change": float(found.answer_change.mean()),
    }
    print(json.dumps(report, ensure_ascii=False) if options.json else _text(report))


def _text(report: dict[str, Any]) -> str:
    return (
        f"{report['checkpoint']}, {report['split']}: {report['accuracy']:.1%} of "
        f"{report['total']} with every head, {report['accuracy_without']:.1%} without "
        f"{', '.join(report['off'])} ({report['mode']} in their place); {report['changed']} "
        f"answers change, log-probability {report['log_probability_change']:+.2f} on average"
    )
