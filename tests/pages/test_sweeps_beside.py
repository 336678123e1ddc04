"""A sweep over networks of pictures waits in the same queue; other pages of jobs pass it over."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.jobs import actions
from core.jobs.launcher import Launcher
from core.jobs.look_job import look_job
from core.jobs.state import list_looks
from core.pictures.sweep_spec import SweepSpec


@pytest.mark.parametrize("page", ["training", "runtime"])
def test_a_sweep_is_neither_a_training_nor_a_measurement_of_these_pages(
    page: str, runs: Path, launcher: Launcher, open_by_link: Callable[..., AppTest]
):
    job = actions.start(runs, look_job(SweepSpec(source="drawn"), name="my sweep"), launcher)
    app = open_by_link(page)
    assert not app.exception
    assert [look.id for look in list_looks(runs)] == [job]
    said = [element.value for kind in (app.markdown, app.caption) for element in kind]
    assert not any("my sweep" in text for text in said)
    assert not any(job in map(str, box.options) for box in app.selectbox)
