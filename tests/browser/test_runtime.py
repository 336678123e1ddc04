"""Stored measurements at once, and small ones measured live, stopped, downloaded and removed."""

import csv
import itertools
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.bench.record import read_bench
from core.bench.spec import PASS
from core.figures.palette import FONT_SIZE, MASKED
from core.jobs.bench_job import bench_of
from core.jobs.state import Job, list_benches
from core.paths import BENCHMARKS

CHARTS = "[data-testid=stVegaLiteChart]"
ERROR_PICTURES = ["Features", "Logits", "Taylor", "Sharpness", "Causal only"]
# Charts follow a window that has changed a moment later: then each is as wide as its place.
IN_PLACE = """() => [...document.querySelectorAll("[data-testid=stVegaLiteChart]")].every(place =>
  Math.abs(place.querySelector("svg").getBoundingClientRect().width - place.clientWidth) < 1)"""
SAYS_ELSE = f"said => document.querySelector('{CHARTS} svg')?.textContent !== said"
SMALL = {
    "rt-methods": ["explicit", "elu+1"],
    "rt-lengths": ["64", "128"],
    "rt-d": "16",
    "rt-heads": "2",
}
LONG = {"rt-methods": ["explicit", "elu+1"], "rt-lengths": ["64", "16384"], "rt-backward": "true"}

with_jobs = pytest.mark.skipif(os.name != "posix", reason="jobs need Linux or macOS")
Serve = Callable[[Path], tuple[str, Any]]


@pytest.fixture
def unmeasured_app(own_app: Path) -> Path:
    """Whatever is drawn there was measured there."""
    for path in (own_app / "assets" / "benchmarks").glob("*.json"):
        path.unlink()
    return own_app


def only_job(app: Path) -> Job:
    (job,) = list_benches(app / "checkpoints" / "runs")
    return job


def symbols(page: Any) -> Any:
    """The points of the picture of time."""
    return page.locator(CHARTS).first.locator("g.mark-symbol > path")


def test_a_stored_machine_is_drawn_at_a_warm_start_without_a_complaint(open_page: Callable):
    page = open_page("/runtime")  # now the server and the browser have loaded their code
    page.reload()
    page.locator(f"{CHARTS} svg").nth(1).wait_for()
    assert page.problems == []


@pytest.mark.parametrize(
    ("view", "headline"),
    [
        ("Growth", "Faster than fused softmax, in tokens"),
        ("Generation", "A step is faster than over SDPA's cache"),
    ],
)
def test_both_charts_stand_in_the_first_view_and_can_be_read(
    open_page: Callable, view: str, headline: str
):
    page = open_page("/runtime", **{"rt-view": view})
    page.get_by_text(headline).wait_for()
    for chart in page.locator(f"{CHARTS} svg").all():
        box = chart.bounding_box()
        assert box["y"] + box["height"] <= 720
        assert chart.locator("path").count() > 50
    sizes = "e => parseFloat(getComputedStyle(e).fontSize)"
    labels = page.locator(f"{CHARTS} .role-axis-label text").all()
    assert min(label.evaluate(sizes) for label in labels) >= 14
    assert page.problems == []


def test_every_stored_setting_can_be_chosen(open_page: Callable):
    path = min(BENCHMARKS.glob("*.json"))
    settings = [setting for setting in read_bench(path).settings if setting.question == PASS]
    page = open_page("/runtime", bench=path.stem)
    for setting in settings:
        order = "causal" if setting.causal else "not causal"
        name = f"{order}, {setting.pass_name}, d = {setting.head_dim}"
        page.get_by_role("combobox", name="Setting").click()
        page.get_by_role("option", name=name, exact=True).click()
        page.wait_for_function(
            "name => document.querySelector('input[aria-label*=\"Setting\"]').value === name",
            arg=name,
        )
        page.locator(f"{CHARTS} svg").nth(1).wait_for()
    assert page.get_by_text("Traceback").count() == 0
    assert page.problems == []


def check_phone(page: Any) -> None:
    """Every chart fits a phone, and so does the page."""
    page.set_viewport_size({"width": 390, "height": 720})
    page.wait_for_function(IN_PLACE)
    for chart in page.locator(f"{CHARTS} svg").all():
        box = chart.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    assert page.locator("[data-testid=stMain]").evaluate("e => e.scrollWidth") <= 390


def test_every_picture_of_the_error_is_drawn_and_fits_a_phone(visit: Callable, server: str):
    page = visit(server, "/runtime", **{"rt-view": "Error", "rt-errors": ERROR_PICTURES[-1]})
    chart = page.locator(f"{CHARTS} svg").first
    said = ""
    for picture in reversed(ERROR_PICTURES):
        chart.wait_for()
        page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
        page.get_by_role("radio", name=picture, exact=True).click()
        page.get_by_role("radio", name=picture, exact=True, checked=True).wait_for()
        page.wait_for_function(SAYS_ELSE, arg=said)
        said = chart.text_content()
        box = chart.bounding_box()
        assert box["y"] + box["height"] <= 720
        assert chart.locator("g.mark-line path").count() >= 3
    check_phone(page)


