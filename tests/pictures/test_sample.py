"""The digits that are shipped with what networks say of them: kept, read, refused when broken."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.pictures.sample import SAMPLE, Sample, read_sample, write_sample

RNG = np.random.default_rng(5)
LIKELY = np.array([[0.7, 0.3], [0.2, 0.8], [0.6, 0.4]])


def sample(n: int = 3) -> Sample:
    return Sample(
        source="the file digits.npz",
        digest="d" * 64,
        classes=("cat", "dog"),
        n_test=50,
        weights={"pooling": "a" * 64, "patches": "b" * 64},
        numbers=np.arange(n) + 7,
        labels=np.arange(n) % 2,
        pictures=RNG.integers(0, 256, (n, 28, 28), np.uint8),
        probabilities={
            "pooling": np.resize(LIKELY, (n, 2)),
            "patches": np.resize(LIKELY[::-1], (n, 2)),
        },
    )


@pytest.mark.parametrize("n", [1, 3, 20, 41])
def test_what_is_kept_is_read_again(tmp_path: Path, n: int):
    before = sample(n)
    write_sample(tmp_path / "x.json", before)
    found = read_sample(tmp_path / "x.json")
    assert np.array_equal(found.pictures, before.pictures)
    assert np.array_equal(found.numbers, before.numbers)
    assert np.array_equal(found.labels, before.labels)
    assert np.array_equal(found.probabilities["patches"], before.probabilities["patches"])
    plain = ("source", "digest", "classes", "n_test", "weights")
    assert [getattr(found, name) for name in plain] == [getattr(before, name) for name in plain]


def test_wrong_ones_are_those_that_any_network_gets_wrong_most_first():
    found = replace(
        sample(),
        labels=np.array([1, 1, 0]),
        probabilities={"pooling": LIKELY, "patches": LIKELY[[0, 0, 0]]},
    )
    assert found.wrong == [0, 1]
    assert found.said(1)["patches"].tolist() == [0.7, 0.3]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"labels": []}, "0 labels of 3 pictures"),
        ({"numbers": [1, 2]}, "3 labels of 2 pictures"),
        ({"labels": [0, 1, 2]}, "a label is none of its 2 classes"),
        ({"labels": [0, 1, -1]}, "a label is none of its 2 classes"),
        ({"numbers": [0, 1, 50]}, "none of the 50 test pictures"),
        ({"weights": {"pooling": "a"}}, "not of the same networks"),
        ({"probabilities": {}}, "not of the same networks"),
        ({"labels": "012"}, "labels is '012'"),
        ({"more": 1}, "more"),
    ],
)
def test_a_broken_file_is_refused(tmp_path: Path, changed: dict[str, Any], words: str):
    path = tmp_path / "x.json"
    write_sample(path, sample())
    path.write_text(json.dumps(json.loads(path.read_text()) | changed), encoding="utf-8")
    with pytest.raises(ValueError, match=words) as caught:
        read_sample(path)
    assert "x.json" in str(caught.value)


@pytest.mark.parametrize("row", [[0.5], [0.5, 0.6], [-0.1, 1.1]])
def test_probabilities_come_to_one(tmp_path: Path, row: list[float]):
    path = tmp_path / "x.json"
    write_sample(path, sample())
    data = json.loads(path.read_text())
    data["probabilities"]["pooling"][1] = row
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(ValueError, match="pooling has no probabilities of 2 classes"):
        read_sample(path)


def test_a_sheet_of_another_size_is_refused_and_one_that_is_missing(tmp_path: Path):
    path, other = tmp_path / "x.json", tmp_path / "other.json"
    write_sample(path, sample())
    write_sample(other, sample(21))
    other.with_suffix(".png").replace(path.with_suffix(".png"))
    with pytest.raises(ValueError, match=r"x\.png: L of \(560, 56\); grey of \(560, 28\)"):
        read_sample(path)
    path.with_suffix(".png").write_bytes(b"\x89PNG\r\n\x1a\n")
    with pytest.raises(ValueError, match=r"x\.png: not a whole PNG"):
        read_sample(path)
    path.with_suffix(".png").unlink()
    with pytest.raises(ValueError, match=r"x\.png: cannot be read"):
        read_sample(path)


@pytest.mark.skipif(not SAMPLE.exists(), reason="no sample is shipped yet")
def test_the_shipped_sample_has_digits_of_every_class():
    found = read_sample()
    assert set(found.labels.tolist()) == set(range(10))
    assert len(found.wrong) < len(found) < 600
