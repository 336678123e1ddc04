"""Runs of the tiny recipe on the invented people, stepped inside this process."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.data import task
from core.runs.run import Run, start_run
from core.training import examples
from core.training.recipe import Recipe

Begin = Callable[..., Run]


@pytest.fixture
def begin(
    people_file: Path, recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Begin:
    """A new run of 6 steps in a folder of its own."""
    monkeypatch.setattr(task, "PEOPLE", people_file)
    monkeypatch.setattr(examples, "POOL_SIZE", 12)

    def start(name: str = "run", **options: Any) -> Run:
        given: dict[str, Any] = {"minutes": None, "steps": 6, "seed": 0, "corpus_folder": None}
        given |= {"command": lambda steps: f"train {steps}", **options}
        return start_run(given.pop("recipe", recipe), tmp_path / name, **given)

    return start