def test_the_questions_typeset_their_formulas_and_fit_a_phone(visit: Callable, server: str):
    page = visit(server, "/runtime", **{"rt-view": "Questions"})
    page.get_by_text("quadratic").first.wait_for()
    page.locator("[data-testid=stMarkdown] .katex").first.wait_for()
    assert page.locator(".katex-error").count() == 0
    page.locator(f"{CHARTS} svg").first.wait_for()
    check_phone(page)


def test_names_at_the_ends_of_lines_overlap_nowhere_and_are_not_cut(visit: Callable, server: str):
    page = visit(server, "/runtime")
    page.locator(f"{CHARTS} svg").nth(1).wait_for()
    for width in (1280, 1024, 768, 320):
        page.set_viewport_size({"width": width, "height": 720})
        page.wait_for_function(f"() => innerWidth === {width} && ({IN_PLACE})()")
        for chart in page.locator(f"{CHARTS} svg").all():
            check_names(chart)


def check_names(chart: Any) -> None:
    boxes = chart.locator("g.mark-text.role-mark text").evaluate_all(
        "texts => texts.map(text => { const b = text.getBoundingClientRect();"
        " return [b.top + b.height / 2, b.right]; })"
    )
    box, middles = chart.bounding_box(), sorted(middle for middle, _ in boxes)
    assert len(boxes) == 10
    assert max(right for _, right in boxes) <= box["x"] + box["width"]
    assert min(b - a for a, b in itertools.pairwise(middles)) >= FONT_SIZE


def test_the_line_under_the_pointer_keeps_its_colour_and_the_others_turn_grey(open_page: Callable):
    page = open_page("/runtime")
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
    chart = page.locator(f"{CHARTS} svg").first
    grey = chart.locator(f"g.mark-text.role-mark text[fill='{MASKED}']")
    assert grey.count() == 0
    chart.locator("g.mark-symbol > path").last.hover()
    grey.nth(8).wait_for()
    assert grey.count() == 9
    assert page.problems == []


@with_jobs
def test_a_small_measurement_runs_live_and_is_downloaded(
    unmeasured_app: Path, serve: Serve, visit: Callable, tmp_path: Path
):
    address, _ = serve(unmeasured_app)
    page = visit(address, "/runtime", **SMALL)
    page.get_by_role("button", name="Measure").click()
    page.get_by_text(re.compile(": measured$")).first.wait_for()
    symbols(page).first.wait_for()
    job = only_job(unmeasured_app)
    assert job.state == "finished", job.message
    measured = bench_of(unmeasured_app / "checkpoints" / "runs" / job.id)
    assert {(r.method, r.seq_len) for r in measured.records} == {
        (method, length) for method in ("explicit", "elu") for length in (64, 128)
    }
    page.wait_for_url(f"**bench={job.id}*")

    page.get_by_text("As table and files").click()
    for label, suffix in [("Measurements (CSV)", "csv"), ("Report (JSON)", "json")]:
        with page.expect_download() as waiting:
            page.get_by_role("button", name=label).click()
        waiting.value.save_as(tmp_path / f"file.{suffix}")
    with (tmp_path / "file.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["median_seconds"]) for row in rows] == [
        record.median_seconds for record in measured.records
    ]
    report = json.loads((tmp_path / "file.json").read_text(encoding="utf-8"))
    assert [fit["method"] for fit in report["fits"]] == ["explicit", "elu"]


@with_jobs
def test_points_appear_while_it_measures_and_stay_when_it_is_stopped(
    unmeasured_app: Path, serve: Serve, visit: Callable
):
    address, _ = serve(unmeasured_app)
    page = visit(address, "/runtime", **LONG)
    page.get_by_role("button", name="Measure").click()
    symbols(page).first.wait_for()
    assert only_job(unmeasured_app).is_active
    page.get_by_role("button", name="Stop").click()
    page.get_by_text(re.compile(": was stopped$")).first.wait_for()
    job = only_job(unmeasured_app)
    records = bench_of(unmeasured_app / "checkpoints" / "runs" / job.id).records
    assert 0 < len(records) < 2 * 9
    symbols(page).nth(len({record.seq_len for record in records}) - 1).wait_for()
    page.get_by_role("button", name="Remove").click()
    page.get_by_text(re.compile(": was stopped$")).first.wait_for(state="detached")
    assert list_benches(unmeasured_app / "checkpoints" / "runs") == []
