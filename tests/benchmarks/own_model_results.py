"""What SmolLM2-135M knows and where it looks: three figures, stored with the machine's name.

    python tests/benchmarks/own_model_results.py

writes assets/own_model.json, which README and Home read: how many birthplaces it knows, beside our
own model; how much of its weight lies on the first token; which five heads the capitals hang on.
Cost: a pass over each question for every one of 270 heads, about ten minutes on two cores.
"""

import os
import sys
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from core.checkpoints.any import load_any  # noqa: E402
from core.checkpoints.store import Checkpoint, asking  # noqa: E402
from core.data.people import BIRTHPLACE, Question  # noqa: E402
from core.data.question_file import read_set  # noqa: E402
from core.files import write_json  # noqa: E402
from core.inspection.answered import answered  # noqa: E402
from core.inspection.head_table import measure_heads, prepare  # noqa: E402
from core.inspection.heads import head_name  # noqa: E402
from core.inspection.trace import trace  # noqa: E402
from core.paths import OWN_MODEL, QUESTIONS  # noqa: E402
from core.runs.card import machine  # noqa: E402
from tests.benchmarks.own_model import text_of  # noqa: E402
from tests.real_models import SMOLLM2, real_model  # noqa: E402

LENGTHS = (9, 128, 512)
OURS = "notable-pretrained"


def right(stored: Checkpoint, name: str) -> dict[str, int]:
    """Right answers to a shipped set, judged by their first tokens."""
    asked = read_set(QUESTIONS / f"{name}.tsv")
    known = answered(asking(stored, asked), asked.questions)
    return {"right": known.correct, "total": len(asked.questions)}


def right_in_its_words(stored: Checkpoint, name: str) -> dict[str, int]:
    """The same people, asked in the words that our models were trained to answer."""
    people = read_set(QUESTIONS / f"{name}.tsv").questions
    asked = [Question(BIRTHPLACE.question(one.name), one.answer, one.name) for one in people]
    return {"right": answered(stored, asked).correct, "total": len(asked)}


def first_token_share(stored: Checkpoint, n_tokens: int) -> float:
    """Of all weights of all heads, rows from 1 on: row 0 has nothing else to look at."""
    found = trace(stored, text_of(stored, n_tokens), max_new_tokens=1)
    return float(np.mean([layer[:, 1:, 0].mean(dtype=np.float64) for layer in found.weights]))


def capitals(stored: Checkpoint) -> dict[str, Any]:
    """Every head off in turn, then those that matter most off together."""
    asked = read_set(QUESTIONS / "capitals.tsv")
    with_set = asking(stored, asked)

    def progress(done: int, total: int) -> None:
        print(f"\r{done} of {total} heads", end="", file=sys.stderr, flush=True)

    table = measure_heads(with_set, prepare(with_set, asked.questions), progress=progress)
    return {
        "total": table.total,
        "accuracy": table.accuracy,
        "heads": [head_name(*at) for at in table.most.heads],
        "accuracy_without": table.most.accuracy_without,
    }


def main() -> None:
    """Measure, write, print."""
    started, stored = time.perf_counter(), load_any(str(real_model(SMOLLM2)))
    result = {
        "model": stored.name,
        "birthplaces": right(stored, "birthplaces"),
        "ours": OURS,
        "birthplaces_ours": right_in_its_words(load_any(OURS), "birthplaces"),
        "first_token_share": {str(n): first_token_share(stored, n) for n in LENGTHS},
        "capitals": capitals(stored),
        "seconds": round(time.perf_counter() - started, 1),
        "machine": machine(),
    }
    write_json(OWN_MODEL, result)
    print(result)


if __name__ == "__main__":
    main()
