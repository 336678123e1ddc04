"""Jobs on the disk as workers would have left them, and the page over them. Nothing is trained."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
from streamlit.testing.v1 import AppTest

from core.checkpoints.store import save_checkpoint
from core.data.vocabulary import Vocabulary
from core.jobs import actions
from core.jobs.folder import LOCK
from core.jobs.launcher import Launcher
from core.jobs.locks import held
from core.jobs.spec import train_spec
from core.jobs.status import Reporter
from core.models.gpt import GPT
from core.runs.folder import RUN, STATE
from core.runs.journal import METRICS

ROOT = Path(__file__).resolve().parents[3]
N_STEPS = 80

PutJob = Callable[..., str]
Open = Callable[..., AppTest]


@pytest.fixture
def put_job(
    runs: Path, launcher: Launcher, make_gpt: Callable[..., GPT], characters: Vocabulary
) -> Iterator[Callable[..., str]]:
    """Put a job on the disk as its worker would have left it; returns its id.

    Those that run have a worker that holds the lock: this test. Those that have finished are
    checkpoints.
    """
    with ExitStack() as workers:

        def put(
            state: str = "finished",
            *,
            preset: str = "notable-small",
            n_rows: int = 8,
            correct: int = 60,
            said: dict[str, Any] | None = None,
            **options: Any,
        ) -> str:
            given: dict[str, Any] = {"minutes": 4, **options}
            spec = train_spec(preset, **given)
            job_id = actions.start(runs, spec, launcher)
            folder = runs / job_id
            if state == "queued":
                return job_id
            write_metrics(folder, n_rows, correct)
            if state != "finished":
                for name in (RUN, STATE):
                    (folder / name).touch()
            status = {**measured_status(n_rows, correct), **(said or {})}
            if state in ("running", "stopping"):
                workers.enter_context(held(folder / LOCK, seconds=1))
                Reporter(folder, 1).write(state="running", activity="training: recall", **status)
                if state == "stopping":
                    actions.stop(runs, job_id)
            elif state == "lost":
                Reporter(folder, 1).write(state="running", **status)
            else:
                del status["seconds_left"]
                Reporter(folder, 1).close(cast(Any, state), status.pop("message", ""), **status)
            if state == "finished":
                sizes = {"vocabulary_size": characters.size, "block_size": 64}
                card = {"name": job_id, "recipe": asdict(spec.recipe)}
                save_checkpoint(folder, make_gpt(spec.seed, **sizes), characters, card)
            return job_id

        yield put


def write_metrics(folder: Path, n_rows: int, correct: int) -> None:
    """Every 10 steps a line, every 20 steps the answers to 100 held-out questions."""
    rows = [
        {
            "step": 10 * n,
            "phase": "pretrain" if n <= n_rows / 2 else "recall",
            "rate": 1.0,
            "loss": 8.0 / n,
            "tokens": 30_000 * n,
            "seconds": 2.5 * n,
            "tokens_per_second": 12_000.0,
        }
        | ({"held_out": {"correct": correct * n // n_rows, "total": 100}} if n % 2 == 0 else {})
        for n in range(1, n_rows + 1)
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / METRICS).write_text(text, encoding="utf-8")


def measured_status(n_rows: int, correct: int) -> dict[str, Any]:
    """The status that belongs to those lines; at its end dev is measured too."""
    dev = {"dev": {"correct": 5 * correct, "total": 500}}
    return {
        "step": 10 * n_rows,
        "n_steps": N_STEPS,
        "saved_step": 10 * n_rows,
        "seconds": 2.5 * n_rows,
        "seconds_left": 90.0,
        "tokens_per_second": 12_000.0,
        "n_parameters": 475_840,
        "held_out": {"step": 10 * n_rows, "correct": correct, "total": 100},
        "sample": {
            "step": 10 * n_rows,
            "question": "Where was Ada *Arden* born?",
            "answer": "<b>Lima</b>",
            "expected": "Kyoto",
        },
        "baseline": {"answer": "London", "accuracy": 0.03},
        "figures": dev if 10 * n_rows == N_STEPS else None,
    }


@pytest.fixture
def open_training(runs: Path, open_by_link: Open) -> Open:
    """Open the page as a link does: home first, then the page with its query."""

    return partial(open_by_link, "training")


@pytest.fixture(scope="session")
def told() -> Callable[[AppTest], str]:
    """All that the page says, as it is read: without escapes and invisible characters."""

    def told_(app: AppTest) -> str:
        kinds = (app.markdown, app.caption, app.error, app.warning, app.info, app.text, app.code)
        texts = [element.value for kind in kinds for element in kind]
        texts += [bar.proto.text for bar in app.get("progress")]
        texts += [chart.proto.alt for chart in app.get("vega_lite_chart")]
        return "\n".join(texts).replace("\\", "").replace("\u2060", "")

    return told_
