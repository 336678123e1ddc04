"""What must be found in the folder of a run, and whether it is still the same folder."""

import shutil
from pathlib import Path

import pytest

from core.checkpoints.shelf import CARD, SNAPSHOTS
from core.runs.folder import RUN, STATE, Anchor, GoneError, lost_file, refuse_lost
from core.runs.journal import METRICS


@pytest.mark.parametrize(
    ("names", "lost"),
    [
        ([], None),
        ([RUN, STATE], None),
        ([RUN], STATE),
        ([RUN, CARD], STATE),  # it died while it was measured; what it trained is not trained over
        ([CARD, METRICS], None),
        ([METRICS], RUN),
        ([f"{SNAPSHOTS}/000005.safetensors"], RUN),
        ([STATE], RUN),  # damaged, so that its step cannot be told
    ],
)
def test_what_is_lost_follows_from_what_is_there(
    tmp_path: Path, names: list[str], lost: str | None
):
    (tmp_path / SNAPSHOTS).mkdir()
    (tmp_path / METRICS).touch()  # a journal without a line says nothing
    for name in names:
        (tmp_path / name).write_text("{}\n")
    assert lost_file(tmp_path) == lost
    if lost is None:
        refuse_lost(tmp_path)
    else:
        with pytest.raises(ValueError, match=f"{tmp_path}: {lost} is missing"):
            refuse_lost(tmp_path)


def test_an_anchor_tells_another_file_of_its_name(tmp_path: Path):
    path = tmp_path / "folder" / "file"
    path.parent.mkdir()
    path.write_text("same")
    anchor = Anchor(path)
    path.touch()
    anchor.check()
    path.rename(path.with_name("moved"))
    assert not anchor.is_in_place
    path.with_name("moved").rename(path)
    assert anchor.is_in_place  # brought back, it is the same one
    shutil.rmtree(path.parent)
    path.parent.mkdir()
    path.write_text("same")
    with pytest.raises(GoneError, match=f"{path.parent} is gone"):
        anchor.check()
    path.unlink()
    path.parent.rmdir()
    path.parent.touch()  # a file where the folder was
    assert not anchor.is_in_place
    anchor.close()


def test_an_anchor_needs_what_lies_beside_it(tmp_path: Path):
    for name in ("file", "other"):
        (tmp_path / name).touch()
    anchor = Anchor(tmp_path / "file", "other")
    anchor.check()
    (tmp_path / "other").unlink()
    with pytest.raises(GoneError, match="is gone"):
        anchor.check()
    with pytest.raises(FileNotFoundError):
        Anchor(tmp_path / "absent")
