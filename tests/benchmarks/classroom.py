"""A class at one server: how long a view takes, how much it sends, and whose question it shows.

    python tests/benchmarks/classroom.py 30
    python tests/benchmarks/classroom.py 60 --pages attention --views 10
    python tests/benchmarks/classroom.py 4 --between 0 --views 500   # memory over 2,000 views
    python tests/benchmarks/classroom.py --cold                      # a server's first pictures

Starts the app with a class open for each lesson, and opens SESSIONS sessions over Streamlit's own
websocket. Each opens a view of a page by its address (a new session, as a link or a reload does),
reads it to its end, and opens the next one `--between` seconds after it opened this one; they start
spread over the first interval.

Not a test: the figures belong to the machine that is printed with them. The pupils run on it too.
"""

import argparse
import asyncio
import os
import platform
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import psutil
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from core.classroom.codes import new_pupil  # noqa: E402
from core.classroom.store import open_session  # noqa: E402
from core.data.people import BIRTHPLACE, load_people  # noqa: E402
from core.data.task import NOTABLE  # noqa: E402
from core.devices import processor_name  # noqa: E402
from core.lessons.lesson import Lesson, Step  # noqa: E402
from core.lessons.reading import list_lessons  # noqa: E402
from core.paths import PEOPLE  # noqa: E402

BARS = {30: 0.5, 60: 1.0, 100: 1.5}  # seconds within which 95 % of the views of all pages come
COLD_BARS = {"home": 2.5, "attention": 6.0}  # seconds from the start of the server
CHECKPOINTS = ("notable-pretrained", "notable-small", "notable-char")
N_VIEWS = 11  # of one round through all pages
MOST_SECONDS = 120.0  # then a view counts as failed


@dataclass(frozen=True, slots=True)
class Address:
    """A page, its query, the names that only this view asks about, and what its views are called
    if not by their page.
    """

    page: str
    query: Mapping[str, str | tuple[str, ...]]
    names: tuple[str, ...] = ()
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """What came of one view; `exceptions` are those that the page shows."""

    page: str
    seconds: float
    n_bytes: int
    exceptions: list[str]
    is_somebody_elses: bool


def asked_about() -> list[str]:
    """Everybody but those whose question the home page or a lesson shows to all."""
    names = [person.name for person in load_people(PEOPLE)]
    shown = str([step.state for lesson in list_lessons() for step in lesson.steps])
    return [
        name for name in names if BIRTHPLACE.question(name) != NOTABLE.example and name not in shown
    ]


def lesson_steps() -> list[tuple[Lesson, int, Step]]:
    """Every step of every shipped lesson with its number."""
    return [
        (lesson, number, step)
        for lesson in list_lessons()
        for number, step in enumerate(lesson.steps, 1)
    ]


def step_address(n: int, codes: dict[str, str]) -> Address:
    """A step of a lesson: alone, or every other time in the class that is open for it."""
    steps = lesson_steps()
    lesson, number, step = steps[n % len(steps)]
    in_class = {"class": codes[lesson.name], "pupil": new_pupil()} if n % 2 else {}
    query = {"lesson": lesson.name, "lesson-step": str(number), **in_class, **step.state}
    return Address(step.page, query, kind="a lesson's step")


def addresses(codes: dict[str, str]) -> Iterator[Address]:
    """Views of all pages in turn. No two ask about the same person; classes by their lesson."""
    names = asked_about()
    for n in count():
        one, two = names[2 * n % len(names)], names[(2 * n + 1) % len(names)]
        checkpoint = CHECKPOINTS[n % len(CHECKPOINTS)]
        yield Address("attention", attention_query(n, one, checkpoint), (one,))
        yield Address("", {})
        yield Address("heads", {"heads-checkpoint": checkpoint, "heads-head": f"L0·H{n % 8}"})
        asked = {
            "compare-source": "type freely",
            "compare-question": BIRTHPLACE.question(one),
            "compare-other-source": "type freely",
            "compare-other-question": BIRTHPLACE.question(two),
        }
        yield Address("compare", asked, (one, two))
        yield Address("monte_carlo", {"mc-seed": str(n), "mc-heads": ("one", "two")[n % 2]})
        yield Address("attention_by_hand", {})
        yield Address("runtime", {})
        yield Address("training", {})
        yield Address("report_card", {})
        yield Address("lessons", {})
        if codes:
            yield step_address(n, codes)


