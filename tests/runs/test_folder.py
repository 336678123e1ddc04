"""What must be found in the folder of a run, and whether it is still the same folder."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from core.checkpoints.shelf import CARD, SNAPSHOTS
from core.runs.folder import (
    RUN,
    STATE,
    Anchor,
    GoneError,
    lost_file,
    read_settings,
    refuse_lost,
    write_settings,
)
from core.runs.journal import METRICS
from core.training.where import HERE, Where


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


WHOLE = {
    "recipe": {"name": "tiny"},
    "seed": 3,
    "n_steps": 20,
    "data_sha256": "0a",
    "corpus_folder": None,
    "tuning": False,
    "command": "python -m core train",
    "start_from": None,
    "has_made": False,
    "where": {"device": "cpu", "precision": "float32", "processes": 1},
    "moved": [],
}


def put_settings(folder: Path, **change: Any) -> Path:
    (folder / STATE).touch()
    (folder / RUN).write_text(json.dumps({**WHOLE, **change}), encoding="utf-8")
    return folder


def test_settings_are_read_as_they_were_written(tmp_path: Path):
    settings = read_settings(put_settings(tmp_path))
    before = (tmp_path / RUN).read_text(encoding="utf-8")
    write_settings(tmp_path, settings)
    assert json.loads((tmp_path / RUN).read_text(encoding="utf-8")) == json.loads(before)
    kept = ["recipe", "seed", "n_steps", "data_sha256", "command", "where"]
    assert list(settings.for_card()) == kept


def test_a_run_from_before_there_was_a_choice_goes_on_on_the_processor(tmp_path: Path):
    older = {name: value for name, value in WHOLE.items() if name not in ("where", "moved")}
    (tmp_path / STATE).touch()
    (tmp_path / RUN).write_text(json.dumps(older), encoding="utf-8")
    assert read_settings(tmp_path).where == HERE


def test_settings_tell_where_the_run_was_before(tmp_path: Path):
    settings = read_settings(put_settings(tmp_path))
    assert settings.gone_on(HERE, step=3) is settings
    moved = settings.gone_on(Where(device="cuda", precision="tf32"), step=3)
    write_settings(tmp_path, moved)
    assert read_settings(tmp_path) == moved
    told = moved.for_card()
    assert told["where"] == {"device": "cuda", "precision": "tf32", "processes": 1}
    assert told["moved"] == [{"until_step": 3, **HERE.to_dict()}]


def test_settings_of_other_versions_may_have_more_or_no_start(tmp_path: Path):
    folder = put_settings(tmp_path, mood="good")
    data = json.loads((folder / RUN).read_text(encoding="utf-8"))
    del data["start_from"]
    (folder / RUN).write_text(json.dumps(data), encoding="utf-8")
    assert read_settings(folder).start_from is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"recipe": []}, r"run.json: recipe is \[\], an object is needed"),
        ({"tuning": "no"}, "run.json: tuning is 'no', bool is needed"),
        ({"corpus_folder": 3}, r"run.json: corpus_folder is 3, str \| None is needed"),
        ({"start_from": "base"}, "run.json: start_from is 'base', an object"),
        ({"seed": True}, "run.json: seed is True; whole numbers from 0"),
    ],
)
def test_settings_of_wrong_types_say_which_key(
    tmp_path: Path, change: dict[str, Any], message: str
):
    with pytest.raises(ValueError, match=message):
        read_settings(put_settings(tmp_path, **change))
