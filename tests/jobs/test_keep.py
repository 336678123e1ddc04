"""A finished job becomes a checkpoint, whole or not at all."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.checkpoints.shelf import CARD, WEIGHTS, list_checkpoints, snapshot_steps
from core.checkpoints.store import load_checkpoint
from core.files import read_json, write_json
from core.jobs.keep import keep, kept_as, suggested_name


@pytest.fixture
def finished(start: Callable[..., Path], work: Callable[[Path], Any]) -> Path:
    folder = start()
    assert work(folder).state == "finished"
    return folder


def test_a_kept_job_is_a_checkpoint_under_its_new_name(finished: Path, runs: Path):
    folder = keep(runs, finished.name, "my-first", checkpoints=runs.parent)
    assert folder == runs.parent / "my-first"
    assert list_checkpoints(runs.parent) == ["my-first"]
    stored = load_checkpoint(folder, snapshot=20)
    assert (stored.name, stored.card["name"]) == ("my-first", "my-first")
    assert snapshot_steps(folder) == [10, 20]
    files = ["card.json", "config.json", "model.safetensors", "snapshots", "vocabulary.json"]
    assert sorted(path.name for path in folder.iterdir()) == files
    assert (finished / WEIGHTS).exists()  # the job stays


def test_a_kept_job_is_known_by_its_weights_whatever_their_checkpoint_is_called(
    finished: Path, runs: Path, start: Callable[..., Path]
):
    assert kept_as(runs, finished.name, checkpoints=runs.parent) == []
    keep(runs, finished.name, "second", checkpoints=runs.parent)
    folder = keep(runs, finished.name, "first", checkpoints=runs.parent)
    assert kept_as(runs, finished.name, checkpoints=runs.parent) == ["first", "second"]
    (folder / CARD).write_text("{")
    assert kept_as(runs, finished.name, checkpoints=runs.parent) == ["second"]
    assert kept_as(runs, start().name, checkpoints=runs.parent) == []  # not finished
    with pytest.raises(ValueError, match="is no id of a job"):
        kept_as(runs, "../second", checkpoints=runs.parent)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Lesson: sentences first", "lesson-sentences-first"),
        ("<b>Zoë</b>", "b-zo-b"),
        ("../..", "mine"),
        ("a" * 39 + "!b", "a" * 39),
    ],
)
def test_a_title_gives_a_name_that_can_be_kept(finished: Path, runs: Path, title: str, name: str):
    assert suggested_name(title) == name
    assert keep(runs, finished.name, name, checkpoints=runs.parent).is_dir()


@pytest.mark.parametrize("name", ["", "..", "a/b", "-a", "a-", "A", "ä", "a" * 41, "a\n"])
def test_a_name_that_is_no_name_of_a_folder_is_refused(
    start: Callable[..., Path], runs: Path, name: str
):
    with pytest.raises(ValueError, match="1 to 40 small letters, digits and hyphens"):
        keep(runs, start().name, name, checkpoints=runs.parent)


@pytest.mark.parametrize("name", ["runs", "taken"])
def test_a_name_that_is_taken_is_refused(finished: Path, runs: Path, name: str):
    (runs.parent / "taken").mkdir()
    with pytest.raises(ValueError, match=f"there is a checkpoint '{name}' already"):
        keep(runs, finished.name, name, checkpoints=runs.parent)


def test_a_job_that_is_not_finished_cannot_be_kept(start: Callable[..., Path], runs: Path):
    with pytest.raises(ValueError, match="is queued; only a finished one can be kept"):
        keep(runs, start().name, "mine", checkpoints=runs.parent)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"../../secret.json": "0"}, "lists '../../secret.json', which is no file"),
        ({"model.safetensors": "0"}, "model.safetensors is not the file that the card describes"),
        ({}, "card.json lists no files"),
    ],
)
def test_a_card_that_lies_keeps_nothing(
    finished: Path, runs: Path, files: dict[str, str], message: str
):
    write_json(finished / CARD, {**read_json(finished / CARD), "files": files})
    with pytest.raises(ValueError, match=message):
        keep(runs, finished.name, "mine", checkpoints=runs.parent)
    assert list_checkpoints(runs.parent) == []
    assert not list(runs.glob(".keep-*"))
