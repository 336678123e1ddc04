"""The command line on invented people and a preset that trains in a second."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from core.cli import evaluating, train, verbs
from core.cli.main import main
from core.data import task
from core.training import examples
from core.training.presets import PRESETS
from core.training.recipe import Recipe


class Outcome(NamedTuple):
    """What a script sees of one call."""

    status: int
    out: str
    err: str

    @property
    def report(self) -> dict[str, Any]:
        """The one JSON object on standard output; anything beside it fails."""
        assert self.status == 0, self.err
        report = json.loads(self.out)
        assert isinstance(report, dict)
        return report

    @property
    def error(self) -> str:
        """The last line on standard error of a call that was refused; nothing on the other."""
        assert self.status == 2, (self.status, self.err)
        assert self.out == ""
        return self.err.splitlines()[-1]


Run = Callable[..., Outcome]


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    people_file: Path,
    recipe: Recipe,
) -> Run:
    """Call `python -m core …` inside this process."""
    make_small(monkeypatch, people_file, recipe)

    def call(*arguments: object) -> Outcome:
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as stopped:
            status = int(stopped.code or 0)
        out, err = capsys.readouterr()
        return Outcome(status, str(out), str(err))

    return call


@pytest.fixture(scope="session")
def trained_once(
    tmp_path_factory: pytest.TempPathFactory, people_table: Path, recipe: Recipe
) -> Path:
    """A checkpoint that the command line has made in 10 steps that nothing stopped."""
    folder = tmp_path_factory.mktemp("trained") / "trained"
    with pytest.MonkeyPatch.context() as patch:
        make_small(patch, people_table, recipe)
        assert main(["train", "--preset", "tiny", "--steps", "10", "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def trained(trained_once: Path, tmp_path: Path) -> Path:
    """A copy of it, free to be changed."""
    return Path(shutil.copytree(trained_once, tmp_path / "trained"))


def make_small(patch: pytest.MonkeyPatch, table: Path, recipe: Recipe) -> None:
    """The invented people, small pools, few evaluations and the preset `tiny`."""
    patch.setattr(task, "PEOPLE", table)
    patch.setattr(verbs, "PEOPLE", table)
    patch.setattr(evaluating, "PEOPLE", table)
    patch.setattr(examples, "POOL_SIZE", 12)
    patch.setattr(train, "N_PROBES", 2)
    patch.setitem(PRESETS, "tiny", recipe)
