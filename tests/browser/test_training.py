"""A training that outlives its server: started, watched, stopped and resumed; and one that is
watched to its end, kept and asked.

The app is a copy with few people and an empty shelf, so that what is trained here never touches the
shipped checkpoints.
"""

import json
import os
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from core.jobs import actions
from core.jobs.folder import log_tail
from core.jobs.lesson import lesson_specs
from core.jobs.state import Job, list_jobs
from core.jobs.status import Reporter, Status
from core.runs.journal import METRICS
from tests.browser.conftest import LONG_MS

pytestmark = pytest.mark.skipif(os.name != "posix", reason="jobs need Linux or macOS")

NAME = "Browser's <b>run</b>"
LONG, SHORT = "20", "0.02"  # minutes; the long one is never waited for
SMALL = {
    "training-kind": "questions only (scratch)",
    "training-width": "32",
    "training-layers": "1",
    "training-heads": "2",
}
QUESTION = "Where was Marie Curie born?"
Serve = Callable[[Path], tuple[str, Any]]


@pytest.fixture
def look(visit: Callable[..., Any]) -> Callable[..., Any]:
    """Open the page on a server; it is ready when a training can be started."""

    def look_(address: str, **options: Any) -> Any:
        page = visit(address, "/training", **options)
        page.get_by_role("button", name="Start", exact=True).wait_for()
        return page

    return look_


