"""What anyone's model costs, measured on SmolLM2-135M (30 layers, 9 heads): opening it, a trace
with its proof at 9, 128 and 512 tokens, memory beside the model, a change of head on the page.

    python tests/benchmarks/own_model.py

Not a test: the figures belong to the machine that is printed with them.
"""

import os
import platform
import statistics
import sys
import time
from pathlib import Path
from threading import Event, Thread

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import psutil  # noqa: E402

from core.checkpoints.anyones import open_anyones  # noqa: E402
from core.checkpoints.models_shelf import VARIABLE  # noqa: E402
from core.checkpoints.store import Checkpoint  # noqa: E402
from core.data.biographies import biographies  # noqa: E402
from core.data.people import load_people  # noqa: E402
from core.devices import processor_name  # noqa: E402
from core.inspection.trace import trace  # noqa: E402
from core.paths import PEOPLE  # noqa: E402
from tests.benchmarks.attention_page import fragment_alone  # noqa: E402
from tests.real_models import SMOLLM2, real_model  # noqa: E402

MOST_OPENING, MOST_CHANGE, MOST_MEMORY = 12.0, 150.0, 1.2e9
BARS = {9: None, 128: 1.5, 512: 4.0}  # seconds
N_TIMES = 5


def text_of(stored: Checkpoint, n_tokens: int) -> str:
    """Sentences about people that the model reads as so many tokens, the last written by itself."""
    said = biographies(load_people(PEOPLE)[:100], n_sentences=1, seed=0)
    text = " ".join(line.text for line in said)
    return stored.vocabulary.decode(stored.vocabulary.encode(text)[: n_tokens - 1])


def traced(stored: Checkpoint, n_tokens: int) -> tuple[list[float], int, float]:
    """Seconds of each trace, tokens read, and the most memory beside the model, in bytes."""
    text, times = text_of(stored, n_tokens), list[float]()
    process, ended, most = psutil.Process(), Event(), [0]
    before = process.memory_info().rss

    def watch() -> None:
        while not ended.wait(0.01):
            most[0] = max(most[0], process.memory_info().rss - before)

    watcher = Thread(target=watch)
    watcher.start()
    found = trace(stored, text, max_new_tokens=1)  # to warm up
    for _ in range(3):
        start = time.perf_counter()
        found = trace(stored, text, max_new_tokens=1)
        times.append(time.perf_counter() - start)
    ended.set()
    watcher.join()
    if not found.proof.same_argmax or not found.proof.future_exactly_zero:
        raise SystemExit(f"the proof failed: {found.proof}")
    return times, found.n_tokens, most[0]


def head_changes(folder: Path, name: str, text: str) -> list[float]:
    """Milliseconds of server time of each change of head, as the fragment's own rerun."""
    from streamlit.testing.v1 import AppTest

    os.environ[VARIABLE] = str(folder)
    app = AppTest.from_file(ROOT / "app.py", default_timeout=300).run()
    app.switch_page("pages/attention/page.py")
    app.query_params.update({"checkpoint": name, "tokens": "1", "question": text})
    app.run()
    if app.exception or app.error:
        raise SystemExit(f"the page failed: {[e.value for e in (*app.exception, *app.text)]}")
    heads, times = app.selectbox(key="head").options, list[float]()
    for head in [*heads[:2], *heads[2 :: len(heads) // N_TIMES]]:  # two to warm up
        app.selectbox(key="head").set_value(head)
        with fragment_alone(app):
            start = time.perf_counter()
            app.run()
            times.append(1000 * (time.perf_counter() - start))
    return times[2:]


def main() -> None:
    """Print every figure beside its bar."""
    print(
        f"{platform.node()}: {os.cpu_count()} cores, {processor_name()}, Python "
        f"{platform.python_version()}, load {os.getloadavg()[0]:.1f}"
    )
    path, start = real_model(SMOLLM2), time.perf_counter()
    stored = open_anyones(path)
    print(f"open: {time.perf_counter() - start:.1f} s with its imports; bar {MOST_OPENING:.0f} s")
    for n_tokens, bar in BARS.items():
        times, found, beside = traced(stored, n_tokens)
        said = "" if bar is None else f"; bar {bar} s, memory {MOST_MEMORY / 1e9} GB"
        print(
            f"trace and proof at {found} tokens: median {statistics.median(times):.2f} s, "
            f"{beside / 1e9:.2f} GB beside the model{said}"
        )
    for n_tokens in (128, 512):
        text = " ".join(text_of(stored, n_tokens).split())
        changes = head_changes(path.parent, path.stem, text)
        print(
            f"change of head at {n_tokens} tokens: median {statistics.median(changes):.0f} ms "
            f"({min(changes):.0f} to {max(changes):.0f}); bar {MOST_CHANGE:.0f} ms"
        )


if __name__ == "__main__":
    main()
