"""One token more: the second question of the page, from its form to its files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.catalogue import METHODS, WRITERS
from core.jobs.state import list_benches
from core.theory.costs import Sizes
from pages.runtime import step_words, words
from pages.runtime.growth import TABLES_KEY
from tests.fake_slurm import calls, put_programs

Open = Callable[..., AppTest]
Read = Callable[[AppTest], str]
Charts = Callable[[AppTest], list[dict[str, Any]]]
VIEW = {"rt-view": words.STEPS}
HEADLINE = (
    "A step is faster than over SDPA's cache: delta rule always, elu+1 from 500; 1 of 3 not yet"
)


def dotted(chart: dict[str, Any]) -> dict[str, list[float]]:
    """The other machine's values by method, if its layer is drawn."""
    found: dict[str, list[float]] = {}
    for row in chart["tables"].get("other", []):
        found.setdefault(row["method"], []).append(row["value"])
    return found


def table_of(app: AppTest) -> dict[str, dict[str, str]]:
    """The rows of numbers by method."""
    return {row["method"]: row for row in app.dataframe[0].value.to_dict("records")}


def test_time_and_bytes_are_drawn_with_a_sentence_computed_from_them(
    store_steps: Callable, open_runtime: Open, read: Read, charts: Charts
):
    store_steps()
    app = open_runtime(**VIEW)
    text = read(app)
    assert HEADLINE in text
    assert (
        "Behind 1,024 tokens SDPA takes 102 µs a token and keeps 2.1 MB; delta rule takes 10 µs a "
        "token and keeps 32.8 kB: 1/10 the time, 1/64 the memory."
    ) in text
    assert "Not run: BigBird at 128 tokens (no step: its random blocks are drawn" in text
    time, kept = charts(app)
    assert time["title"]["text"] == "Time of one token more"
    assert kept["title"]["text"] == "What is kept of the tokens before"
    rows = {(r["method"], r["length"]): r["value"] for r in kept["tables"]["measured"]}
    assert (rows["SDPA", 128], rows["SDPA", 256]) == pytest.approx((262.144, 524.288))
    assert rows["delta rule", 128] == rows["delta rule", 1024] == pytest.approx(32.768)
    formula = {(r["method"], r["length"]): r["value"] for r in kept["tables"]["predicted"]}
    assert {key: formula[key] for key in rows} == pytest.approx(rows)
    assert time["tables"]["floors"][0]["name"] == "reading all keys and values"
    assert app.selectbox(key="rt-steps-1").options == ["generation, d = 32"]


def test_the_table_says_how_each_grows_and_what_it_keeps(store_steps: Callable, open_runtime: Open):
    store_steps()
    rows = table_of(open_runtime(**VIEW))
    delta, cache = rows["delta rule"], rows["SDPA"]
    assert (delta["time, power of L"], cache["time, power of L"]) == ("0.00 ± 0.00", "1.00 ± 0.00")
    assert (delta["kept, power of L"], cache["kept, power of L"]) == ("0.00 ± 0.00", "1.00 ± 0.00")
    assert (delta["at 1,024 tokens"], cache["at 1,024 tokens"]) == ("10 µs", "102 µs")
    assert (delta["kept there"], cache["kept there"]) == ("32.8 kB", "2.1 MB")
    assert delta["faster than SDPA's cache"] == "always"
    assert rows["elu+1"]["faster than SDPA's cache"].startswith("from 500 (")
    assert "BigBird (blocks of 64)" not in rows


def test_crossings_stand_where_methods_are_pointed_out(
    store_steps: Callable, open_runtime: Open, charts: Charts
):
    store_steps()
    app = open_runtime(**VIEW)
    (crossing,) = charts(app)[0]["tables"]["crossings"]
    assert crossing["text"].startswith("elu+1 from 500 (")
    app.multiselect(key="rt-point").set_value(["based"]).run()
    assert "crossings" not in charts(app)[0]["tables"]
    app.multiselect(key="rt-hidden").set_value(["sdpa"]).run()
    assert "Measure SDPA and another method" in "\n".join(m.value for m in app.main.markdown)


def test_a_machine_without_generation_says_so_and_one_with_it_is_taken_first(
    store: Callable, store_steps: Callable, open_runtime: Open, read: Read
):
    store("a-machine", processor="Xeon")
    store_steps("b-machine")
    app = open_runtime(**VIEW)
    assert app.selectbox(key="rt-source").value == "b-machine"
    app.selectbox(key="rt-source").set_value("a-machine").run()
    assert "This measurement is of whole passes, and has nothing of generation" in read(app)
    assert not app.get("vega_lite_chart")
    app.button_group(key="rt-view").set_value(words.GROWTH).run()
    assert "Faster than fused softmax" in read(app)


def test_a_job_of_generation_has_nothing_of_whole_passes(
    put_job: Callable, open_runtime: Open, read: Read, charts: Charts
):
    job = put_job("finished", causal=True, question="generation")
    app = open_runtime(bench=job)
    assert "This measurement is of generation, and has nothing of whole passes" in read(app)
    app.button_group(key="rt-view").set_value(words.STEPS).run()
    assert "elu+1 from 500" in read(app)
    assert len(charts(app)) == 2
    assert app.button(key=f"rt-delete-{job}").label == "Remove"