class NoLauncher:
    """The job is put on the disk as its worker would have left it."""

    patience = 30.0

    def obstacle(self) -> str | None:
        return None

    def launch(self, folder: Path, *, threads: int) -> None:
        rows = [
            {"step": n, "phase": "pretrain" if n < 50 else "recall", "rate": 1.0, "loss": 8 / n}
            | {"tokens": 3000 * n, "seconds": n / 8, "tokens_per_second": 24_000.0}
            | ({"held_out": {"correct": n // 2, "total": 100}} if n % 10 == 0 else {})
            for n in range(1, 101)
        ]
        (folder / METRICS).write_text("".join(json.dumps(row) + "\n" for row in rows))
        Reporter(folder, 1).close(
            "stopped",
            "stopped as asked",
            step=100,
            n_steps=200,
            tokens_per_second=24_000.0,
            n_parameters=475_840,
            held_out={"step": 100, "correct": 50, "total": 100},
            baseline={"answer": "London", "accuracy": 0.03},
        )

    def launch_all(self, folders: Sequence[Path], *, threads: int) -> None:
        for folder in folders:
            self.launch(folder, threads=threads)


@pytest.fixture
def trained_app(own_app: Path) -> Path:
    """With both runs of the lesson, half done."""
    for spec in lesson_specs():
        actions.start(own_app / "checkpoints" / "runs", spec, NoLauncher())
    return own_app


def only_job(app: Path) -> Job:
    (job,) = list_jobs(app / "checkpoints" / "runs")
    return job


def wait_until(app: Path, condition: Callable[[Job, Status], bool]) -> None:
    """The only job is as it should be; fails after five minutes."""
    end = time.monotonic() + LONG_MS / 1000
    while (job := only_job(app)).status is None or not condition(job, job.status):
        assert time.monotonic() < end, (job, log_tail(app / "checkpoints" / "runs" / job.id))
        time.sleep(0.1)


def heading(page: Any, text: str, *, name: str = NAME) -> Any:
    """The line that says how the job stands."""
    titles = page.get_by_role("heading", level=5).filter(has_text=f"{name}: ")
    return titles.filter(has_text=re.compile(text))


def length_of_the_curve(page: Any) -> int:
    line = page.locator("[data-testid=stVegaLiteChart]").first.locator("g.mark-line path")
    return len(line.first.get_attribute("d") or "")


def wait_until_it_grows(page: Any) -> None:
    page.locator("[data-testid=stVegaLiteChart]").first.locator("g.mark-line path").wait_for()
    before = length_of_the_curve(page)
    page.wait_for_function(
        "before => document.querySelector('[data-testid=stVegaLiteChart] g.mark-line path')"
        "?.getAttribute('d').length > before",
        arg=before,
    )


def begin(page: Any, name: str) -> None:
    page.get_by_role("textbox", name="Name").fill(name)
    page.get_by_role("textbox", name="Name").press("Enter")
    page.get_by_role("button", name="Start", exact=True).click()


def stop(page: Any) -> None:
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Yes, stop it").click()
    heading(page, "stopped, can go on").wait_for()


def test_a_job_outlives_its_server_is_stopped_and_resumed_and_one_is_kept_and_asked(
    own_app: Path, serve: Serve, look: Callable[..., Any]
):
    address, server = serve(own_app)
    page = look(address, **SMALL, **{"training-minutes": LONG})
    begin(page, NAME)
    heading(page, r"\d+%").wait_for()  # before it the recorded lesson stands there
    wait_until_it_grows(page)
    assert heading(page, "").locator("b").count() == 0  # typed text stays text
    before = only_job(own_app)

    server.kill()
    server.wait()
    address, _ = serve(own_app)
    page = look(address)
    wait_until_it_grows(page)
    job = only_job(own_app)
    assert (job.state, job.alive) == ("running", True)
    assert job.status is not None
    assert before.status is not None
    assert (job.status.pid, job.status.attempt) == (before.status.pid, 1)

    stop(page)
    stopped = only_job(own_app)
    assert stopped.status is not None
    assert stopped.status.saved_step == stopped.status.step > 0

    page.get_by_role("button", name="Resume").click()
    at = stopped.status.step
    wait_until(own_app, lambda job, now: (job.alive, now.attempt) == (True, 2) and now.step > at)
    heading(page, r"\d+%").wait_for()
    wait_until_it_grows(page)
    stop(page)

    page = look(address, **SMALL, **{"training-minutes": SHORT})
    begin(page, "Short")
    heading(page, "finished", name="Short").wait_for()
    page.get_by_role("textbox", name="Name of the checkpoint").fill("browser-run")
    page.get_by_role("textbox", name="Name of the checkpoint").press("Enter")
    page.get_by_role("button", name="Keep as checkpoint").click()
    page.get_by_role("link", name="Ask browser-run and look at its heads").click()
    page.wait_for_url("**/attention?checkpoint=browser-run*")
    page.get_by_role("heading", level=4).wait_for()
    typed = {"checkpoint": "browser-run", "source": "type freely", "question": QUESTION}
    page.goto(f"{address}/attention?{urlencode(typed)}")
    page.get_by_role("heading", level=4).filter(has_text=f"{QUESTION} →").wait_for()
    assert (own_app / "checkpoints" / "browser-run" / "card.json").exists()


VIEWS = ["One run", "Compare", "Lesson"]


def charts(page: Any) -> list[Any]:
    """Both charts of a view, once they are drawn."""
    found = page.locator("[data-testid=stVegaLiteChart] svg")
    found.nth(1).wait_for()
    return found.all()


def test_every_view_draws_its_charts_in_the_first_view_and_fits_a_phone(
    trained_app: Path, serve: Serve, look: Callable[..., Any]
):
    address, _ = serve(trained_app)
    for view in VIEWS:
        page = look(address, **{"training-view": view})
        for chart in charts(page):
            assert chart.locator("path").count() > 5
            box = chart.bounding_box()
            assert box["y"] + box["height"] / 2 < 720
        sizes = "e => parseFloat(getComputedStyle(e).fontSize)"
        labels = page.locator("[data-testid=stVegaLiteChart] .role-axis-label text").all()
        assert min(label.evaluate(sizes) for label in labels) >= 14
        page.set_viewport_size({"width": 390, "height": 720})
        page.reload()
        for chart in charts(page):
            box = chart.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 390
        assert page.locator("[data-testid=stMain]").evaluate("e => e.scrollWidth") <= 390


def test_a_question_stands_before_a_removal(
    trained_app: Path, serve: Serve, look: Callable[..., Any]
):
    address, _ = serve(trained_app)
    page = look(address)
    charts(page)
    assert not page.get_by_role("button", name="Yes, remove it").is_visible()
    page.get_by_role("button", name="Remove").click()
    page.get_by_text("It may be somebody else's, and it cannot be brought back").wait_for()
    runs = trained_app / "checkpoints" / "runs"
    jobs, chosen = list_jobs(runs), parse_qs(urlsplit(page.url).query)["job"][0]
    assert len(jobs) == 2
    page.get_by_role("button", name="Yes, remove it").click()
    other = next(job for job in jobs if job.id != chosen)
    page.wait_for_url(f"**job={other.id}*")
    assert [job.id for job in list_jobs(runs)] == [other.id]
