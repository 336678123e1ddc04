"""What a shelf says without loading a model."""

from pathlib import Path
from typing import Any

import pytest

from core.checkpoints.shelf import (
    CARD,
    SNAPSHOTS,
    WEIGHTS,
    CheckpointError,
    content_hash,
    dev_accuracy,
    dev_curve,
    list_cards,
    list_checkpoints,
    not_shipped,
    shipped_weights,
    snapshot_steps,
    stated_digest,
    weights_path,
)
from core.checkpoints.store import load_checkpoint
from core.files import read_json, write_json
from core.paths import CHECKPOINTS


def put(folder: Path, snapshots: Any) -> Path:
    figures = {"dev": {"accuracy": 0.5}}
    card = {**read_json(folder / CARD), "snapshots": snapshots, "figures": figures}
    write_json(folder / CARD, card)
    return folder


def test_the_curve_is_what_the_card_states(saved: Path):
    points = [{"step": 25, "accuracy": 0.0, "total": 5}, {"step": 50, "accuracy": 0.4}]
    assert dev_curve(put(saved, points)) == [(25, 0.0), (50, 0.4), (None, 0.5)]


@pytest.mark.parametrize("snapshots", [None, {"step": 1}, [{"step": 25}], [3], [{"step": "x"}]])
def test_a_card_that_states_no_curve_has_none(saved: Path, snapshots: Any):
    assert dev_curve(put(saved, snapshots)) == []


def test_a_folder_without_a_card_has_no_curve(tmp_path: Path):
    assert dev_curve(tmp_path) == []
    assert dev_accuracy(tmp_path) is None


def test_the_share_of_dev_is_the_card_s_and_none_is_none(saved: Path):
    assert dev_accuracy(put(saved, None)) == 0.5
    write_json(saved / CARD, {**read_json(saved / CARD), "figures": {"dev": 3}})
    assert dev_accuracy(saved) is None


def test_weights_lie_at_the_end_of_a_training_or_at_a_step_of_it(tmp_path: Path):
    assert weights_path(tmp_path) == tmp_path / "model.safetensors"
    assert weights_path(tmp_path, 25) == tmp_path / "snapshots" / "000025.safetensors"


def test_only_names_that_a_run_gives_are_snapshots(tmp_path: Path):
    (tmp_path / SNAPSHOTS).mkdir()
    others = ("12abc", "30", "0000030", "٠٠٠٠١٢", "000040 (copy)", "")
    for name in ("000200", "1000000", "000030", *others):
        (tmp_path / SNAPSHOTS / f"{name}.safetensors").touch()
    assert snapshot_steps(tmp_path) == [30, 200, 1_000_000]
    assert all(weights_path(tmp_path, step).exists() for step in snapshot_steps(tmp_path))


def without_weights(folder: Path, command: object = "python -m core train --preset p") -> Path:
    write_json(folder / CARD, {**read_json(folder / CARD), "command": command})
    (folder / WEIGHTS).unlink()
    return folder


def test_a_card_without_weights_is_on_the_shelf_and_is_no_checkpoint(saved: Path):
    assert list_cards(saved.parent) == list_checkpoints(saved.parent) == [saved.name]
    without_weights(saved)
    assert list_cards(saved.parent) == [saved.name]
    assert list_checkpoints(saved.parent) == []


def test_weights_that_are_not_shipped_are_named_with_the_command_that_trains_them(saved: Path):
    assert (shipped_weights(saved), not_shipped(saved)) == (saved / WEIGHTS, "")
    without_weights(saved)
    assert not_shipped(saved) == "python -m core train --preset p"
    reason = f"{saved.name}: its weights are not shipped; train them again with: python -m core tra"
    for read in (shipped_weights, content_hash, load_checkpoint):
        with pytest.raises(CheckpointError, match=reason):
            read(saved)
    assert shipped_weights(saved, 25) == weights_path(saved, 25)


@pytest.mark.parametrize("command", [None, "", ["train"]])
def test_weights_that_no_command_trains_are_only_missing(saved: Path, command: object):
    without_weights(saved, command)
    assert not_shipped(saved) == ""
    with pytest.raises(ValueError, match=r"model\.safetensors: cannot be read"):
        content_hash(saved)


def test_a_card_that_is_broken_or_describes_no_weights_names_no_command(saved: Path):
    without_weights(saved)
    write_json(saved / CARD, {"command": "train", "files": {}})
    assert not_shipped(saved) == ""
    (saved / CARD).write_text("{")
    assert not_shipped(saved) == ""


@pytest.mark.parametrize("card", [{}, {"files": 3}, {"files": {WEIGHTS: 3}}, {"files": {"a": "b"}}])
def test_a_card_may_describe_no_weights(card: dict[str, Any]):
    assert stated_digest(card) is None


def test_the_stated_digest_is_that_of_the_weights(saved: Path):
    assert stated_digest(read_json(saved / CARD)) == content_hash(saved)


def test_the_shipped_card_without_weights_describes_what_was_evaluated():
    folder = CHECKPOINTS / "course-scratch"
    evaluation = read_json(folder / "evaluation-dev.json")
    assert evaluation["weights_sha256"] == stated_digest(read_json(folder / CARD))
    assert "--preset course-scratch" in not_shipped(folder)
    assert "course-scratch" not in list_checkpoints(CHECKPOINTS)
