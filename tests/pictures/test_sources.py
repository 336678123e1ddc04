"""Which sets of pictures are at hand, and what is said of others."""

import shutil
from pathlib import Path

import pytest

from core.pictures.sources import load_pictures, sources
from tests.pictures.hostile import WHOLE


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EXPLORER_IMAGES", str(tmp_path))
    return tmp_path


def test_drawn_digits_need_no_file(folder: Path):
    assert sources() == ("drawn",)
    shutil.rmtree(folder)
    assert sources() == ("drawn",)
    drawn = load_pictures("drawn")
    assert (drawn.source, len(drawn.train)) == ("digits drawn by Pillow's own font, seed 0", 7_000)


def test_files_of_the_folder_follow_by_name_and_digits_before_them(folder: Path):
    for name in ("octmnist.npz", "digits.npz", "blood.npz", "drawn.npz", "notes.txt", ".x.npz"):
        (folder / name).write_bytes(WHOLE)
    (folder / "odd\nname.npz").write_bytes(WHOLE)
    (folder / "a folder.npz").mkdir()
    assert sources() == ("drawn", "digits", "blood", "octmnist")
    assert load_pictures("octmnist").name == "octmnist"


def test_without_the_variable_they_lie_beside_the_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("EXPLORER_IMAGES", raising=False)
    monkeypatch.setattr("core.paths.RUNS", tmp_path / "runs")
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "digits.npz").write_bytes(WHOLE)
    assert sources() == ("drawn", "digits")


@pytest.mark.parametrize("name", ["", "digits", "../digits", "octmnist.npz", "a\nb" * 90])
def test_an_unknown_name_is_refused_with_what_is_at_hand(folder: Path, name: str):
    with pytest.raises(ValueError, match="at hand: drawn; python assets/make_digits.py") as caught:
        load_pictures(name)
    assert "\n" not in str(caught.value)


def test_a_bad_file_is_said_when_it_is_asked_for(folder: Path):
    (folder / "broken.npz").write_bytes(WHOLE[:100])
    assert sources() == ("drawn", "broken")
    with pytest.raises(ValueError, match=r"broken\.npz: not an \.npz file"):
        load_pictures("broken")
