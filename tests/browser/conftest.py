"""One server and one Chromium for all browser tests."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from core.checkpoints.shelf import list_checkpoints
from core.jobs.state import list_all
from core.paths import CHECKPOINTS

ROOT = Path(__file__).resolve().parents[2]
# The first has no window to draw for and needs a third less of the processor; its letters are as
# wide as those of the other where they are not hinted.
BROWSERS = ("chromium-headless-shell", "chromium")
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --font-render-hinting=none"
)
# A page lives for seconds: compiling its scripts as well as can be takes longer than it saves; the
# next one finds them compiled in the process that it shares.
SHORT_LIVED = ("--js-flags=--no-opt", "--process-per-site")
QUESTION = "Where was Marie Curie born?"
WAIT_MS = 120_000  # a page on a busy machine
LONG_MS = 300_000  # a job on a busy machine
N_PEOPLE = 300
# A chart of Altair's, or of Plotly's, which draws maps of many tokens.
DRAWN = "[data-testid=stVegaLiteChart] svg, [data-testid=stPlotlyChart] .plot-container"
N_CHARTS = {
    "/": 2,
    "/lessons": 0,
    "/attention": 3,
    "/heads": 1,
    "/knowledge": 6,
    "/compare": 4,
    "/listen": 7 if list_checkpoints(CHECKPOINTS, hears=True) else 1,
    "/look": 6,
    "/monte_carlo": 3,
    "/attention_by_hand": 1,
    "/report_card": 1,
    "/memory": 1,
    "/runtime": 2,
    "/training": 2,
}


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the app, served by a process of its own."""
    if not list_checkpoints(CHECKPOINTS):
        pytest.skip("no checkpoint is shipped yet: there is nothing to look at")
    with serving(tmp_path_factory.mktemp("server") / "log.txt") as address:
        yield address


@pytest.fixture
def fresh_server(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A server that nobody has visited yet, and its log."""
    log = tmp_path / "log.txt"
    with serving(log) as address:
        yield address, log


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[[Path], tuple[str, subprocess.Popen[bytes]]]]:
    """Start servers of an app's folder, each with its address; what is left of them is stopped."""
    processes: list[subprocess.Popen[bytes]] = []

    def serve_(folder: Path) -> tuple[str, subprocess.Popen[bytes]]:
        log = tmp_path / f"server-{len(processes)}.txt"
        address, process = start_server(log, folder)
        processes.append(process)
        wait_for(f"{address}/_stcore/health", process, log)
        return address, process

    yield serve_
    for process in processes:
        process.terminate()
        process.wait(timeout=30)


@pytest.fixture
def own_app(tmp_path: Path) -> Iterator[Path]:
    """A copy of the app with few people and no checkpoint; no worker of it is left."""
    folder = tmp_path / "app"
    for name in ("core", "pages", "assets", ".streamlit"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "app.py", folder)
    people = folder / "assets" / "people.tsv"
    lines = people.read_text(encoding="utf-8").splitlines(keepends=True)
    people.write_text("".join(lines[: N_PEOPLE + 1]), encoding="utf-8")
    (folder / "checkpoints").mkdir()
    yield folder
    for job in list_all(folder / "checkpoints" / "runs"):
        if job.alive and job.status is not None:
            os.killpg(job.status.pid, signal.SIGKILL)


@contextmanager
def serving(log: Path) -> Generator[str]:
    """A freshly started server's address, as soon as it is healthy; stopped at the end."""
    address, process = start_server(log, ROOT)
    try:
        wait_for(f"{address}/_stcore/health", process, log)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=30)


def start_server(log: Path, folder: Path) -> tuple[str, subprocess.Popen[bytes]]:
    """Its address and its process; it may not be healthy yet."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py"]
    options = {
        "server.port": port,
        "server.address": "127.0.0.1",
        "server.headless": "true",
        "server.fileWatcherType": "none",
        "browser.gatherUsageStats": "false",
    }
    flags = [f"--{name}={value}" for name, value in options.items()]
    with log.open("wb") as file:
        process = subprocess.Popen([*command, *flags], cwd=folder, stdout=file, stderr=file)
    return f"http://127.0.0.1:{port}", process


def wait_for(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Until the server is healthy; its log is shown if it dies or takes over a minute."""
    end = time.monotonic() + WAIT_MS / 1000
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=5) as reply:
                if reply.status == 200:
                    return
        except OSError:
            time.sleep(0.05)  # not busily: the server needs the processor
    pytest.fail(f"the server did not start:\n{log.read_text(errors='replace')}")


