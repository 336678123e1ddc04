"""`import` of nanoGPT's and minGPT's files: a folder that answers free texts, and what is said."""

import json
import pickle
import re
from pathlib import Path

import pytest
import torch

from core.checkpoints.store import load_checkpoint
from core.data.foreign_vocabulary import TokenIds
from core.generation.greedy import answer
from core.inspection.trace import trace
from tests.checkpoints.nano_files import (
    HEADS,
    TEXT,
    WORDS,
    checkpoint,
    meta,
    mingpt_state,
    nano_state,
    put,
)
from tests.cli.conftest import Run
from tests.with_task import gpt_of


@pytest.fixture
def ckpt(tmp_path: Path) -> Path:
    return put(tmp_path / "ckpt.pt", checkpoint(nano_state(bias=False)))


@pytest.fixture
def meta_file(tmp_path: Path) -> Path:
    (tmp_path / "meta.pkl").write_bytes(pickle.dumps(meta()))
    return tmp_path / "meta.pkl"


def test_the_written_folder_answers_free_texts(
    run: Run, ckpt: Path, meta_file: Path, tmp_path: Path
):
    out = tmp_path / "mine"
    outcome = run("import", ckpt, "--tokenizer", meta_file, "--out", out)
    assert outcome.out.splitlines()[0].startswith(f"{out}: nanogpt, ")
    assert "it has no biases: ours stand at zero, which is the same model" in outcome.out
    stored = load_checkpoint(out)
    assert stored.task is None
    state = nano_state(bias=False)
    mine = gpt_of(stored)
    assert torch.equal(mine.tokens.weight, state["transformer.wte.weight"])
    assert mine.n_parameters == sum(t.numel() for t in mine.state_dict().values())
    (given,) = answer(stored, ["Ada"])
    assert len(given.ids) == 12 - len("Ada")  # nothing ends an answer but the block
    asked = run("ask", "Ada", "--checkpoint", out, "--json")
    assert (asked.report["answer"], asked.err) == (given.text, "")
    assert trace(stored, "Ada").proof.replay_max_difference < 1e-4
    assert trace(stored, "Ada").labels[:3] == ("A", "d", "a")


def test_a_card_says_where_the_model_came_from(run: Run, tmp_path: Path, meta_file: Path):
    path = put(tmp_path / "model.pt", mingpt_state())
    arguments = ("--heads", HEADS, "--tokenizer", meta_file, "--out", tmp_path / "mine", "--json")
    report = run("import", path, *arguments).report
    assert report["source"]["format"] == "state dict of minGPT"
    assert report["source"]["variant"] == "mingpt"
    assert re.fullmatch("[0-9a-f]{64}", report["source"]["sha256"])
    assert "whose GELU is the tanh form" in report["source"]["notes"][0]
    card = json.loads((tmp_path / "mine" / "card.json").read_text())
    assert card["source"] == report["source"]
    assert str(tmp_path) not in json.dumps(card)
    assert gpt_of(load_checkpoint(tmp_path / "mine")).config.activation == "gelu-tanh"


def test_without_a_tokenizer_token_ids_are_typed_and_that_is_said(
    run: Run, ckpt: Path, tmp_path: Path
):
    out = tmp_path / "mine"
    said = "this model came without a tokenizer, so it is given token ids and writes token ids"
    assert said in run("import", ckpt, "--out", out).out
    stored = load_checkpoint(out)
    assert isinstance(stored.vocabulary, TokenIds)
    assert any(said in note for note in stored.card["source"]["notes"])
    asked = run("ask", "4 6 4", "--checkpoint", out, "--json")
    assert all(0 <= int(word) < WORDS for word in asked.report["answer"].split())
    assert said in asked.err
    assert said in run("trace", "4 6 4", "--checkpoint", out).err
    error = run("ask", "Ada", "--checkpoint", out).error
    assert f"'Ada' is no token id: {said}: numbers from 0 to {WORDS - 1}, such as 0 1 2" in error


def test_options_of_the_other_kind_of_file_are_refused(run: Run, ckpt: Path, tmp_path: Path):
    (tmp_path / "wiki.txt").write_text(TEXT)
    wiki = ("--wiki", tmp_path / "wiki.txt")
    refused = {
        ("--block", 12): "--block can be told of the course's files alone, with --wiki",
        ("--no-residual",): "--no-residual can be told of the course's files alone",
        ("--latent-norm", "latents"): "--latent-norm can be told of the course's files alone",
        ("--variant", "rotary"): "a rotary model is the course's: tell the wiki.txt",
        ("--variant", "mingpt"): "ckpt.pt: by its model_args it is a nanogpt model, not a mingpt",
        ("--heads", 8): "ckpt.pt: the file says heads 4, not 8",
        (*wiki, "--tokenizer", ckpt): "--tokenizer is for models of nanoGPT and minGPT",
        (*wiki, "--variant", "mingpt"): "--wiki is for the course's files, not for a mingpt model",
        wiki: "ckpt.pt: holds more than tensors|by its names it is a model of nanoGPT or minGPT",
        ("--tokenizer", tmp_path / "no.json"): "no.json: cannot be read",
    }
    for arguments, message in refused.items():
        assert re.search(message, run("import", ckpt, "--out", tmp_path / "mine", *arguments).error)
    assert not (tmp_path / "mine").exists()


def test_a_file_of_the_course_without_its_text_is_told_what_is_missing(run: Run, tmp_path: Path):
    path = put(tmp_path / "a.params", {"tok_emb.weight": torch.ones(3, 4)})
    error = run("import", path, "--out", tmp_path / "mine").error
    assert "a.params: by its names it is a file of the course's code: tell the wiki.txt" in error
    assert "there is no such file" in run("import", path / "x", "--out", tmp_path / "mine").error