@pytest.mark.parametrize("view", [words.GROWTH, words.STEPS])
def test_two_machines_stand_side_by_side_and_it_is_said_which_is_which(
    store_steps: Callable, open_runtime: Open, read: Read, charts: Charts, view: str
):
    store_steps()
    store_steps("xeon", factor=2.0, processor="Xeon")
    app = open_runtime(**{"rt-view": view, "bench": "epyc"})
    assert "Dotted" not in read(app)
    app.selectbox(key="rt-beside").set_value("xeon").run()
    said = (
        "Full lines: **EPYC, 2 cores (2026-01-31)**. Dotted lines: **Xeon, 2 cores (2026-01-31)**"
    )
    assert said in read(app)
    assert "Dotted: Xeon, cpu, 1 thread(s), torch 2.13" in read(app)
    time, memory = (dotted(chart) for chart in charts(app))
    assert set(time) >= {"SDPA", "elu+1"}
    assert set(memory) >= {"SDPA", "elu+1"}
    elu = table_of(app)["elu+1"]
    here = {"Growth": ("10.2 ms", "10.2 ms"), "Generation": ("50 µs", "100 µs")}
    assert (elu["at 1,024 tokens"], elu["dotted"]) == here[view]


def test_machines_that_say_the_same_of_themselves_are_told_apart_by_their_files(
    store_steps: Callable, open_runtime: Open, read: Read
):
    store_steps("left")
    store_steps("right", factor=2.0)
    app = open_runtime(**VIEW)
    assert app.selectbox(key="rt-source").options == [
        "EPYC, 2 cores (2026-01-31), left",
        "EPYC, 2 cores (2026-01-31), right",
    ]
    app.selectbox(key="rt-beside").set_value("right").run()
    assert "Full lines: **EPYC, 2 cores (2026-01-31), left**" in read(app)
    assert "Dotted lines: **EPYC, 2 cores (2026-01-31), right**" in read(app)


def test_files_of_generation_are_offered(store_steps: Callable, open_runtime: Open):
    store_steps()
    app = open_runtime(**VIEW)
    app.session_state[TABLES_KEY] = True
    app.run()
    labels = [button.proto.label for button in app.get("download_button")]
    assert labels == ["Time (SVG)", "Kept (SVG)", "Measurements (CSV)", "Report (JSON)"]
    frame = app.dataframe[-1].value
    assert set(frame["pass"]) == {"generation"}
    assert min(frame["kept_bytes"].tolist()) == 32_768.0


def test_every_choice_of_generation_reaches_the_job(open_runtime: Open, runs: Path):
    app = open_runtime(**VIEW)
    assert "Measure generation on this machine" in "".join(m.value for m in app.sidebar.markdown)
    assert app.button_group(key="rt-writers").value == list(WRITERS)
    app.button_group(key="rt-writers").set_value(["sdpa", "window", "bigbird"])
    app.select_slider(key="rt-pasts").set_range("256", "512")
    app.number_input(key="rt-window").set_value(32)
    app.number_input(key="rt-sinks").set_value(2).run()
    said = "\n".join(text.value for text in (*app.sidebar.markdown, *app.sidebar.caption))
    assert "; 2 of 6 cases are left out" in said
    assert "Left out: BigBird: no step: its random blocks are drawn" in said
    app.button(key="rt-start").click().run()
    assert not app.exception
    (job,) = list_benches(runs)
    assert job.bench is not None
    spec = job.bench.spec
    assert (spec.methods, spec.lengths) == (("sdpa", "bigbird", "window"), (256, 512))
    assert (spec.question, spec.causal, spec.backward) == ("generation", True, False)
    assert spec.sizes == Sizes(window=32, n_sinks=2)
    assert app.selectbox(key="rt-source").value == job.id
    assert app.button_group(key="rt-view").value == words.STEPS


def test_what_cannot_write_at_all_is_refused_in_the_form(open_runtime: Open):
    app = open_runtime(**VIEW)
    app.button_group(key="rt-writers").set_value(["bigbird", "perceiver"]).run()
    said = app.sidebar.error[0].value.replace("\\", "")
    assert "bigbird, perceiver: none of these writes token by token" in said
    assert app.button(key="rt-start").disabled


def test_choices_of_generation_stand_in_the_address(open_runtime: Open):
    query = {"rt-pasts": ["64", "512"], "rt-writers": ["SDPA", "delta"], "rt-window": "16"}
    app = open_runtime(**VIEW, **query)
    assert app.select_slider(key="rt-pasts").value == ("64", "512")
    assert app.button_group(key="rt-writers").value == ["sdpa", "delta"]
    assert app.number_input(key="rt-window").value == 16
    assert len(METHODS) == len(app.button_group(key="rt-writers").options)


def test_generation_is_measured_on_the_cluster_as_whole_passes_are(
    open_runtime: Open, runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "cluster.toml"
    path.write_text("gpus = 1\n")
    monkeypatch.setenv("EXPLORER_CLUSTER", str(path))
    slurm = put_programs(tmp_path / "slurm", monkeypatch)
    app = open_runtime(**VIEW, **{"rt-on": "cluster"})
    app.selectbox(key="rt-device").set_value("cuda").run()
    app.button(key="rt-start").click().run()
    assert not app.exception
    (job,) = list_benches(runs)
    assert job.bench is not None
    assert (job.on, job.device, job.bench.spec.question) == ("slurm", "cuda", "generation")
    assert len(calls(slurm, "sbatch")) == 1


def test_words_of_generation_without_a_cache_or_without_a_winner():
    assert step_words.meaning([]) == "Without SDPA there is no cache to compare with."
    assert step_words.headline({}).startswith("Measure SDPA and another method")
    assert step_words.power(None) == "–"
    assert [words.seconds_text(s) for s in (2.5e-5, 0.0123, 3.0)] == ["25 µs", "12.3 ms", "3 s"]
