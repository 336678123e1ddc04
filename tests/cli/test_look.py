"""`look`: a sweep by command line, what it says, and the networks that it keeps."""

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

from core import paths
from core.checkpoints.picture_files import load_networks
from core.cli import look
from core.cli.main import main
from core.files import read_json
from core.jobs import ship_networks
from core.pictures.drawn import drawn_digits
from core.pictures.pictures import Pictures
from core.pictures.sweep import read_sweep
from tests.pictures.sweeps import made_up

SMALL = "--source drawn --epochs 1 --seeds 2 --batch 16 --rates 0.05 --threads 1".split()
TWO = ["--networks", "pooling", "strides"]


@pytest.fixture(scope="module")
def drawn() -> Pictures:
    return drawn_digits(32, 10, 20)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, drawn: Pictures, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look, "load_pictures", lambda _: drawn)
    monkeypatch.setattr(paths, "LOOK", tmp_path / "look.json")
    monkeypatch.setattr(paths, "PICTURE_NETWORKS", tmp_path / "look")


def report_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["look", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_sweep_is_trained_kept_and_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    out = tmp_path / "mine.json"
    report = report_of(capsys, "train", *SMALL, *TWO, "--out", str(out))
    keys = ["name", "classes", "parameters", "rate", "accuracy", "low", "high", "seeds"]
    assert [list(row)[: len(keys)] for row in report["networks"]] == [keys, keys]
    assert [row["name"] for row in report["networks"]] == ["pooling", "strides"]
    assert report["networks"][0]["parameters"] == 169_298
    assert report["pooling"]["difference"]["n"] == 2
    assert len(report["shifts"]["pooling"]) == 5
    assert report_of(capsys, "evaluate", "--file", str(out)) == report
    assert main(["look", "evaluate", "--file", str(out)]) == 0
    said = capsys.readouterr().out
    assert "pooling  at 0.05" in said
    assert "paired over 2 seeds" in said


def test_a_sweep_that_was_begun_goes_on_and_another_s_file_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    out = tmp_path / "mine.json"
    report_of(capsys, "train", *SMALL, *TWO, "--out", str(out))
    whole = read_sweep(out)
    data = read_json(out)
    out.write_text(json.dumps({**data, "runs": data["runs"][:3]}))
    assert main(["look", "train", *SMALL, *TWO, "--out", str(out)]) == 0
    assert "4 of 4: strides at 0.05, seed 1" in capsys.readouterr().err
    assert read_sweep(out).runs[:3] == whole.runs[:3]
    assert read_sweep(out).runs[3].correct == whole.runs[3].correct
    assert main(["look", "train", *SMALL, *TWO, "--out", str(out), "--padding", "1"]) == 2
    assert "holds another sweep: name another file" in capsys.readouterr().err


def test_the_record_is_a_sweep_and_networks_that_are_those_of_its_first_seed(
    capsys: pytest.CaptureFixture[str], drawn: Pictures
):
    recorded = report_of(capsys, "record", *SMALL)
    assert [row["network"] for row in recorded["shipped"]] == ["pooling", "strides", "patches"]
    found = load_networks(paths.PICTURE_NETWORKS)
    assert found["pooling"].card.command.startswith("python -m core look record --source drawn")
    assert found["pooling"].card.pictures == drawn.digest
    assert "networks" in report_of(capsys, "evaluate")
    fresh = report_of(capsys, "evaluate", "--fresh")["networks"]
    shipped = {row["network"]: row for row in recorded["shipped"]}
    for row in fresh:
        assert row["accuracy"] == shipped[row["name"]]["correct"] / 20
        assert (row["seeds"], row["interval"]) == (1, "Wilson over pictures")


def test_networks_that_are_not_those_of_the_sweep_are_not_kept(drawn: Pictures, tmp_path: Path):
    sweep = made_up(lambda _: 199, networks=("strides",), seeds=1, rates=(0.05,))
    with pytest.raises(ValueError, match="strides: trained again it is not the network of the"):
        ship_networks.ship(sweep, drawn, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate"], "look.json: cannot be read"),
        (["evaluate", "--fresh"], "there is no network in"),
        (["evaluate", "--fresh", "--file", "x.json"], "choose one"),
        (["train", *SMALL, "--rates", "0"], "rate 0; above 0 and at most 10 is allowed"),
        (["train", *SMALL, "--networks", "lstm"], "invalid choice"),
        (["train", *SMALL, "--out", "none/such.json"], "there is no folder"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
):
    with contextlib.suppress(SystemExit):  # of the parser, with the same status
        assert main(["look", *arguments]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
