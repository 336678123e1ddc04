"""What was measured: stored machines and jobs, every control, and what is damaged."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.bench.record import Record, read_bench
from core.jobs import actions
from core.jobs.folder import read_ticket
from core.jobs.state import show
from pages.runtime import words
from pages.runtime.growth import TABLES_KEY, report

Open = Callable[..., AppTest]
Read = Callable[[AppTest], str]
Charts = Callable[[AppTest], list[dict[str, Any]]]


def names(chart: dict[str, Any]) -> list[str]:
    """The methods that are drawn."""
    found = [
        layer["encoding"]["shape"]["scale"]["domain"]
        for layer in chart["layer"]
        if "shape" in layer["encoding"]
    ]
    return found[0]


def dashed(chart: dict[str, Any], dash: list[int]) -> int:
    """How many layers are drawn with a dash pattern."""
    marks = [layer["mark"] for layer in chart["layer"]]
    return sum(isinstance(mark, dict) and mark.get("strokeDash") == dash for mark in marks)


def test_a_stored_machine_is_shown_at_once(
    store: Callable, open_runtime: Open, read: Read, charts: Charts
):
    store()
    app = open_runtime()
    text = read(app)
    assert "Faster than fused softmax, in tokens: elu+1 from 500, FAVOR+ not in range" in text
    assert "EPYC, cpu, 1 thread(s), torch 2.13" in text
    assert "OMP_WAIT_POLICY=passive" in text
    time, memory = charts(app)
    assert names(time)[:3] == names(memory)[:3] == ["explicit", "SDPA", "elu+1"]
    assert {row["grows"] for row in time["tables"]["measured"] if row["method"] == "elu+1"} == {
        "as L^1.00 ± 0.00"
    }
    assert (dashed(time, [7, 4]), dashed(time, [2, 3]), dashed(time, [1, 4])) == (1, 1, 0)
    assert len({row["name"] for row in time["tables"]["floors"]}) == 2


def test_the_table_has_every_verdict_beside_its_formula(store: Callable, open_runtime: Open):
    store()
    (table,) = open_runtime().dataframe
    rows = {row["method"]: row for row in table.value.to_dict("records")}
    elu = rows["elu+1"]
    assert (elu["time, power of L"], elu["memory"]) == ("1.00 ± 0.00", "1.00 ± 0.00")
    assert elu["faster than SDPA"].startswith("from 500 (")
    assert elu["by operations"] == "32"
    assert rows["FAVOR+ (128 features)"]["time, power of L"] == "1.00 ± 0.00"
    assert "Perceiver (64 latents)" in rows
    assert elu["what it is"] == "linear attention, φ(x) = elu(x) + 1"
    assert ["always", "–", "always"] in [list(row.values())[3:6] for row in rows.values()]


def test_a_power_of_short_texts_is_not_told(
    store: Callable, open_runtime: Open, charts: Charts, make_causal: Any
):
    short = [replace(make_causal[0], seq_len=n, median_seconds=1e-4 * n) for n in (16, 32, 64)]
    store("short", *short)
    app = open_runtime()
    assert names(charts(app)[0]) == ["elu+1"]
    (table,) = app.dataframe
    (row,) = table.value.to_dict("records")
    assert row["time, power of L"] == "too short to tell"


def test_a_setting_is_chosen_by_its_address(
    store: Callable, open_runtime: Open, read: Read, charts: Charts
):
    store()
    app = open_runtime()
    box = app.selectbox(key="rt-setting-2")
    assert box.options == ["not causal, forward, d = 32", "causal, forward, d = 32"]
    box.set_value(box.options[1]).run()
    assert len(names(charts(app)[0])) == 3
    again = open_runtime(**{"rt-setting-2": "causal, forward, d = 32"})
    assert len(names(charts(again)[0])) == 3


def test_what_is_drawn_can_be_chosen(store: Callable, open_runtime: Open, charts: Charts):
    store()
    app = open_runtime()
    app.multiselect(key="rt-hidden").set_value(["explicit", "favor"]).run()
    assert names(charts(app)[0]) == ["SDPA", "elu+1", "Perceiver"]
    app.toggle(key="rt-formulas").set_value(False).run()
    app.toggle(key="rt-floors").set_value(False).run()
    time, memory = charts(app)
    assert (dashed(time, [7, 4]), dashed(time, [2, 3]), dashed(memory, [7, 4])) == (0, 0, 0)


def test_methods_are_pointed_out_by_choice_and_by_link(
    store: Callable, open_runtime: Open, charts: Charts
):
    store()
    app = open_runtime(**{"rt-point": "elu+1"})
    assert app.multiselect(key="rt-point").value == ["elu"]
    app.multiselect(key="rt-point").set_value(["sdpa", "elu"]).run()
    for chart in charts(app):
        assert {"name": "chosen", "value": ["SDPA", "elu+1"]} in chart["params"]


def test_another_machine_is_dotted_beside_it(
    store: Callable, open_runtime: Open, read: Read, charts: Charts
):
    store()
    store("other", processor="Xeon")
    app = open_runtime()
    box = app.selectbox(key="rt-beside")
    assert box.options == ["nothing", "Xeon, 2 cores (2026-01-31)"]
    box.set_value("other").run()
    assert [dashed(chart, [1, 4]) for chart in charts(app)] == [1, 1]


def test_another_machine_without_this_setting_says_so(
    store: Callable, open_runtime: Open, read: Read, charts: Charts, make_causal: Any
):
    store()
    store("other", *make_causal, processor="Xeon")
    app = open_runtime(**{"rt-beside": "Xeon, 2 cores (2026-01-31)", "bench": "epyc"})
    assert "Xeon, 2 cores (2026-01-31) was not measured with this setting" in read(app)
    assert dashed(charts(app)[0], [1, 4]) == 0


@pytest.fixture
def make_causal() -> list[Record]:
    base: dict[str, Any] = {"causal": True, "pass_name": "forward", "head_dim": 32}
    times: dict[str, Any] = {"median_seconds": 1.0, "p25_seconds": 0.9, "p75_seconds": 1.1}
    return [
        Record(method="elu", seq_len=128, flags=("wide: half of it",), **base, **times),
        Record(method="nystrom", seq_len=128, flags=("no causal form: means",), **base),
        Record(method="nystrom", seq_len=256, flags=("no causal form: means",), **base),
    ]


def test_what_was_not_run_is_told_and_what_is_doubtful_is_hollow(
    store: Callable, open_runtime: Open, read: Read, charts: Charts, make_causal: Any
):
    store("few", *make_causal)
    app = open_runtime()
    text = read(app)
    assert "Not run: Nyström at 128, 256 tokens (no causal form: means)." in text
    assert "Measure SDPA and another method to see where they cross." in text
    (chart, _) = charts(app)
    (points,) = [layer for layer in chart["layer"] if layer["encoding"].get("shape")]
    assert points["encoding"]["fillOpacity"]["condition"] == {"test": "datum.flagged", "value": 0}


def test_a_damaged_file_is_named_and_others_can_still_be_chosen(
    store: Callable, open_runtime: Open, read: Read, charts: Charts, stored: Path
):
    store("whole")
    (stored / "broken.json").write_text("{")
    app = open_runtime(bench="broken")
    assert "broken.json: not JSON" in read(app)
    assert "broken (cannot be read)" in app.selectbox(key="rt-source").options
    app.selectbox(key="rt-source").set_value("whole").run()
    assert len(charts(app)) == 2


def test_an_address_of_what_is_gone_is_answered(store: Callable, open_runtime: Open):
    store()
    app = open_runtime(bench="<b>gone</b>")
    assert r"asks for “\<b\>gone\</b\>” as Measurement" in app.warning[0].value
    assert app.selectbox(key="rt-source").value == "epyc"


def test_with_nothing_measured_the_page_says_how_to_begin(open_runtime: Open, read: Read):
    app = open_runtime()
    assert words.EMPTY in read(app)
    assert not app.get("vega_lite_chart")


def test_a_running_job_is_what_is_looked_at_first(
    store: Callable, put_job: Callable, open_runtime: Open, read: Read, charts: Charts
):
    store()
    job_id = put_job("running", n_lengths=2)
    app = open_runtime()
    assert app.selectbox(key="rt-source").value == job_id
    assert "measuring: 2 methods at 512 tokens, in turns, about 21 s left" in read(app)
    assert len(charts(app)) == 2
    assert app.button(key=f"rt-stop-{job_id}").label == "Stop"


def test_before_the_first_point_there_is_only_how_it_stands(
    put_job: Callable, open_runtime: Open, read: Read, charts: Charts
):
    put_job("queued")
    app = open_runtime()
    assert "waits for its turn (1. in line)" in read(app)
    assert "The first points appear" in read(app)
    assert charts(app) == []


def test_stop_go_on_and_remove(
    put_job: Callable, open_runtime: Open, runs: Path, charts: Charts, read: Read
):
    running = put_job("running", n_lengths=2)
    app = open_runtime()
    app.button(key=f"rt-stop-{running}").click().run()
    assert show(runs, running).state == "stopping"
    assert "is being stopped" in read(app)
    stopped = put_job("stopped", n_lengths=2, message="stopped as asked")
    app = open_runtime(bench=stopped)
    assert "stopped as asked" in read(app)
    assert len(charts(app)) == 2  # what was measured is kept
    app.button(key=f"rt-play_arrow-{stopped}").click().run()
    assert read_ticket(runs / stopped).attempt == 2
    finished = put_job("finished")
    app = open_runtime(bench=finished)
    app.button(key=f"rt-delete-{finished}").click().run()
    assert not (runs / finished).exists()
    assert app.selectbox(key="rt-source").value != finished


def test_a_refused_click_is_one_sentence(
    put_job: Callable, open_runtime: Open, runs: Path, read: Read
):
    stopped = put_job("stopped")
    app = open_runtime(bench=stopped)
    actions.remove(runs, stopped)
    app.button(key=f"rt-delete-{stopped}").click().run()
    assert f"there is no job {stopped}" in read(app)


def test_files_are_offered_when_they_are_wanted(
    store: Callable, open_runtime: Open, monkeypatch: pytest.MonkeyPatch
):
    store()
    app = open_runtime()
    assert not app.get("download_button")
    app.session_state[TABLES_KEY] = True
    app.run()
    labels = [button.proto.label for button in app.get("download_button")]
    assert labels == ["Time (SVG)", "Memory (SVG)", "Measurements (CSV)", "Report (JSON)"]
    table = app.dataframe[-1]
    assert list(table.value["method"])[:2] == ["explicit", "sdpa"]
    assert len(table.value) == 20


def test_the_report_of_one_setting_is_that_of_the_command_line(store: Callable):
    bench = read_bench(store())
    found = json.loads(report(bench, bench.settings[1]))
    assert set(found) == {"machine", "environment", "records", "fits", "crossovers"}
    assert {record["causal"] for record in found["records"]} == {True}


def test_the_first_view_needs_no_torch(tmp_path: Path):
    code = "import sys, pages.runtime.growth, pages.runtime.form; assert 'torch' not in sys.modules"
    root = Path(__file__).resolve().parents[3]
    subprocess.run([sys.executable, "-c", code], cwd=root, check=True)
