"""What a shelf says without loading a model."""

from pathlib import Path
from typing import Any

import pytest

from core.checkpoints.shelf import (
    CARD,
    SNAPSHOTS,
    dev_accuracy,
    dev_curve,
    snapshot_steps,
    weights_path,
)
from core.files import read_json, write_json


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