def attention_views() -> Iterator[Address]:
    """Views of the attention page alone."""
    names = asked_about()
    for n in count():
        name = names[n % len(names)]
        query = attention_query(n, name, CHECKPOINTS[n % len(CHECKPOINTS)])
        yield Address("attention", query, (name,))


def attention_query(n: int, name: str, checkpoint: str) -> dict[str, str]:
    """A question typed, a head chosen."""
    return {
        "checkpoint": checkpoint,
        "source": "type freely",
        "question": BIRTHPLACE.question(name),
        "head": f"L{n % 2}·H{n % 8}",
    }


async def visit(server: str, address: Address, others: set[str]) -> Seen:
    """Open a view as a browser does and read it to its end."""
    start, n_bytes, exceptions, texts = time.perf_counter(), 0, [], []
    request = BackMsg()
    request.rerun_script.query_string = urlencode(address.query, doseq=True)
    request.rerun_script.page_name = address.page
    async with websockets.connect(
        server.replace("http", "ws", 1) + "/_stcore/stream",
        origin=server,  # pyright: ignore[reportArgumentType]
        subprotocols=["streamlit"],  # pyright: ignore[reportArgumentType]
        max_size=None,
        compression=None,
        open_timeout=MOST_SECONDS,
    ) as stream:
        await stream.send(request.SerializeToString())
        async for raw in stream:
            assert isinstance(raw, bytes)
            n_bytes += len(raw)
            message = ForwardMsg.FromString(raw)
            kind = message.WhichOneof("type")
            if kind == "delta" and message.delta.WhichOneof("type") == "new_element":
                element = message.delta.new_element
                if element.WhichOneof("type") == "exception":
                    exceptions.append(f"{element.exception.type}: {element.exception.message}")
                elif element.WhichOneof("type") == "markdown":
                    texts.append(element.markdown.body.replace("\\", ""))
            elif kind == "script_finished":
                break
    took = time.perf_counter() - start
    said, strangers = "\n".join(texts), others - set(address.names)
    is_own = all(BIRTHPLACE.question(name) in said for name in address.names)
    is_elses = any(BIRTHPLACE.question(name) in said for name in strangers)
    called = address.kind or address.page or "home"
    return Seen(called, took, n_bytes, exceptions, is_elses or not is_own)


async def pupil(
    server: str, turn: int, args: argparse.Namespace, views: Iterator[Address], asked: set[str]
) -> list[Seen]:
    """One session after the other, each opened when its time has come."""
    await asyncio.sleep(turn * args.between / args.sessions)
    seen: list[Seen] = []
    for _ in range(args.views):
        start = time.perf_counter()
        address = next(views)
        asked.update(address.names)
        seen.append(await asyncio.wait_for(visit(server, address, asked), MOST_SECONDS))
        asked.difference_update(address.names)
        await asyncio.sleep(max(0.0, args.between - (time.perf_counter() - start)))
    return seen


async def school_hour(server: str, args: argparse.Namespace, codes: dict[str, str]) -> list[Seen]:
    """All views of all pupils."""
    views = attention_views() if args.pages == "attention" else addresses(codes)
    asked: set[str] = set()
    groups = [pupil(server, turn, args, views, asked) for turn in range(args.sessions)]
    return [seen for group in await asyncio.gather(*groups) for seen in group]


async def warm_up(server: str, codes: dict[str, str]) -> None:
    """Every page once, every model, and every step of a lesson."""
    views = addresses(codes)
    for _ in range(N_VIEWS * max(len(CHECKPOINTS), len(lesson_steps()))):
        await visit(server, next(views), set())


