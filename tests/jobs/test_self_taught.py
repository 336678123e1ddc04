"""A job whose readers learn before its first step: told while they do, and stopped then."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from core.files import read_json
from core.jobs import actions
from core.jobs.folder import STATUS
from core.jobs.state import Job
from core.reader import writing
from core.reader.reading import train_readers
from core.runs.folder import MADE, RUN
from core.training.presets import PRESETS

Work = Callable[[Path], Job]
Start = Callable[..., Path]


@pytest.fixture
def folder(start: Start, make_spec: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A job of a recipe that practises what one quick reader writes."""
    monkeypatch.setitem(PRESETS, "tiny", replace(PRESETS["tiny"], self_taught=1.0))
    quick = partial(train_readers, n_nets=1, n_epochs=4)
    monkeypatch.setattr(writing, "train_readers", quick)
    return start(steps=3)


def at_epoch(
    n: int, call: Callable[[], object], monkeypatch: pytest.MonkeyPatch, said: list[str]
) -> None:
    """Call something once the n-th word of progress is written; keeps the words."""
    from core.jobs.status import Reporter

    write = Reporter.write

    def written(self: Reporter, **changes: Any) -> None:
        write(self, **changes)
        if changes.get("activity", "").startswith("training readers"):
            said.append(changes["activity"])
            if len(said) == n:
                call()

    monkeypatch.setattr(Reporter, "write", written)


def test_a_job_teaches_itself_to_the_end(folder: Path, work: Work, monkeypatch: pytest.MonkeyPatch):
    said: list[str] = []
    at_epoch(0, lambda: None, monkeypatch, said)
    job = work(folder)
    assert job.state == "finished"
    assert said == [f"training readers: {n} of 4 epochs" for n in (1, 2, 3, 4)]
    card = read_json(folder / "card.json")
    assert card["recipe"]["self_taught"] == 1.0
    assert card["self_taught"]["read"] == 2 + 8 + 8  # held out, dev, test
    assert not (folder / MADE).exists()


def test_a_job_is_stopped_while_its_readers_learn_and_begins_anew(
    folder: Path, work: Work, runs: Path, launcher: Any, monkeypatch: pytest.MonkeyPatch
):
    said: list[str] = []
    at_epoch(2, lambda: actions.stop(runs, folder.name), monkeypatch, said)
    job = work(folder)
    assert (job.state, job.message) == ("stopped", "stopped as asked")
    assert len(said) == 2
    assert not (folder / RUN).exists()
    assert read_json(folder / STATUS)["step"] == 0
    actions.resume(runs, folder.name, launcher)
    assert work(folder).state == "finished"
