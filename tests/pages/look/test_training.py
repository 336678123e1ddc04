"""Training the networks on this machine: into the queue, watched, stopped, and then shown."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from core.jobs.folder import JOB
from core.jobs.state import list_looks
from core.pictures.sweep import read_sweep
from pages.look import training
from tests.fake_slurm import calls, listed, put_programs
from tests.pages.look.seen import Shelf

Open = Callable[..., AppTest]


def spec_of(runs: Path) -> dict:
    (job,) = list_looks(runs)
    return json.loads((runs / job.id / JOB).read_text())["spec"]


def test_a_sweep_is_put_into_the_queue_as_one_job(open_look: Open, runs: Path):
    app = open_look()
    assert app.selectbox(key="look-source").options == ["drawn"]
    app.number_input(key="look-seeds").set_value(2)
    app.number_input(key="look-epochs").set_value(3).run()
    assert any("14 trainings, one after the other" in one.value for one in app.caption)
    app.button(key="look-start").click().run()
    assert not app.exception
    spec = spec_of(runs)
    assert (spec["source"], spec["seeds"], spec["epochs"]) == ("drawn", 2, 3)
    (job,) = list_looks(runs)
    assert any(job.name in one.value for one in app.markdown)


def test_a_sweep_is_sent_to_the_cluster_as_one_job(
    open_look: Open, runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "cluster.toml").write_text("")
    monkeypatch.setenv("EXPLORER_CLUSTER", str(tmp_path / "cluster.toml"))
    slurm = put_programs(tmp_path / "slurm", monkeypatch)
    app = open_look(on="cluster")
    app.button(key="look-start").click().run()
    assert not app.exception
    (job,) = list_looks(runs)
    assert (job.on, len(calls(slurm, "sbatch"))) == ("slurm", 1)
    listed(slurm, runs / job.id, "PENDING", reason="Priority")
    app.run()
    said = [one.value.replace("\\", "") for one in app.caption]
    assert {"On the cluster as job 17.", "waits on the cluster: others come first"} & {*said}


def test_a_sweep_that_is_none_is_refused_where_it_is_asked_for(open_look: Open, runs: Path):
    app = open_look()
    app.number_input(key="look-seeds").set_value(21).run()
    assert [one.value for one in app.error] == ["seeds is 21; 1 to 20 are allowed"]
    assert app.button(key="look-start").disabled
    assert list_looks(runs) == []


def test_a_job_is_asked_to_stop_from_the_page(open_look: Open, runs: Path):
    app = open_look()
    app.button(key="look-start").click().run()
    (job,) = list_looks(runs)
    assert job.state == "queued"
    app.button(key=f"look-stop-{job.id}").click().run()
    assert not app.exception
    (left,) = list_looks(runs)
    assert left.state == "stopping"
    assert app.run().button(key=f"look-stop-{job.id}").disabled


def test_trainings_of_this_machine_take_the_place_of_the_recorded_ones(
    open_look: Open, look: Shelf, runs: Path, monkeypatch: pytest.MonkeyPatch
):
    recorded = read_sweep(look.sweep_path)
    worse = replace(recorded, runs=tuple(replace(r, correct=r.correct // 2) for r in recorded.runs))
    done = SimpleNamespace(
        id="20260131-120010-0a1b2c",
        name="of this machine",
        state="finished",
        is_active=False,
        can_resume=False,
        progress=1.0,
        message="",
        owner=None,
        there=None,
    )
    monkeypatch.setattr(training, "_jobs", lambda: [done])
    monkeypatch.setattr(training, "sweep_of", lambda _: worse)
    app = open_look()
    before = [one.value for one in app.markdown if "Does pooling help" in one.value]
    assert app.selectbox(key="look-sweep").options == ["recorded", "of this machine"]
    app.selectbox(key="look-sweep").set_value(done.id).run()
    assert not app.exception
    after = [one.value for one in app.markdown if "Does pooling help" in one.value]
    assert len(before) == len(after) == 1
    assert before != after
