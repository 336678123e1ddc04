"""`import` on its own parser: a folder that loads, what is said aloud, and what is refused."""

import argparse
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from core.checkpoints.course_layout import course_parameters
from core.checkpoints.store import load_checkpoint
from core.cli import importing
from core.data.own_vocabulary import CharVocabulary
from core.generation.greedy import answer
from core.models.gpt import GPT
from tests.with_task import gpt_of

TEXT = "Ada Arden was born in Lagos .\nBruno Bello was born in Lima .\n"


def call(*arguments: object) -> None:
    parser = argparse.ArgumentParser()
    importing.add_import(parser)
    options = parser.parse_args([str(argument) for argument in arguments])
    options.run(options)


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    path = tmp_path / "wiki.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture
def model(make_gpt: Callable[..., GPT]) -> GPT:
    sizes: dict[str, Any] = {"vocabulary_size": 2 + len(set(TEXT)), "n_heads": 8, "width": 32}
    return make_gpt(block_size=48, **sizes)


@pytest.fixture
def params(tmp_path: Path, model: GPT) -> Path:
    return put(tmp_path / "vanilla.params", model)


def put(path: Path, model: GPT) -> Path:
    """One of our own models under the course's names."""
    tensors = model.state_dict()
    state = {name: tensors[ours] for ours, (name, _) in course_parameters(model.config).items()}
    torch.save(state, path)
    return path


def test_the_written_folder_is_a_checkpoint_like_any_other(
    params: Path, wiki: Path, model: GPT, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    call(params, "--wiki", wiki, "--out", tmp_path / "mine")
    stored = load_checkpoint(tmp_path / "mine")
    loaded = gpt_of(stored)
    assert loaded.config == model.config
    for name, tensor in model.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], tensor)  # float32: nothing is rounded
    assert stored.vocabulary.to_dict() == CharVocabulary.from_text(TEXT).to_dict()
    assert stored.card["source"]["variant"] == "vanilla"
    assert re.fullmatch("[0-9a-f]{64}", stored.card["source"]["sha256"])
    assert stored.card["recipe"]["corpus"] == "course"
    (given,) = answer(stored, ["Ada"])
    assert given.ids
    out = capsys.readouterr().out
    assert "vanilla, " in out
    assert "read with 8 heads: the file cannot say" in out
    assert "of the text only the number of characters, 22, could be compared with" in out


