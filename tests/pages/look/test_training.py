"""Training the networks on this machine: into the queue, watched, stopped, and then shown."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from core.jobs.folder import JOB, SweepName
from core.jobs.state import list_looks
from core.pictures.sweep import Sweep, read_sweep
from pages.look import training
from tests.fake_slurm import calls, listed, put_programs
from tests.pages.look.seen import Shelf

Open = Callable[..., AppTest]


def specs_of(runs: Path) -> list[dict]:
    """Those of all jobs, the first in the queue first."""
    return [json.loads((runs / job.id / JOB).read_text())["spec"] for job in list_looks(runs)[::-1]]


def lines(app: AppTest) -> list[str]:
    """What is written, without the escapes."""
    return [one.value.replace("\\", "").replace("\u00a0", " ") for one in app.markdown]


def id_of(runs: Path) -> str:
    """The one sweep's."""
    (found,) = {job.sweep.id for job in list_looks(runs) if job.sweep is not None}
    return found


def test_a_sweep_is_put_into_the_queue_as_a_job_for_each_seed(open_look: Open, runs: Path):
    app = open_look()
    assert app.selectbox(key="look-source").options == ["drawn"]
    app.number_input(key="look-seeds").set_value(2)
    app.number_input(key="look-epochs").set_value(3).run()
    assert any("14 trainings in 2 jobs, one after the other" in x.value for x in app.caption)
    app.button(key="look-start").click().run()
    assert not app.exception
    specs = [(one["source"], one["first_seed"], one["seeds"]) for one in specs_of(runs)]
    assert specs == [("drawn", 0, 1), ("drawn", 1, 1)]
    assert {one["epochs"] for one in specs_of(runs)} == {3}
    assert "**14 trainings on drawn, 2 seeds**: all 2 waiting, 0 %" in lines(app)


def test_what_is_typed_just_before_the_click_is_what_is_trained(open_look: Open, runs: Path):
    app = open_look()
    app.number_input(key="look-seeds").set_value(1)
    app.number_input(key="look-epochs").set_value(2)
    app.button(key="look-start").click().run()
    assert not app.exception
    assert [(one["seeds"], one["epochs"]) for one in specs_of(runs)] == [(1, 2)]


def test_a_single_seed_is_a_job_of_its_own(open_look: Open, runs: Path):
    app = open_look()
    app.number_input(key="look-seeds").set_value(1).run()
    assert any("7 trainings, one after the other" in one.value for one in app.caption)
    app.button(key="look-start").click().run()
    (job,) = list_looks(runs)
    assert (job.sweep, job.name) == (None, "7 trainings on drawn, seed 0")
    assert f"**{job.name}**: queued, 0 %" in lines(app)


def test_a_sweep_is_sent_to_the_cluster_as_one_array(
    open_look: Open, runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "cluster.toml").write_text("")
    monkeypatch.setenv("EXPLORER_CLUSTER", str(tmp_path / "cluster.toml"))
    slurm = put_programs(tmp_path / "slurm", monkeypatch)
    app = open_look(on="cluster")
    assert any("35 trainings in 5 jobs, each about" in one.value for one in app.caption)
    app.button(key="look-start").click().run()
    assert not app.exception
    job, *others = list_looks(runs)[::-1]
    assert (job.on, len(others), len(calls(slurm, "sbatch"))) == ("slurm", 4, 1)
    listed(slurm, runs / job.id, "PENDING", number="17_0", reason="Priority")
    said = [one.value.replace("\\", "") for one in app.run().caption]
    first, *waiting = [text for text in said if text.startswith("waits on the cluster")]
    assert first.startswith("waits on the cluster: others come first, expected to begin about")
    assert waiting == ["waits on the cluster: submitted just now"]


def test_a_sweep_that_is_none_is_refused_where_it_is_asked_for(open_look: Open, runs: Path):
    app = open_look()
    app.number_input(key="look-seeds").set_value(21).run()
    assert [one.value for one in app.error] == ["seeds is 21; 1 to 20 are allowed"]
    assert app.button(key="look-start").disabled
    assert list_looks(runs) == []


def test_all_jobs_of_a_sweep_are_asked_to_stop_from_the_page(open_look: Open, runs: Path):
    app = open_look()
    app.button(key="look-start").click().run()
    app.button(key=f"look-stop-{id_of(runs)}").click().run()
    assert not app.exception
    assert {job.state for job in list_looks(runs)} == {"stopping"}
    assert "**35 trainings on drawn, 5 seeds**: all 5 stopping, 0 %" in lines(app.run())


def test_a_job_is_asked_to_stop_from_the_page(open_look: Open, runs: Path):
    app = open_look()
    app.number_input(key="look-seeds").set_value(1).run()
    app.button(key="look-start").click().run()
    (job,) = list_looks(runs)
    assert job.state == "queued"
    app.button(key=f"look-stop-{job.id}").click().run()
    assert not app.exception
    (left,) = list_looks(runs)
    assert left.state == "stopping"
    assert app.run().button(key=f"look-stop-{job.id}").disabled


@pytest.mark.parametrize("together", [False, True])
def test_trainings_of_this_machine_take_the_place_of_the_recorded_ones(
    open_look: Open, look: Shelf, runs: Path, monkeypatch: pytest.MonkeyPatch, *, together: bool
):
    """Of a job, or of a sweep: of the latter once all its jobs have finished."""
    recorded = read_sweep(look.sweep_path)
    worse = replace(recorded, runs=tuple(replace(r, correct=r.correct // 2) for r in recorded.runs))
    name = "of this machine"
    sweep = SweepName(id="sweep-20260131-120010-0a1b2c", name=name) if together else None
    job = {
        "state": "finished",
        "is_active": False,
        "can_resume": False,
        "progress": 1.0,
        "message": "",
        "owner": None,
        "there": None,
        "sweep": sweep,
        "name": "seed" if together else name,
    }
    ids = [f"20260131-120010-0a1b2{end}" for end in ("dc" if together else "c")]
    jobs = [SimpleNamespace(id=one, **job) for one in ids]
    monkeypatch.setattr(training, "_jobs", lambda: jobs)
    monkeypatch.setattr(training, "sweep_of", lambda _: worse)
    seen: list[list[str]] = []

    def sweep_of_all(folders: list[Path]) -> Sweep:
        seen.append([path.name for path in folders])
        return worse

    monkeypatch.setattr(training, "sweep_of_all", sweep_of_all)
    if together:
        jobs[0].state = "stopped"
        assert "look-sweep" not in [one.key for one in open_look().selectbox]
        jobs[0].state = "finished"
    app = open_look()
    before = [one.value for one in app.markdown if "Does pooling help" in one.value]
    assert app.selectbox(key="look-sweep").options == ["recorded", name]
    app.selectbox(key="look-sweep").set_value(ids[0] if sweep is None else sweep.id).run()
    assert not app.exception
    after = [one.value for one in app.markdown if "Does pooling help" in one.value]
    assert len(before) == len(after) == 1
    assert before != after
    assert {*map(tuple, seen)} == ({tuple(sorted(ids))} if together else set())
