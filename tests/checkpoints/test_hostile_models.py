"""Hostile folders and GGUF files are refused in one sentence each, and nothing in them is run."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from core.checkpoints.anyones import MEMORY_VARIABLE, open_anyones
from core.checkpoints.not_a_model import NotAModel
from core.models.outside import OutsideModel
from tests.checkpoints import whole_models as whole
from tests.checkpoints.hostile_models import CASES, MODELS, files, spelt

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 900  # seconds until one that hangs is ended; all of them take about twenty
SPRUNG = ["read /etc/passwd", "written /tmp", "socket.getaddrinfo"]  # the watch's own trial


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a process with little memory says of each case, and what it did besides."""
    home = tmp_path_factory.mktemp("hostile")
    (home / "temporary").mkdir()
    more = {"TMPDIR": str(home / "temporary"), MEMORY_VARIABLE: str(MODELS)}
    done = subprocess.run(
        [sys.executable, "-m", "tests.checkpoints.hostile_models", str(home / "cases")],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", **more},
        check=False,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    *lines, last = map(json.loads, done.stdout.splitlines())
    return {line["name"]: line for line in lines} | {"": last, "stderr": done.stderr}


@pytest.mark.parametrize("case", CASES)
def test_each_is_refused_in_one_sentence_that_names_the_file(opened: dict[str, Any], case: str):
    found = opened[case]
    assert found["kind"] == "NotAModel", found
    assert re.search(CASES[case][1], found["said"])
    assert "\n" not in found["said"]
    assert len(found["said"]) < 600
    assert "/model" in found["said"]  # the folder, or the file in it


def test_nothing_is_run_fetched_written_or_read_elsewhere(opened: dict[str, Any]):
    assert len(CASES) >= 60
    assert opened[""] == {"seen": SPRUNG, "sprung": []}
    assert opened["stderr"] == ""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return whole.put(tmp_path / "tiny", whole.folder_files())


def same(first: OutsideModel, second: OutsideModel) -> bool:
    states = (first.module.state_dict(), second.module.state_dict())
    return all(torch.equal(states[0][name], tensor) for name, tensor in states[1].items())


def model(path: Path) -> OutsideModel:
    found = open_anyones(path).model
    assert isinstance(found, OutsideModel)
    return found


def test_the_models_that_are_broken_here_are_whole_otherwise(folder: Path):
    stored = open_anyones(folder)
    assert stored.card["opened"]["parameters"] == sum(a.size for a in whole.arrays().values())
    assert stored.card["notes"] == []
    assert stored.vocabulary.encode("the") == [3, 30, 8]
    (folder / "tiny.gguf").write_bytes(whole.gguf())
    from_gguf = open_anyones(folder / "tiny.gguf")
    facts = {**stored.card["opened"], "cannot": []}
    assert from_gguf.card["opened"] == facts
    assert from_gguf.vocabulary.encode("the") == [30, 8]


def test_links_within_the_cache_of_hugging_face_are_followed(tmp_path: Path, folder: Path):
    home = tmp_path / "models--a--b"
    blobs, snapshot = home / "blobs", home / "snapshots" / "0"
    whole.put(blobs, whole.folder_files())
    snapshot.mkdir(parents=True)
    for name in whole.folder_files():
        (snapshot / name).symlink_to(f"../../blobs/{name}")
    assert same(model(snapshot), model(folder))


def test_what_settings_of_a_tokenizer_name_elsewhere_is_not_read(tmp_path: Path):
    secret = tmp_path / "secret.json"
    secret.write_text("{}", encoding="utf-8")
    named = {"tokenizer_file": str(secret), "vocab_file": str(secret), "init_inputs": [str(secret)]}
    changed = whole.SETTINGS | named | {"fast_tokenizer_files": ["../../secret.json"]}
    path = whole.put(tmp_path / "tiny", files(tokenizer_config__json=spelt(changed)))
    assert open_anyones(path).vocabulary.encode("the") == [3, 30, 8]


def test_how_a_model_wants_to_be_run_is_no_matter(tmp_path: Path, folder: Path):
    choices = {"attn_implementation": "flash_attention_2", "dtype": "float16", "tp_plan": {"a": 1}}
    changed = files(config__json=spelt(whole.CONFIG | choices))
    assert same(model(whole.put(tmp_path / "other", changed)), model(folder))


def test_padding_cutting_off_and_chance_are_not_taken(tmp_path: Path):
    padding = {
        "strategy": {"Fixed": 10**7},
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": 0,
        "pad_type_id": 0,
        "pad_token": "<unk>",
    }
    cut = {"max_length": 1, "stride": 0, "strategy": "LongestFirst", "direction": "Right"}
    chance = whole.tokenizer()["model"] | {"dropout": 0.9}
    changed = whole.tokenizer() | {"padding": padding, "truncation": cut, "model": chance}
    path = whole.put(tmp_path / "tiny", files(tokenizer__json=spelt(changed)))
    vocabulary = open_anyones(path).vocabulary
    assert [vocabulary.encode("the") for _ in range(20)] == [[3, 30, 8]] * 20


def test_a_text_is_cut_as_the_file_says_and_not_as_the_familys_class_would(tmp_path: Path):
    apart = whole.tokenizer() | {"pre_tokenizer": None}
    named = whole.SETTINGS | {"tokenizer_class": "LlamaTokenizer"}
    changed = files(tokenizer__json=spelt(apart), tokenizer_config__json=spelt(named))
    stored = open_anyones(whole.put(tmp_path / "tiny", changed))
    assert stored.vocabulary.encode("the") == [30, 8]  # no space in front
    assert stored.vocabulary.end_ids == {2}


def test_a_token_without_a_row_is_named_when_it_is_typed(tmp_path: Path):
    extra = {**whole.tokenizer()["added_tokens"][0], "id": 32, "content": "<extra>"}
    changed = whole.tokenizer()
    changed["added_tokens"].append(extra)
    path = whole.put(tmp_path / "tiny", files(tokenizer__json=spelt(changed)))
    vocabulary = open_anyones(path).vocabulary
    assert vocabulary.encode("a") == [3, 4]
    with pytest.raises(ValueError, match="has no token '<extra>': .* 32, the model has 32"):
        vocabulary.encode("a<extra>")


def test_weights_without_a_place_are_named(tmp_path: Path):
    more = whole.arrays() | {"other.weight": whole.arrays()["model.norm.weight"]}
    path = whole.put(tmp_path / "tiny", files(model__safetensors=whole.safetensors(more)))
    (note,) = open_anyones(path).card["notes"]
    assert note == "weights that this model has no place for: other.weight"
    more = whole.gguf_arrays() | {"rope_freqs.weight": whole.arrays()["model.norm.weight"]}
    (path / "tiny.gguf").write_bytes(whole.gguf(tensors=more))
    (note,) = open_anyones(path / "tiny.gguf").card["notes"]
    assert note == "weights that this model has no place for: rope_freqs.weight"


def test_memory_is_refused_by_the_numbers_before_anything_is_loaded(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(MEMORY_VARIABLE, "10000")
    said: list[str] = []
    with pytest.raises(NotAModel, match=rf"needs 0.0 GB .* together \({MEMORY_VARIABLE}\)"):
        open_anyones(folder, progress=said.append)
    assert said == ["loading transformers", "looking at its files"]
    monkeypatch.setenv(MEMORY_VARIABLE, "much")
    with pytest.raises(ValueError, match="is 'much'; a number of bytes is needed"):
        open_anyones(folder)


def test_progress_says_what_is_done(folder: Path):
    said: list[str] = []
    open_anyones(folder, progress=said.append)
    assert said == [
        "loading transformers",
        "looking at its files",
        "reading its configuration",
        "reading its tokenizer",
        "reading its weights: 0 of 21 tensors",
        "reading its weights: 21 of 21 tensors",
        "looking for its heads",
        "done",
    ]