@contextmanager
def served(
    log: Path, flags: list[str], room: Path | None = None
) -> Generator[tuple[str, psutil.Process]]:
    """A freshly started server; the answers of classes lie in `room`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}"]
    with log.open("wb") as file:
        process = subprocess.Popen(
            [*command, "--server.headless=true", *flags],
            cwd=ROOT,
            env=os.environ | ({"EXPLORER_CLASSROOM": str(room)} if room else {}),
            stdout=file,
            stderr=file,
        )
    try:
        yield f"http://127.0.0.1:{port}", psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait(timeout=30)


def wait_until_healthy(server: str, process: psutil.Process) -> None:
    """Return as soon as the server answers."""
    while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
        try:
            urllib.request.urlopen(f"{server}/_stcore/health", timeout=5).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    raise SystemExit("the server did not start")


def cpu_seconds(process: psutil.Process) -> float:
    """Processor time that the server has used so far."""
    times = process.cpu_times()
    return times.user + times.system


def cold(flags: list[str]) -> None:
    """From starting the server to the end of its first view: home, and attention, each afresh."""
    for address in (Address("", {}), Address("attention", {})):
        with tempfile.TemporaryDirectory() as name:
            start = time.perf_counter()
            with served(Path(name) / "log.txt", flags) as (server, process):
                wait_until_healthy(server, process)
                ready = time.perf_counter() - start
                asyncio.run(visit(server, address, set()))
                took, page = time.perf_counter() - start, address.page or "home"
                print(
                    f"cold start: {page} after {took:.2f} s (bar {COLD_BARS[page]} s), server "
                    f"ready after {ready:.2f} s"
                )


def report(seen: list[Seen], args: argparse.Namespace, spent: float) -> None:
    """Print what the views took, together and page by page."""
    seconds = np.array([view.seconds for view in seen])
    bar = BARS.get(args.sessions) if args.pages == "all" and args.between == 10 else None
    print(
        f"{args.sessions} sessions, {len(seen)} views of {args.pages} page(s), "
        f"{args.between:g} s between: median {np.median(seconds):.3f} s, "
        f"95 % {np.quantile(seconds, 0.95):.3f} s, maximum {seconds.max():.3f} s"
        + (f" (bar: 95 % within {bar} s)" if bar else "")
    )
    print(
        f"server: {1000 * spent / len(seen):.0f} ms of processor time a view, "
        f"{np.mean([view.n_bytes for view in seen]) / 1000:.0f} kB a view; exceptions "
        f"{sum(bool(view.exceptions) for view in seen)}, views of somebody else's question "
        f"{sum(view.is_somebody_elses for view in seen)}"
    )
    for page in dict.fromkeys(view.page for view in seen):
        own = [view for view in seen if view.page == page]
        times = np.array([view.seconds for view in own])
        print(
            f"  {page:18} median {np.median(times):.3f} s, 95 % {np.quantile(times, 0.95):.3f} s, "
            f"{np.mean([view.n_bytes for view in own]) / 1000:.0f} kB"
        )
    for problem in sorted({problem for view in seen for problem in view.exceptions})[:5]:
        print("  exception:", problem)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="A class at one server.")
    parser.add_argument("sessions", type=int, nargs="?", default=30)
    parser.add_argument("--between", type=float, default=10.0, help="seconds between two views")
    parser.add_argument("--views", type=int, default=N_VIEWS, help="of each session")
    parser.add_argument("--pages", choices=("all", "attention"), default="all")
    parser.add_argument("--cold", action="store_true", help="only the first views of a new server")
    parser.add_argument("--server", nargs="*", default=[], help="options of Streamlit to try")
    args = parser.parse_args()
    flags = [f"--{option}" for option in args.server]
    print(
        f"{platform.node()}: {os.cpu_count()} cores, {processor_name()}, Python "
        f"{platform.python_version()}, load {os.getloadavg()[0]:.1f}"
    )
    if args.cold:
        cold(flags)
        return
    with (
        tempfile.TemporaryDirectory() as name,
        served(Path(name) / "log.txt", flags, Path(name) / "room") as (server, process),
    ):
        wait_until_healthy(server, process)
        room = Path(name) / "room"
        codes = {lesson.name: open_session(room, lesson.name).code for lesson in list_lessons()}
        asyncio.run(warm_up(server, codes))
        before, spent = process.memory_info().rss, cpu_seconds(process)
        seen = asyncio.run(school_hour(server, args, codes))
        spent = cpu_seconds(process) - spent
        report(seen, args, spent)
        after = process.memory_info().rss
        print(f"memory: {before / 1e6:.0f} MB before, {after / 1e6:.0f} MB after")


if __name__ == "__main__":
    main()
