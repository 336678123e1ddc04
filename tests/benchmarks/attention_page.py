"""How long a change of head takes, and how much a first view sends: 4 layers, 8 heads, 128 tokens.

    python tests/benchmarks/attention_page.py

Not a test: the figures belong to the machine that is printed with them.
"""

import os
import platform
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch
from urllib.parse import urlencode

os.environ.setdefault("OMP_NUM_THREADS", "1")  # as app.py has it for the server
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402
from streamlit.runtime.scriptrunner import RerunData  # noqa: E402
from streamlit.testing.v1 import AppTest, local_script_runner  # noqa: E402

from core import paths  # noqa: E402
from core.checkpoints.store import save_checkpoint  # noqa: E402
from core.data.own_vocabulary import CharVocabulary  # noqa: E402
from core.devices import processor_name  # noqa: E402
from core.models.config import GPTConfig  # noqa: E402
from core.models.gpt import GPT  # noqa: E402

N_LAYERS, N_HEADS, N_TOKENS, N_TIMES = 4, 8, 128, 10
MOST_MILLISECONDS, MOST_BYTES = 60, 500_000
QUESTION = f"Where was {'Ada Lovelace ' * 6}born?"
CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ?."
FLAGS = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
QUERY = {"source": "type freely", "question": QUESTION}
# A server whose checkpoints lie in the folder that is its first argument.
SERVE = """
import sys
from pathlib import Path
from core import paths
paths.CHECKPOINTS = Path(sys.argv.pop(1))
from streamlit.web.cli import main
main()
"""


def build(folder: Path) -> None:
    """A checkpoint with random parameters; its patterns are as full as a trained model's."""
    vocabulary = CharVocabulary.from_text(CHARACTERS)
    config = GPTConfig(
        vocabulary_size=vocabulary.size, block_size=N_TOKENS, n_layers=N_LAYERS, n_heads=N_HEADS
    )
    generator = torch.Generator().manual_seed(0)
    model = GPT(config, generator=generator)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 2:
                parameter.normal_(0.0, 0.1, generator=generator)
    save_checkpoint(folder / "benchmark", model, vocabulary, {})


def head_changes(folder: Path) -> list[float]:
    """Milliseconds of server time of each change of head, as the fragment's own rerun."""
    paths.CHECKPOINTS = folder
    app = AppTest.from_file(ROOT / "app.py", default_timeout=300).run()
    app.switch_page("pages/attention/page.py")
    app.query_params.update(QUERY)
    app.run()
    if app.exception or app.error:
        raise SystemExit(f"the page failed: {[e.value for e in (*app.exception, *app.text)]}")
    heads = app.selectbox(key="head").options
    n_tokens = len(app.selectbox(key="row").options) - 1
    if (len(heads), n_tokens) != (N_LAYERS * N_HEADS, N_TOKENS):
        raise SystemExit(f"{len(heads)} heads and {n_tokens} tokens are not what is measured")
    times: list[float] = []
    for head in [*heads[:2], *heads[2 : 2 + N_TIMES]]:  # two to warm up
        before = app.get("plotly_chart")[0].proto.alt
        app.selectbox(key="head").set_value(head)
        with fragment_alone(app):
            start = time.perf_counter()
            app.run()
            times.append(1000 * (time.perf_counter() - start))
        if app.get("plotly_chart")[0].proto.alt == before and times[2:]:
            raise SystemExit(f"the picture did not change with the head {head}")
    return times[2:]


@contextmanager
def fragment_alone(app: AppTest) -> Generator[None]:
    """AppTest reruns whole pages; a browser asks for the fragment that holds the widget."""
    (fragment,) = app._fragment_storage._fragments
    with patch.object(
        local_script_runner,
        "RerunData",
        lambda **parts: replace(RerunData(**parts), fragment_id=fragment),
    ):
        yield


@contextmanager
def served(folder: Path) -> Generator[str]:
    """The address of a server over the temporary checkpoints."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    flags = [f"--server.port={port}", "--server.address=127.0.0.1", "--server.headless=true"]
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            SERVE,
            str(folder),
            "run",
            "app.py",
            *flags,
            "--server.fileWatcherType=none",
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        address = f"http://127.0.0.1:{port}"
        while process.poll() is None:
            try:
                urllib.request.urlopen(f"{address}/_stcore/health", timeout=5).close()
                break
            except OSError:
                time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=30)


def first_view_bytes(address: str, program: str) -> tuple[int, list[int]]:
    """Bytes that the page's websocket brings until everything is drawn, and its largest frames."""
    from playwright.sync_api import sync_playwright

    frames: list[int] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS.split())
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        page.set_default_timeout(300_000)
        page.goto(address)  # a fresh server's first session has to enter at the home page
        page.get_by_test_id("stVegaLiteChart").nth(1).locator("svg, canvas").first.wait_for()
        page.close()
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        page.set_default_timeout(300_000)
        page.on(
            "websocket",
            lambda socket: socket.on("framereceived", lambda data: frames.append(len(data))),
        )
        page.goto(f"{address}/attention?{urlencode(QUERY)}")
        page.get_by_test_id("stVegaLiteChart").nth(1).locator("svg, canvas").first.wait_for()
        page.get_by_test_id("stPlotlyChart").locator("svg").first.wait_for()
        page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
        browser.close()
    return sum(frames), sorted(frames, reverse=True)[:6]


def main() -> None:
    """Print both figures beside their bars."""
    print(
        f"{platform.node()}: {os.cpu_count()} cores, {processor_name()}, Python "
        f"{platform.python_version()}, load {os.getloadavg()[0]:.1f}"
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build(folder)
        times = head_changes(folder)
        print(
            f"change of head: median {statistics.median(times):.0f} ms of {N_TIMES} "
            f"({min(times):.0f} to {max(times):.0f}); bar {MOST_MILLISECONDS} ms"
        )
        program = shutil.which("chromium")
        if program is None:
            print("first view: not measured, chromium is not installed")
            return
        with served(folder) as address:
            total, largest = first_view_bytes(address, program)
        print(
            f"first view: {total / 1000:.0f} kB (largest messages {largest}); "
            f"bar {MOST_BYTES / 1000:.0f} kB"
        )


if __name__ == "__main__":
    main()
