"""The shelf of anyone's models: names from cards and from the server's folder, and no others."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from core.checkpoints.models_shelf import (
    VARIABLE,
    find_listed,
    list_models,
    models_folder,
    refuse_taken,
    write_model_card,
)
from core.checkpoints.not_a_model import NotAModel
from core.checkpoints.shelf import list_checkpoints
from core.paths import CHECKPOINTS

FACTS: dict[str, Any] = {"name": "tiny", "layers": 2}


@pytest.fixture(autouse=True)
def nothing_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return tmp_path / "models"


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(b"GGUF")
    return path


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "server"
    folder.mkdir()
    monkeypatch.setenv(VARIABLE, str(folder))
    return folder


def names(models: Path, *shipped: str) -> list[str]:
    return [model.name for model in list_models(models=models, shipped=shipped)]


def put_folder(path: Path) -> Path:
    path.mkdir(parents=True)
    (path / "config.json").write_text("{}", encoding="utf-8")
    return path


def test_a_card_points_to_its_model_and_holds_what_was_found(models: Path, gguf: Path):
    card = write_model_card("tiny", gguf, FACTS, "ab" * 32, models=models)
    assert [path.name for path in card.parent.iterdir()] == ["model.json"]  # nothing is copied
    (listed,) = list_models(models=models)
    assert (listed.name, listed.path, listed.origin) == ("tiny", gguf, "card")
    assert (listed.facts, listed.sha256, listed.wrong) == (FACTS, "ab" * 32, "")
    assert find_listed("tiny", [listed]) is listed


def test_only_names_from_the_listing_are_found(models: Path, gguf: Path):
    write_model_card("tiny", gguf, FACTS, "", models=models)
    for name in ("other", str(gguf), "../tiny", "", "tiny\0"):
        assert find_listed(name, list_models(models=models)) is None


def test_a_card_whose_model_has_gone_says_so_in_one_sentence(models: Path, gguf: Path):
    write_model_card("tiny", gguf, FACTS, "", models=models)
    gguf.unlink()
    listed = list_models(models=models)
    with pytest.raises(NotAModel, match=rf"^tiny: there is nothing at {gguf} any more; open it"):
        listed[0].refuse_wrong()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "not JSON"),
        ("[]", "a JSON object is needed"),
        ("{}", "of version None; 1 is read"),
        ('{"version": 2}', "of version 2; 1 is read"),
        ('{"version": 1}', "path, opened and sha256 are needed"),
        ('{"version": 1, "path": 3, "opened": {}, "sha256": ""}', "path, opened and sha256"),
        ('{"version": 1, "path": "a\\u0000b", "opened": {}, "sha256": ""}', "there is nothing at"),
    ],
)
def test_a_card_that_is_none_is_listed_with_what_is_wrong(models: Path, content: str, said: str):
    (models / "odd").mkdir(parents=True)
    (models / "odd" / "model.json").write_text(content, encoding="utf-8")
    (listed,) = list_models(models=models)
    assert said in listed.wrong
    with pytest.raises(NotAModel, match=said):
        listed.refuse_wrong()


@pytest.mark.parametrize(
    "name",
    ["../x", "a/b", "/etc", "..", ".hidden", "", "a" * 65, "a..b", "a b", "a~2", "-x", "a\n"],
)
def test_names_that_could_lead_elsewhere_are_none(models: Path, gguf: Path, name: str):
    with pytest.raises(NotAModel, match="is no name for a model"):
        write_model_card(name, gguf, FACTS, "", models=models)
    assert not models.exists()


def test_a_name_is_taken_by_shipped_checkpoints_and_by_other_models(models: Path, gguf: Path):
    shipped = list_checkpoints(CHECKPOINTS)[0]
    with pytest.raises(NotAModel, match="is a checkpoint of this project"):
        refuse_taken(shipped, gguf, models=models)
    write_model_card("tiny", gguf, FACTS, "", models=models)
    refuse_taken("tiny", gguf, models=models)  # the same again
    other = gguf.with_name("other.gguf")
    with pytest.raises(NotAModel, match=rf"^tiny stands for {gguf} already"):
        write_model_card("tiny", other, FACTS, "", models=models)
    gguf.unlink()
    write_model_card("tiny", other, FACTS, "", models=models)  # it has moved


def test_the_servers_folder_offers_its_folders_and_gguf_files(models: Path, server: Path):
    put_folder(server / "bert")
    (server / "a.gguf").touch()
    (server / "pack").mkdir()
    (server / "pack" / "b.Q4 0.gguf").touch()
    (server / "notes").mkdir()
    (server / "notes.txt").touch()
    assert names(models) == ["a", "bert", "b.Q4-0"]
    paths = [model.path.relative_to(server).as_posix() for model in list_models(models=models)]
    assert paths == ["a.gguf", "bert", "pack/b.Q4 0.gguf"]


def test_hidden_files_and_links_that_lead_out_are_passed_over(
    models: Path, server: Path, tmp_path: Path
):
    put_folder(server / ".hidden")
    (server / ".a.gguf").touch()
    outside = put_folder(tmp_path / "outside")
    (outside / "b.gguf").touch()
    (server / "link").symlink_to(outside)
    (server / "c.gguf").symlink_to(outside / "b.gguf")
    (server / "pack").mkdir()
    (server / "pack" / "d.gguf").symlink_to(outside / "b.gguf")
    (server / "loop").symlink_to(server / "loop")
    (server / "within.gguf").symlink_to(server / "e.gguf")
    (server / "e.gguf").touch()
    os.mkfifo(server / "pipe.gguf")
    assert names(models) == ["e", "within"]


def test_names_that_are_taken_are_told_apart_by_a_number(
    models: Path, server: Path, tmp_path: Path
):
    put_folder(server / "tiny")
    (server / "tiny.gguf").touch()
    write_model_card("tiny", server / "tiny", FACTS, "", models=models)
    assert names(models) == ["tiny", "tiny~2", "tiny~3"]
    assert names(models, "tiny", "tiny~3") == ["tiny~2", "tiny~4", "tiny~5"]


def test_without_a_folder_there_is_nothing_to_offer(
    models: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    assert models_folder() is None
    assert names(models) == []
    monkeypatch.setenv(VARIABLE, str(tmp_path / "none"))
    with pytest.raises(ValueError, match=rf"{VARIABLE} is .*none.*; a folder of models is needed"):
        list_models(models=models)


def test_the_cards_own_keys_are_written(models: Path, gguf: Path):
    card = write_model_card("tiny", gguf, FACTS, "ab", models=models)
    whole = json.loads(card.read_text(encoding="utf-8"))
    assert whole == {"version": 1, "path": str(gguf), "opened": FACTS, "sha256": "ab"}
