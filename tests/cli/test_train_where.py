"""`train` on a device and in several processes: what is started, refused, and kept of it."""

import json
import shlex
import shutil
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from core.checkpoints.shelf import CARD
from core.cli import train
from core.jobs.ranks import STOP
from core.runs.folder import RUN
from core.training.where import HERE, Where

Run = Callable[..., Any]
Started = list[tuple[int, list[str]]]
NEW = ("train", "--preset", "tiny", "--steps", 10)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, trained: Path, tmp_path: Path) -> Started:
    """In the place of torchrun: what would be started; tmp_path / "run" is finished then."""
    found: Started = []

    def run_ranks(arguments: Callable[[Path], Sequence[str]], n: int) -> dict[str, Any]:
        found.append((n, list(arguments(Path("ranks")))))
        shutil.copytree(trained, tmp_path / "run", dirs_exist_ok=True)
        return {}

    monkeypatch.setattr(train, "run_ranks", run_ranks)
    return found


def test_several_processes_are_started_with_all_that_was_asked(
    run: Run, started: Started, tmp_path: Path
):
    folder = tmp_path / "run"
    outcome = run(*NEW, "--seed", 3, "--tuning", "--processes", 2, "--out", folder, "--json")
    assert outcome.report == json.loads((folder / CARD).read_text(encoding="utf-8"))
    ((n, arguments),) = started
    where = "--processes 2 --device cpu --precision float32"
    what = f"--preset tiny --steps 10 --out {folder} --seed 3 --tuning"
    assert (n, shlex.join(arguments)) == (2, f"-m core train --ranks ranks {where} {what}")


def test_several_that_were_stopped_say_how_it_goes_on(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(train, "run_ranks", lambda *_: {"stopped": True})
    error = run(*NEW, "--processes", 2, "--out", tmp_path / "run").error
    assert error == f"error: stopped; continue with --resume {tmp_path / 'run'}"


def test_one_of_several_trains_and_the_first_finishes(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("RANK", "0")
    assert run(*NEW, "--out", tmp_path / "run", "--ranks", tmp_path).status == 0
    assert json.loads((tmp_path / "0.json").read_text()) == {}
    assert json.loads((tmp_path / "run" / CARD).read_text())["where"] == HERE.to_dict()
    outcome = run(*NEW, "--out", tmp_path / "run", "--ranks", tmp_path)
    assert (outcome.status, outcome.out) == (3, "")
    assert "already holds a checkpoint" in json.loads((tmp_path / "0.json").read_text())["failed"]


def test_one_of_several_that_is_told_to_stop_says_so(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("RANK", "0")
    (tmp_path / STOP).touch()
    assert run(*NEW, "--out", tmp_path / "run", "--ranks", tmp_path).status == 0
    assert json.loads((tmp_path / "0.json").read_text()) == {"stopped": True}
    assert run("train", "--resume", tmp_path / "run").status == 0


def test_a_run_of_several_goes_on_in_several_or_alone(
    run: Run, at_step: Any, started: Started, tmp_path: Path
):
    folder = tmp_path / "stopped"
    at_step(4, lambda: signal.raise_signal(signal.SIGINT))
    assert "stopped" in run(*NEW, "--out", folder).error
    settings = json.loads((folder / RUN).read_text())
    settings["where"]["processes"] = 2
    (folder / RUN).write_text(json.dumps(settings))
    run("train", "--resume", folder)
    assert [n for n, _ in started] == [2]
    card = run("train", "--resume", folder, "--processes", 1, "--json").report
    assert card["where"] == HERE.to_dict()
    assert card["moved"] == [{"until_step": 4, **Where(processes=2).to_dict()}]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--device", "cuda"), "torch sees no CUDA device here"),
        (("--device", "tpu"), "unknown device 'tpu'; devices: auto, cpu"),
        (("--precision", "bfloat16"), "precision bfloat16 is for cuda and mps; cpu computes in fl"),
        (("--processes", 0), "0 processes: 1 to 64 are possible"),
    ],
)
def test_what_cannot_be_had_is_refused_before_a_folder_is_made(
    run: Run, tmp_path: Path, given: tuple[object, ...], message: str
):
    assert message in run(*NEW, "--out", tmp_path / "run", *given).error
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("CUDA out of memory. Tried to allocate 2 GiB", "error: the memory is not enough"),
        ("CUDA error: unspecified launch failure", "error: the device does not answer any more"),
    ],
)
def test_a_device_that_fails_ends_the_run_in_one_sentence(
    run: Run, at_step: Any, tmp_path: Path, said: str, message: str
):
    def fail() -> None:
        raise RuntimeError(said)

    at_step(4, fail)
    error = run(*NEW, "--out", tmp_path / "run").error
    assert error.startswith(message)
    assert error.endswith("; nothing was saved yet")
    assert run("train", "--resume", tmp_path / "run").status == 0


def test_another_error_is_not_put_down_to_the_device(run: Run, at_step: Any, tmp_path: Path):
    def fail() -> None:
        raise RuntimeError("a shape is wrong")

    at_step(4, fail)
    with pytest.raises(RuntimeError, match="a shape is wrong"):
        run(*NEW, "--out", tmp_path / "run")


def test_the_command_in_the_card_says_where(recipe: Any):
    where = Where(device="cuda", precision="tf32", processes=2)
    told: dict[str, Any] = {"steps": 4, "seed": 0, "tuning": False}
    command = train._command(recipe, Path("run"), where=where, **told)
    assert command.endswith(
        "--seed 0 --device cuda --precision tf32 --processes 2 --out checkpoints/run"
    )
    assert "--device" not in train._command(recipe, Path("run"), where=HERE, **told)
