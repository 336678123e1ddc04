"""The form: every control, what it would take, and what is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.jobs.folder import LOG
from core.jobs.spec import n_cores
from core.jobs.state import list_benches
from core.theory.costs import Sizes
from pages.runtime import form, questions, words

Open = Callable[..., AppTest]


def said(app: AppTest) -> str:
    """What the side bar says."""
    kinds = (app.sidebar.markdown, app.sidebar.error, app.sidebar.warning)
    return "\n".join(element.value for kind in kinds for element in kind).replace("\\", "")


def test_a_start_puts_the_usual_measurement_into_the_queue_and_looks_at_it(
    open_runtime: Open, runs: Path
):
    app = open_runtime()
    assert "About " in said(app)
    app.button(key="rt-start").click().run()
    (job,) = list_benches(runs)
    assert job.bench is not None
    spec = job.bench.spec
    assert spec.methods == form.USUAL
    assert spec.lengths == (128, 256, 512, 1024)
    assert (spec.head_dim, spec.n_heads, spec.causal, spec.backward) == (32, 8, False, False)
    assert (spec.threads, spec.repeats, spec.device, spec.dtype) == (1, 5, "cpu", "float32")
    assert app.selectbox(key="rt-source").value == job.id
    assert (runs / job.id / LOG).exists()


def test_what_is_typed_just_before_the_click_is_what_is_measured(open_runtime: Open, runs: Path):
    app = open_runtime(**{"rt-view": words.QUESTIONS})
    app.number_input(key="rt-repeats").set_value(9)
    app.button(key="rt-start").click().run()
    assert not app.exception
    (job,) = list_benches(runs)
    assert job.bench is not None
    assert job.bench.spec.repeats == 9
    assert app.segmented_control(key="rt-view").value == words.GROWTH
    assert app.selectbox(key="rt-source").value == job.id


def test_every_choice_reaches_the_job(open_runtime: Open, runs: Path):
    app = open_runtime()
    app.button_group(key="rt-methods").set_value(["sdpa", "nystrom", "elu"])
    app.select_slider(key="rt-lengths").set_range("64", "256")
    app.toggle(key="rt-backward").set_value(True)
    app.selectbox(key="rt-d").set_value("64")
    for key, value in {"features": 64, "heads": 4, "terms": 2, "repeats": 7, "seed": 3}.items():
        app.number_input(key=f"rt-{key}").set_value(value)
    app.selectbox(key="rt-dtype").set_value("bfloat16")
    app.run()
    app.button(key="rt-start").click().run()
    assert not app.exception
    (job,) = list_benches(runs)
    assert job.bench is not None
    spec = job.bench.spec
    assert spec.methods == ("sdpa", "elu", "nystrom")
    assert (spec.lengths, spec.backward, spec.head_dim) == ((64, 128, 256), True, 64)
    assert (spec.n_heads, spec.repeats, spec.seed, spec.dtype) == (4, 7, 3, "bfloat16")
    assert spec.sizes == Sizes(n_features=64, n_terms=2)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("rt-features", 0, "n_features is 0; 1 to 4096 are allowed"),
        ("rt-heads", 129, "n_heads is 129; 1 to 128 are allowed"),
        ("rt-terms", 9, "n_terms is 9; 1 to 5 are allowed"),
        ("rt-threads", 0, f"threads is 0; 1 to {n_cores()} are allowed"),
        ("rt-repeats", 2, "repeats is 2; 3 to 1000 are allowed"),
        ("rt-seed", -1, "seed is -1"),
    ],
)
def test_a_number_out_of_its_range_is_named_and_nothing_starts(
    open_runtime: Open, key: str, value: int, message: str
):
    app = open_runtime()
    app.number_input(key=key).set_value(value).run()
    assert message in said(app)
    assert app.button(key="rt-start").disabled


def test_no_method_at_all_is_named(open_runtime: Open):
    app = open_runtime()
    app.button_group(key="rt-methods").set_value([]).run()
    assert "no method to measure" in said(app)
    assert app.button(key="rt-start").disabled


def test_what_will_be_left_out_is_counted(open_runtime: Open):
    app = open_runtime()
    app.button_group(key="rt-methods").set_value(["sdpa", "nystrom"])
    app.toggle(key="rt-causal").set_value(True).run()
    assert "; 4 of 8 cases are left out." in said(app)


def test_a_start_waits_for_what_runs_before_it(open_runtime: Open, put_job: Callable):
    put_job("running")
    assert "It waits about 21 s for what runs before it." in said(open_runtime())


def test_where_no_job_can_start_the_reason_stands_there(
    open_runtime: Open, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("pages.shared.jobs.obstacle", lambda: "cannot start jobs here: Linux")
    app = open_runtime()
    assert "cannot start jobs here: Linux" in said(app)
    assert app.button(key="rt-start").disabled


def test_a_refused_start_is_one_sentence(
    open_runtime: Open, monkeypatch: pytest.MonkeyPatch, read: Callable[[AppTest], str]
):
    monkeypatch.setattr("core.jobs.actions.MOST_WAITING", 0)
    app = open_runtime()
    app.button(key="rt-start").click().run()
    assert "0 jobs are waiting already" in read(app)


def test_choices_stand_in_the_address(open_runtime: Open):
    app = open_runtime(
        **{"rt-causal": "true", "rt-features": "64", "rt-d": "64", "rt-lengths": ["64", "512"]}
    )
    assert app.toggle(key="rt-causal").value is True
    assert app.number_input(key="rt-features").value == 64
    assert app.selectbox(key="rt-d").value == "64"
    assert app.select_slider(key="rt-lengths").value == ("64", "512")


def test_half_precision_of_gpus_is_not_offered_on_a_processor(open_runtime: Open):
    assert open_runtime().selectbox(key="rt-dtype").options == ["float32", "bfloat16"]


def test_words_for_long_and_large():
    assert [words.duration(s) for s in (16, 119, 600)] == ["16 s", "119 s", "10 min"]
    assert [words.memory(b) for b in (1, 7e7, 4.3e9)] == ["1 MB", "70 MB", "4.3 GB"]
    assert [questions.count(n) for n in (9, 5.37e8, 1.2e9, 3e12)] == [
        "9",
        "537 million",
        "1.2 billion",
        "3 trillion",
    ]
    assert words.power(None) == "–"


def test_seconds_ahead_that_are_not_known_are_said_to_be_so(open_runtime: Open, monkeypatch: Any):
    monkeypatch.setattr("pages.runtime.form.seconds_ahead", lambda *_: None)
    assert "for how long is not known" in said(open_runtime())
