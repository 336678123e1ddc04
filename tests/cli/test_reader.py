"""`reader`: figures of readers on a small folder of the course's form."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from core.reader import writing
from core.reader.reading import train_readers

Run = Callable[..., Any]
PLACES = ("Oslo", "Lima", "Rome", "Cairo")


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """60 training pairs, 8 for dev of which one answer stands nowhere, 4 for test."""
    quick = partial(train_readers, n_nets=2, n_epochs=25)
    monkeypatch.setattr(writing, "train_readers", quick)
    people = [(f"Nomen{number} Bell", PLACES[number % 4]) for number in range(72)]
    texts = [f"{name} was born in {place} and died in Quito." for name, place in people]
    asked = [f"Where was {name} born?\t{place}" for name, place in people]
    asked[60] = asked[60].replace("Oslo", "Atlantis")
    folder = tmp_path / "course"
    folder.mkdir()
    test = [line.split("\t")[0] for line in asked[68:]]
    for name, lines in (
        ("wiki.txt", texts),
        ("birth_places_train.tsv", asked[:60]),
        ("birth_dev.tsv", asked[60:68]),
        ("birth_test_inputs.tsv", test),
    ):
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def test_the_readers_figures_are_told_and_recorded(run: Run, course: Path, tmp_path: Path):
    out = tmp_path / "reader.json"
    report = run("reader", "--corpus", course, "--record", "--out", out, "--json").report
    assert report == json.loads(out.read_text(encoding="utf-8"))
    assert (report["seed"], report["n_nets"]) == (0, 2)
    assert report["held_out"] | {"surest_90": 1.0} == report["held_out"]
    assert report["held_out"]["correct"] == report["held_out"]["total"] == 6
    assert (report["dev"]["correct"], report["dev"]["total"]) == (7, 8)
    low, high = report["dev"]["interval_95"]
    assert 0 < low < 7 / 8 < high < 1
    assert report["in_sentence"]["dev"]["correct"] == 7
    assert report["kept"]["written"] == 6 + 8 + 4
    assert 0 < report["kept"]["kept"] <= 18


def test_the_report_in_words_names_both_splits(run: Run, course: Path):
    out = run("reader", "--corpus", course).out
    assert out.startswith("2 readers, trained in")
    assert "dev: 7 of 8 (87.5%, 95 % interval" in out
    assert "87.5% stand in the sentence at all" in out


def test_while_choices_are_made_dev_is_left_alone(run: Run, course: Path, tmp_path: Path):
    report = run("reader", "--corpus", course, "--tuning", "--json").report
    assert "dev" not in report
    assert report["kept"]["written"] == 6
    error = run("reader", "--corpus", course, "--tuning", "--record").error
    assert error == "error: --record is for all figures: leave out --tuning"


def test_the_courses_folder_is_needed(run: Run):
    assert "name their folder with --corpus" in run("reader").error
