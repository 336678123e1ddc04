"""`open` on its own parser and through main: what is said, the card, the contract, refusals."""

import argparse
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from core.checkpoints import models_shelf
from core.checkpoints.models_shelf import list_models
from core.cli import opening
from core.cli.main import main
from core.cli.opening import add_open
from tests.checkpoints import whole_models as whole

KEYS = ["name", "family", "layers", "heads", "kv_heads", "vocabulary", "parameters", "dtype"]


@pytest.fixture(autouse=True)
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Cards are written there."""
    models = tmp_path / "models"
    for name in ("write_model_card", "refuse_taken"):
        real = getattr(models_shelf, name)

        def on(*given: Any, real: Any = real) -> Any:
            return real(*given, models=models)

        monkeypatch.setattr(opening, name, on)
    return models


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return whole.put(tmp_path / "tiny", whole.folder_files())


def call(*arguments: object) -> None:
    parser = argparse.ArgumentParser()
    add_open(parser)
    options = parser.parse_args([str(argument) for argument in arguments])
    options.run(options)


def test_json_is_the_contract_of_the_command_line(
    folder: Path, shelf: Path, capsys: pytest.CaptureFixture[str]
):
    call(folder, "--name", "mine", "--json")
    out, err = capsys.readouterr()
    report = json.loads(out)
    assert list(report) == [*KEYS, "bytes", "cannot"]
    sizes = {"layers": 2, "heads": 2, "kv_heads": 1, "vocabulary": 32, "parameters": 4944}
    expected = {"name": "mine", "family": "llama", "dtype": "F32", "bytes": 4 * 4944, "cannot": []}
    assert report == {**expected, **sizes}
    assert err == ""  # no terminal, no progress
    (listed,) = list_models(models=shelf, shipped=())
    assert (listed.name, listed.path, listed.facts) == ("mine", folder, report)
    assert len(listed.sha256) == 64


def test_it_says_what_was_found_and_where_the_card_lies(
    tmp_path: Path, shelf: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "tiny Llama.gguf"
    path.write_bytes(whole.gguf())
    call(path)
    out, _ = capsys.readouterr()
    assert out.splitlines() == [
        "tiny-Llama: llama, 2 layers, 2 heads over 1 key/value heads, 32 tokens",
        "4,944 parameters, stored as F32; 0.00 GB of memory in float32",
        f"on the shelf as tiny-Llama: {shelf / 'tiny-Llama' / 'model.json'}",
    ]


def test_what_will_not_work_is_said_once_for_each_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    bare = whole.CONFIG | {"architectures": ["LlamaModel"]}
    files = whole.folder_files() | {"config.json": json.dumps(bare).encode()}
    call(whole.put(tmp_path / "bare", files))
    out, err = capsys.readouterr()
    assert "weights that this model has no place for: lm_head.weight" in err
    (line,) = (line for line in out.splitlines() if line.startswith("not "))
    assert line.startswith(
        "not logits, answer, attribution, lens, patching: this model has no head"
    )


def test_progress_is_one_line_of_a_terminal(folder: Path, monkeypatch: pytest.MonkeyPatch):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    call(folder, "--json")
    said = terminal.getvalue()
    assert "\n" not in said
    assert "reading its weights: 21 of 21 tensors" in said
    assert said.endswith("\r\x1b[K")  # nothing of it stays


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("none",), "none: there is no such folder or file"),
        (("none", "--name", "../../x"), "'../../x' is no name for a model"),
        (("none", "--name", "notable-pretrained"), "is a checkpoint of this project"),
    ],
)
def test_what_cannot_be_opened_is_one_line_and_leaves_nothing(
    arguments: tuple[str, ...], said: str, shelf: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["open", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert said in err
    assert err.count("\n") == 1
    assert not shelf.exists()


def test_a_name_that_stands_for_another_model_is_refused_before_anything_is_loaded(
    folder: Path, tmp_path: Path, shelf: Path, monkeypatch: pytest.MonkeyPatch
):
    call(folder)
    other = whole.put(tmp_path / "other" / "tiny", whole.folder_files())

    def never(*_given: object, **_more: object) -> None:
        raise AssertionError("it is not loaded")

    monkeypatch.setattr(opening, "open_anyones", never)
    with pytest.raises(ValueError, match=f"^tiny stands for {folder} already"):
        call(other)
    assert (shelf / "tiny" / "model.json").exists()