@pytest.fixture(scope="session")
def visitor(server: str) -> Iterator[Any]:
    """Debian's Chromium, once; the first session opens the home page, as a visitor would.

    All windows share its cache and, as long as one is open, a process: the app's scripts are
    fetched and compiled once. What a session remembers is the server's, and each window is a
    session of its own. Nothing moves that need not: every step would be one picture more.
    """
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip(f"no Chromium is installed (Debian: apt-get install {BROWSERS[0]})")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=program, args=[*FLAGS.split(), *SHORT_LIVED]
        )
        context = chromium.new_context(accept_downloads=True, reduced_motion="reduce")
        page = context.new_page()
        page.goto(server, timeout=WAIT_MS)
        page.locator("[data-testid=stVegaLiteChart] svg").first.wait_for(timeout=WAIT_MS)
        page.goto(f"{server}/_stcore/health")  # stays open, and asks nothing of the server
        yield context
        chromium.close()


def complaint(message: Any) -> list[str]:
    """An error of the console, unless Streamlit looks for its server beside the page's own address
    before it finds it at the root, or a sound is asked for that the next run has put away."""
    probe = bool(re.search(r":\d+/(\w+/_stcore|media)/", message.location.get("url", "")))
    if message.type != "error" or probe:
        return []
    return [f"{message.text} {message.location}"]


@pytest.fixture
def window(visitor: Any) -> Iterator[Callable[[int, str], Any]]:
    """A new window of a width, 720 high, in a theme; closed at the end."""
    pages: list[Any] = []

    def window_(width: int, scheme: str) -> Any:
        pages.append(visitor.new_page())
        pages[-1].set_viewport_size({"width": width, "height": 720})
        pages[-1].emulate_media(color_scheme=scheme)
        return pages[-1]

    yield window_
    for page in pages:
        page.close()


@pytest.fixture
def open_page(server: str, window: Callable[[int, str], Any]) -> Callable[..., Any]:
    """Open a page in a fresh session; `problems` collects the console, and the list `asked` the
    addresses of all requests."""

    def open_(
        path: str = "/attention",
        *,
        scheme: str = "light",
        width: int = 1280,
        asked: list[str] | None = None,
        **query: str,
    ) -> Any:
        page = window(width, scheme)
        page.set_default_timeout(WAIT_MS)
        page.problems = []
        page.on("console", lambda message: page.problems.extend(complaint(message)))
        page.on("pageerror", lambda error: page.problems.append(str(error)))
        if asked is not None:
            page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{server}{path}" + (f"?{urlencode(query)}" if query else ""))
        alone = "present" in query  # then all but one picture is hidden
        n_charts = 0 if alone else N_CHARTS[path.partition("?")[0]]
        if n_charts:
            page.locator(DRAWN).nth(n_charts - 1).wait_for()
        else:
            page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
        return page

    return open_


@pytest.fixture
def visit(window: Callable[[int, str], Any]) -> Callable[..., Any]:
    """Open a page of any server in a window of its own, for as long as a job may take."""

    def visit_(address: str, path: str, *, width: int = 1280, **query: Any) -> Any:
        page = window(width, "light")
        page.set_default_timeout(LONG_MS)
        page.goto(f"{address}{path}?{urlencode(query, doseq=True)}")
        return page

    return visit_


@pytest.fixture(scope="session")
def asked() -> dict[str, str]:
    """The query of a link that types a question."""
    return {"source": "type freely", "question": QUESTION}


@pytest.fixture
def open_file(window: Callable[[int, str], Any]) -> Callable[[Path], Any]:
    """Open a kept page; `problems` are what the console says and every address asked for."""

    def open_(path: Path) -> Any:
        page = window(1280, "light")
        page.problems = []
        page.on("console", lambda message: page.problems.append(message.text))
        page.on("pageerror", lambda error: page.problems.append(str(error)))
        page.on("request", lambda request: page.problems.append(request.url))
        page.goto(path.as_uri())
        assert page.problems.pop(0) == path.as_uri()
        return page

    return open_
