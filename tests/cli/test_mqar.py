"""`memory mqar`: rates tried on held-out texts, seeds at the best, and what is there is not trained
again.
"""

import json
from pathlib import Path

import pytest

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


def test_a_seed_or_a_rate_named_twice_is_refused(capsys: pytest.CaptureFixture[str]):
    assert main(["memory", "mqar", "--seeds", "0", "0"]) == 2
    assert "each seed once, not 0 0" in capsys.readouterr().err
    assert main(["memory", "mqar", "--rates", "0.1", "0.1"]) == 2
    assert "each rate once, not 0.1 0.1" in capsys.readouterr().err
