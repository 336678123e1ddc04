"""Jobs that train a tiny recipe on forty invented people, in the form of the course's files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from core.data.course import DEV, TEST, TRAIN, WIKI
from core.data.people import BIRTHPLACE, Person
from core.jobs import actions, recorder, training, worker
from core.jobs.spec import TrainSpec, train_spec
from core.jobs.state import Job, read_job
from core.paths import COURSE_VARIABLE
from core.runs import loop
from core.training import examples
from core.training.presets import PRESETS
from core.training.recipe import Recipe

MakeSpec = Callable[..., TrainSpec]


@dataclass(slots=True)
class FakeLauncher:
    """Remembers which workers were wanted; the test runs them, or does not."""

    patience: float = 30.0
    launched: list[Path] = field(default_factory=list[Path])

    def obstacle(self) -> str | None:
        return None

    def launch(self, folder: Path, *, threads: int) -> None:
        self.launched.append(folder)

    def launch_all(self, folders: Sequence[Path], *, threads: int) -> None:
        for folder in folders:
            self.launch(folder, threads=threads)


@pytest.fixture(scope="session")
def course_files(tmp_path_factory: pytest.TempPathFactory, people: list[Person]) -> Path:
    """The four files: 24 train, 8 dev and 8 test people, one sentence each."""
    folder = tmp_path_factory.mktemp("course")
    lines = [f"{BIRTHPLACE.question(p.name)}\t{p.birthplace}\n" for p in people]
    sentences = [
        f"{p.name} was born in {p.birthplace} in {p.born}, a {p.occupation}.\n" for p in people
    ]
    tests = [line.split("\t")[0] + "\n" for line in lines[32:]]
    for name, content in (
        (WIKI, sentences),
        (TRAIN, lines[:24]),
        (DEV, lines[24:32]),
        (TEST, tests),
    ):
        (folder / name).write_text("".join(content), encoding="utf-8")
    return folder


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """The folder of all jobs; it does not exist yet."""
    return tmp_path / "checkpoints" / "runs"


@pytest.fixture
def launcher() -> FakeLauncher:
    return FakeLauncher()


@pytest.fixture
def make_spec(course_files: Path, recipe: Recipe, monkeypatch: pytest.MonkeyPatch) -> MakeSpec:
    """A spec of 20 steps of the preset `tiny`, which this fixture makes known."""
    monkeypatch.setenv(COURSE_VARIABLE, str(course_files))
    monkeypatch.setitem(PRESETS, "tiny", replace(recipe, corpus="course"))

    def make(**options: Any) -> TrainSpec:
        given: dict[str, Any] = {"threads": 1, **options}
        if "minutes" not in given:
            given.setdefault("steps", 20)
        return train_spec("tiny", **given)

    return make


@pytest.fixture
def start(runs: Path, launcher: FakeLauncher, make_spec: MakeSpec) -> Callable[..., Path]:
    """Put a job into the queue without a worker; returns its folder."""

    def put(**options: Any) -> Path:
        return runs / actions.start(runs, make_spec(**options), launcher)

    return put


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], Job]:
    """Run the real worker inside this process, and look at the job afterwards."""
    monkeypatch.setattr(training, "NICENESS", 0)
    monkeypatch.setattr(examples, "POOL_SIZE", 12)
    monkeypatch.setattr(recorder, "N_ROWS", 7)  # a line every second step
    monkeypatch.setattr(recorder, "N_PROBES", 4)

    def run(folder: Path) -> Job:
        worker.main([str(folder)])
        return read_job(folder)

    return run


@pytest.fixture
def save_always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "SAVE_EVERY_SECONDS", -1.0)


@pytest.fixture
def stopped_at_7(
    start: Callable[..., Path],
    work: Callable[[Path], Job],
    at_step: Callable[[int, Callable[[], Any]], None],
    runs: Path,
) -> Path:
    """The folder of a job that was stopped after step 7."""
    folder = start()
    at_step(7, lambda: actions.stop(runs, folder.name))
    assert work(folder).state == "stopped"
    return folder