def test_a_wiki_with_accents_apart_makes_the_vocabulary_that_the_model_was_trained_on(
    params: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    wiki = tmp_path / "apart.txt"
    wiki.write_text(TEXT.replace("B", "u\u0308"), encoding="utf-8")
    call(params, "--wiki", wiki, "--out", tmp_path / "mine")
    vocabulary = load_checkpoint(tmp_path / "mine").vocabulary
    assert vocabulary.to_dict()["characters"][-1] == "\u0308"
    assert "the text has letters and accents apart" in capsys.readouterr().out


def test_json_is_one_object_with_the_notes(
    params: Path, wiki: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    call(params, "--wiki", wiki, "--out", tmp_path / "mine", "--heads", 4, "--json")
    report = json.loads(capsys.readouterr().out)
    assert report["out"] == str(tmp_path / "mine")
    (note,) = report["source"]["notes"]
    assert note.startswith("of the text only the number of characters")
    assert load_checkpoint(tmp_path / "mine").model.shape.n_heads == 4


@pytest.mark.parametrize(
    ("arguments", "wiring", "said"),
    [
        ((), (True, "both"), "with residual paths .* ln1 before both their sides"),
        (("--no-residual",), (False, "both"), "without residual paths .* both their sides"),
        (("--latent-norm", "latents"), (True, "latents"), "before the latents' side alone"),
    ],
)
def test_a_perceivers_wiring_is_told_stored_and_said(
    make_gpt: Callable[..., GPT],
    wiki: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    wiring: tuple[bool, str],
    said: str,
):
    sizes: dict[str, Any] = {"vocabulary_size": 2 + len(set(TEXT)), "n_heads": 8, "width": 32}
    path = put(tmp_path / "a.params", make_gpt(n_latents=5, n_layers=3, **sizes))
    call(path, "--wiki", wiki, "--out", tmp_path / "mine", *arguments)
    stored = load_checkpoint(tmp_path / "mine")
    config = gpt_of(stored).config
    assert (config.latent_residual, config.latent_norm) == wiring
    (note,) = [note for note in stored.card["source"]["notes"] if re.search(said, note)]
    assert note in capsys.readouterr().out


def test_another_place_for_the_norm_is_refused_with_those_there_are(
    params: Path, wiki: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit, match="2"):
        call(params, "--wiki", wiki, "--out", tmp_path / "mine", "--latent-norm", "tokens")
    assert "invalid choice: 'tokens' (choose from 'both', 'latents')" in capsys.readouterr().err


def test_wrappers_are_told_stored_and_said(
    params: Path, wiki: Path, model: GPT, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    state = torch.load(params)
    wrapped = {f"module._orig_mod.{name}": tensor for name, tensor in state.items()}
    torch.save({"state_dict": wrapped, "epoch": 3}, params)
    call(params, "--wiki", wiki, "--out", tmp_path / "mine")
    stored, out = load_checkpoint(tmp_path / "mine"), capsys.readouterr().out
    for name, tensor in model.state_dict().items():
        assert torch.equal(gpt_of(stored).state_dict()[name], tensor)
    for note in (
        "of the file 'state_dict' alone was read, not what lies beside it",
        "'module.' of DataParallel was taken off all names",
        "'_orig_mod.' of torch.compile was taken off all names",
    ):
        assert note in stored.card["source"]["notes"]
        assert note in out


def test_nothing_of_this_machines_folders_is_in_the_checkpoint(
    params: Path, wiki: Path, tmp_path: Path
):
    (tmp_path / "in").mkdir()
    evil = tmp_path / "in" / ".." / "..evil.pt"
    evil.write_bytes(params.read_bytes())
    before = set(tmp_path.iterdir())
    call(evil, "--wiki", wiki, "--out", tmp_path / "mine")
    assert set(tmp_path.iterdir()) - before == {tmp_path / "mine"}
    names = ["card.json", "config.json", "model.safetensors", "vocabulary.json"]
    assert sorted(path.name for path in (tmp_path / "mine").iterdir()) == names
    for name in ("card.json", "config.json"):
        text = (tmp_path / "mine" / name).read_text()
        assert "evil" not in text
        assert str(tmp_path) not in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--variant", "rotary"), r"vanilla\.params: by its names it is a vanilla model"),
        (("--heads", "5"), "cannot be cut into 5 equal heads"),
        (("--heads", "1000000000000"), "n_heads is 1000000000000; .* at most 256, a whole number"),
        (("--block", "128"), "the file says block 48, not 128"),
        (
            ("--no-residual",),
            r"vanilla\.params: --no-residual can be told of a Perceiver alone; by its names it is",
        ),
        (("--latent-norm", "latents"), r"vanilla\.params: --latent-norm can be told of a Perceiv"),
    ],
)
def test_a_refusal_names_the_file_and_writes_nothing(
    params: Path, wiki: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
):
    with pytest.raises(ValueError, match=message):
        call(params, "--wiki", wiki, "--out", tmp_path / "mine", *arguments)
    assert not (tmp_path / "mine").exists()


def test_missing_and_broken_files_are_named(params: Path, wiki: Path, tmp_path: Path):
    out = tmp_path / "mine"
    with pytest.raises(ValueError, match=r"no\.params: there is no such file"):
        call(tmp_path / "no.params", "--wiki", wiki, "--out", out)
    with pytest.raises(ValueError, match=r"no\.txt: cannot be read"):
        call(params, "--wiki", tmp_path / "no.txt", "--out", out)
    params.write_bytes(params.read_bytes()[:100])
    with pytest.raises(ValueError, match=r"vanilla\.params: not a whole file"):
        call(params, "--wiki", wiki, "--out", out)


def test_a_checkpoint_is_not_overwritten(params: Path, wiki: Path, tmp_path: Path):
    call(params, "--wiki", wiki, "--out", tmp_path / "mine")
    with pytest.raises(ValueError, match="already holds a checkpoint: name another folder"):
        call(params, "--wiki", wiki, "--out", tmp_path / "mine")
