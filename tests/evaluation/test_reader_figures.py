"""The reader's own figures, read strictly."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.evaluation.reader_figures import load_reader
from core.paths import ASSETS

DEV = {
    "correct": 460,
    "total": 500,
    "accuracy": 0.92,
    "interval_95": [0.893, 0.941],
    "surest_90": 0.978,
}
HELD_OUT = {
    "correct": 180,
    "total": 200,
    "accuracy": 0.9,
    "interval_95": [0.851, 0.934],
    "surest_90": 0.96,
}
READER: dict[str, Any] = {
    "machine": "a machine",
    "seed": 0,
    "n_nets": 3,
    "seconds": 345.6,
    "in_sentence": {
        "held_out": {"correct": 190, "total": 200, "accuracy": 0.95},
        "dev": {"correct": 478, "total": 500, "accuracy": 0.956},
    },
    "held_out": HELD_OUT,
    "dev": DEV,
    "kept": {"written": 12000, "kept": 9000},
    "data_sha256": "of the corpus",
}


def write(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_the_reader_s_figures_are_read_with_both_splits(tmp_path: Path):
    found = load_reader(write(tmp_path / "reader.json", READER))
    assert found is not None
    assert (found.machine, found.seed, found.n_nets, found.seconds) == ("a machine", 0, 3, 345.6)
    assert (found.dev.correct, found.dev.total, found.dev.accuracy) == (460, 500, 0.92)
    assert found.dev.interval == (0.893, 0.941)
    assert (found.dev.surest_90, found.dev.in_sentence) == (0.978, 0.956)
    assert (found.held_out.accuracy, found.held_out.in_sentence) == (0.9, 0.95)
    assert (found.written, found.kept, found.data) == (12000, 9000, "of the corpus")


def test_before_a_reader_was_recorded_there_is_none(tmp_path: Path):
    assert load_reader(tmp_path / "reader.json") is None


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"machine": ...}, "machine"),
        ({"dev": ...}, "dev"),
        ({"dev": [3]}, "indices"),
        ({"dev": {**DEV, "correct": 501}}, "501 of 500: needs 0 <= correct <= total"),
        ({"dev": {**DEV, "correct": 400}}, "accuracy is 0.92, 400 of 500 is 0.8000"),
        ({"dev": {**DEV, "surest_90": 97.8}}, "97.8 is no share"),
        ({"dev": {**DEV, "interval_95": [0.9]}}, "not enough values"),
        ({"dev": {**DEV, "interval_95": [0.9, -1]}}, "-1.0 is no share"),
        ({"in_sentence": {"held_out": HELD_OUT}}, "dev"),
        ({"kept": {"written": 5, "kept": 6}}, "6 of 5: needs 0 <= kept <= written"),
        ({"kept": {"written": 0, "kept": 0}}, "0 of 0"),
        ({"n_nets": "three"}, "three"),
    ],
)
def test_figures_that_lack_something_or_cannot_be_are_refused(
    tmp_path: Path, changes: dict[str, Any], reason: str
):
    kept = {name: value for name, value in {**READER, **changes}.items() if value is not ...}
    path = write(tmp_path / "reader.json", kept)
    with pytest.raises(ValueError, match=rf"reader\.json: not the figures of a reader.*{reason}"):
        load_reader(path)


def test_the_shipped_figures_can_be_read():
    found = load_reader(ASSETS / "report_card" / "reader.json")
    assert found is None or found.dev.accuracy <= found.dev.in_sentence
