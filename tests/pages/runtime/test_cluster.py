"""A measurement on the cluster: sent there, with a node's GPU, and picked up as any other."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.jobs.state import list_benches
from tests.fake_slurm import calls, listed, put_programs

Open = Callable[..., AppTest]


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "cluster.toml"
    path.write_text("gpus = 1\n")
    monkeypatch.setenv("EXPLORER_CLUSTER", str(path))
    return put_programs(tmp_path / "slurm", monkeypatch)


def test_a_measurement_is_sent_to_a_node_with_a_gpu(open_runtime: Open, slurm: Path, runs: Path):
    app = open_runtime(**{"rt-on": "cluster"})
    assert app.selectbox(key="rt-device").options == ["cpu", "cuda"]
    app.selectbox(key="rt-device").set_value("cuda").run()
    app.button(key="rt-start").click().run()
    assert not app.exception
    (job,) = list_benches(runs)
    assert (job.on, job.device) == ("slurm", "cuda")
    assert len(calls(slurm, "sbatch")) == 1
    assert app.selectbox(key="rt-source").value == job.id
    assert app.selectbox(key="rt-source").options[0].startswith(f"on the cluster: {job.name}")
    listed(slurm, runs / job.id, "PENDING", reason="Priority")
    app.run()
    said = "\n".join(text.value for text in (*app.markdown, *app.caption)).replace("\\", "")
    assert "waits on the cluster: others come first" in said
    assert "On the cluster as job 17." in said


def test_without_gpus_in_the_settings_a_node_has_its_processor(
    open_runtime: Open, slurm: Path, tmp_path: Path
):
    (tmp_path / "cluster.toml").write_text("")
    app = open_runtime(**{"rt-on": "cluster"})
    assert app.selectbox(key="rt-device").options == ["cpu"]
    assert "Measure on the cluster" in "".join(text.value for text in app.sidebar.markdown)
