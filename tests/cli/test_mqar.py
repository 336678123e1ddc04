"""`memory mqar`: rates tried on held-out texts, seeds at the best, and what is there is not trained
again.
"""

import json
from pathlib import Path

import pytest

from core.cli import mqar
from core.cli.main import main
from core.memory.mqar import best

FEW = ["--models", "softmax", "--steps", "1", "--rates", "0.01", "0.02", "--seeds", "0", "1"]


def test_each_rate_is_tried_once_and_the_best_is_trained_from_every_seed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    said = ["memory", "mqar", *FEW, "--runs", str(tmp_path / "runs"), "--json"]
    assert main(said) == 0
    report = json.loads(capsys.readouterr().out)
    (found,) = report["found"]
    assert found["rate"] == best(found["tried"])
    assert [one["seed"] for one in found["seeds"]] == [0, 1]
    assert len(list((tmp_path / "runs").iterdir())) == 3
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").rglob("*")}
    assert main(said) == 0
    assert json.loads(capsys.readouterr().out) == report
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").rglob("*")} == before


def test_a_folder_of_another_training_is_no_finished_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    few = ["--models", "softmax", "--steps", "1", "--rates", "0.01", "--seeds"]
    at = ["--runs", str(tmp_path)]
    assert main(["memory", "mqar", *few, "0", *at]) == 0
    (folder,) = tmp_path.iterdir()
    folder.rename(tmp_path / folder.name.replace("seed0", "seed1"))
    assert main(["memory", "mqar", *few, "1", *at]) == 2
    assert "seed1-1steps holds another training: remove it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("part", "named"),
    [
        (["--models", "softmax"], "models"),
        (["--rates", "0.01"], "rates"),
        (["--seeds", "0", "1"], "seeds"),
        (["--steps", "3"], "steps"),
    ],
)
def test_a_part_does_not_take_the_place_of_the_record(
    part: list[str],
    named: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setattr(mqar, "RECORD", tmp_path / "record.json")
    assert main(["memory", "mqar", *part, "--record", "--runs", str(tmp_path)]) == 2
    assert f"leave out --{named}, or write to another file" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_seed_or_a_rate_named_twice_is_refused(capsys: pytest.CaptureFixture[str]):
    assert main(["memory", "mqar", "--seeds", "0", "0"]) == 2
    assert "each seed once, not 0 0" in capsys.readouterr().err
    assert main(["memory", "mqar", "--rates", "0.1", "0.1"]) == 2
    assert "each rate once, not 0.1 0.1" in capsys.readouterr().err
