"""nanoGPT's and minGPT's files: what is taken and said, and what does not fit is refused."""

import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from core.checkpoints.nano_import import NanoHints, import_nano
from core.checkpoints.store import CheckpointError
from core.data.foreign_vocabulary import ForeignCharacters, TokenIds
from tests.checkpoints.nano_files import (
    BLOCK,
    CHARACTERS,
    HEADS,
    LAYERS,
    TEXT,
    WIDTH,
    WORDS,
    checkpoint,
    compiled,
    meta,
    mingpt_state,
    nano_state,
    put,
)

TOLD = NanoHints(heads=HEADS)


def test_the_sizes_come_from_the_file(tmp_path: Path):
    path = put(tmp_path / "ckpt.pt", checkpoint(nano_state()))
    imported = import_nano(path, NanoHints())
    config = imported.model.config
    found = (config.n_layers, config.n_heads, config.width, config.block_size)
    assert found == (LAYERS, HEADS, WIDTH, BLOCK)
    assert (config.vocabulary_size, config.tied, config.activation) == (WORDS, True, "gelu")
    assert imported.variant == "nanogpt"
    n_numbers = sum(t.numel() for name, t in nano_state().items() if name != "lm_head.weight")
    assert imported.model.n_parameters == n_numbers
    assert imported.notes[:2] == (
        "of the file 'model' and 'model_args' alone were read, not what lies beside them",
        "its head and its token embedding are the same numbers, and stay so",
    )


def test_a_head_written_twice_with_the_same_numbers_is_tied(tmp_path: Path):
    state = nano_state()
    state["lm_head.weight"] = state["lm_head.weight"].clone()
    config = import_nano(put(tmp_path / "a.pt", checkpoint(state)), NanoHints()).model.config
    assert config.tied


def test_what_is_taken_for_granted_is_said(tmp_path: Path):
    imported = import_nano(put(tmp_path / "model.pt", mingpt_state()), TOLD)
    assert (imported.variant, imported.model.config.activation) == ("mingpt", "gelu-tanh")
    assert "read as minGPT's, whose GELU is the tanh form" in imported.notes[0]
    assert imported.notes[1].startswith("this model came without a tokenizer, so it is given token")
    sure = import_nano(tmp_path / "model.pt", NanoHints(heads=HEADS, family="mingpt"))
    assert len(sure.notes) == 1


def test_missing_biases_wrappers_and_half_precision_are_said(tmp_path: Path):
    state = {name: t.half() for name, t in compiled(nano_state(bias=False)).items()}
    path = put(tmp_path / "a.pt", checkpoint(nano_state(bias=False)) | {"model": state})
    notes = import_nano(path, NanoHints()).notes
    assert "'_orig_mod.' of torch.compile was taken off all names" in notes
    assert "it has no biases: ours stand at zero, which is the same model" in notes
    assert "some of its numbers are float16; here all are float32" in notes


def test_nothing_but_the_model_is_read(tmp_path: Path):
    """The numbers of the optimizer may be missing: nobody looks for them."""
    path = put(tmp_path / "ckpt.pt", checkpoint(nano_state()))
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(tmp_path / "less.pt", "w") as less:
        names = [name for name in whole.namelist() if "/data/" in name]
        spared = sorted(names, key=lambda name: int(name.rpartition("/")[2]))[-4:]
        for name in whole.namelist():
            if name not in spared:
                less.writestr(name, whole.read(name))
    assert import_nano(tmp_path / "less.pt", NanoHints()).variant == "nanogpt"


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_a_file_of_any_protocol_in_use_is_read(tmp_path: Path, protocol: int):
    path = put(tmp_path / "a.pt", checkpoint(nano_state()), pickle_protocol=protocol)
    assert import_nano(path, NanoHints()).variant == "nanogpt"


def test_a_text_or_a_meta_file_makes_the_same_vocabulary(tmp_path: Path):
    path = put(tmp_path / "ckpt.pt", checkpoint(nano_state()))
    (tmp_path / "input.txt").write_bytes(TEXT.replace("\n", "\r\n").encode())
    (tmp_path / "meta.pkl").write_bytes(pickle.dumps(meta()))
    for name in ("input.txt", "meta.pkl"):
        imported = import_nano(path, NanoHints(tokenizer=tmp_path / name))
        assert isinstance(imported.vocabulary, ForeignCharacters)
        assert imported.vocabulary.characters == "".join(CHARACTERS)
    assert isinstance(import_nano(path, NanoHints()).vocabulary, TokenIds)


def test_a_text_that_it_was_not_trained_on_is_refused(tmp_path: Path):
    path = put(tmp_path / "ckpt.pt", checkpoint(nano_state()))
    (tmp_path / "input.txt").write_text(TEXT + "é")
    with pytest.raises(ValueError, match=f"knows {WORDS} tokens, but the text has {WORDS + 1} cha"):
        import_nano(path, NanoHints(tokenizer=tmp_path / "input.txt"))
    (tmp_path / "input.txt").write_bytes(b"abc\xff")
    with pytest.raises(ValueError, match="byte 3 is not UTF-8: no text of a model"):
        import_nano(path, NanoHints(tokenizer=tmp_path / "input.txt"))
    with pytest.raises(ValueError, match="nowhere.txt: cannot be read"):
        import_nano(path, NanoHints(tokenizer=tmp_path / "nowhere.txt"))


def test_a_tokenizer_with_more_pieces_than_the_model_is_refused(tmp_path: Path):
    path = put(tmp_path / "ckpt.pt", checkpoint(nano_state()))
    model = {"type": "WordLevel", "vocab": {"a": 0, "b": WORDS}, "unk_token": "a"}
    (tmp_path / "tokenizer.json").write_text(json.dumps({"added_tokens": [], "model": model}))
    with pytest.raises(ValueError, match=f"{WORDS + 1} entries do not fit into a vocabulary of"):
        import_nano(path, NanoHints(tokenizer=tmp_path / "tokenizer.json"))


def with_mask(rows: int) -> dict[str, Any]:
    state = mingpt_state()
    state["transformer.h.1.attn.bias"] = torch.ones(1, 1, rows, rows)
    return state


def changed(**tensors: Any) -> dict[str, Any]:
    """minGPT's state with other tensors; None leaves one out."""
    short = {"head": "lm_head.weight", "norm": "transformer.ln_f.bias"}
    short |= {name: f"transformer.{name}.weight" for name in ("wte", "wpe")}
    short["extra"] = "transformer.h.0.extra"
    state = mingpt_state() | {short[name]: tensor for name, tensor in tensors.items()}
    return {name: tensor for name, tensor in state.items() if tensor is not None}


def args(**changes: Any) -> dict[str, Any]:
    return checkpoint(nano_state(), **changes)


def not_finite() -> dict[str, Any]:
    state = mingpt_state()
    state["transformer.h.1.mlp.c_proj.weight"][3, 4] = float("nan")
    return state


REFUSED: dict[str, tuple[Callable[[], Any], NanoHints, str]] = {
    "no number of heads": (mingpt_state, NanoHints(), r"cannot say how many heads .* \(--heads\)"),
    "another number of heads": (args, NanoHints(heads=8), "the file says heads 4, not 8"),
    "heads that do not fit": (mingpt_state, NanoHints(heads=5), "cannot be cut into 5 equal heads"),
    "another family": (args, NanoHints(family="mingpt"), "it is a nanogpt model, not a mingpt"),
    "another family by its ties": (
        nano_state,
        NanoHints(heads=4, family="mingpt"),
        "minGPT has biases, and a head with numbers of its own: it is a nanogpt model",
    ),
    "another n_layer": (lambda: args(n_layer=3), TOLD, "say n_layer 3, its tensors 2"),
    "another n_embd": (lambda: args(n_embd=64), TOLD, "say n_embd 64, its tensors 32"),
    "another block": (lambda: args(block_size=1024), TOLD, "say block_size 1024, its tensors 12"),
    "another vocabulary": (lambda: args(vocab_size=50304), TOLD, "say vocab_size 50304, its"),
    "a size that is none": (lambda: args(n_head="4"), NanoHints(), "say of n_head no whole numb"),
    "a size beyond all": (lambda: args(n_head=10**4000), NanoHints(), "say of n_head no whole num"),
    "other biases": (lambda: args(bias=False), TOLD, "its tensors have biases, which its model_a"),
    "args that are none": (
        lambda: {**args(), "model_args": [1]},
        TOLD,
        "its model_args are a list, not a dictionary",
    ),
    "no head": (lambda: changed(head=None), TOLD, r"lm_head\.weight is missing"),
    "no positions": (lambda: changed(wpe=None), TOLD, r"transformer\.wpe\.weight is missing"),
    "no embedding": (
        lambda: changed(wte=None),
        TOLD,
        r"transformer\.wte\.weight is missing: it is neither a model of nanoGPT or minGPT nor",
    ),
    "some biases": (lambda: changed(norm=None), TOLD, "not a whole model .*; left over: transf"),
    "more tensors": (
        lambda: changed(extra=torch.ones(1)),
        TOLD,
        r"left over: transformer\.h\.0\.extra",
    ),
    "a vector of words": (lambda: changed(wte=torch.ones(4)), TOLD, r"has shape .*; "),
    "another head": (
        lambda: changed(head=torch.ones(5, WIDTH)),
        TOLD,
        rf"lm_head\.weight has shape \(5, 32\); \({WORDS}, 32\) is needed",
    ),
    "whole numbers": (
        lambda: changed(wpe=torch.ones(BLOCK, WIDTH, dtype=torch.int64)),
        TOLD,
        r"wpe\.weight holds int64; floating point numbers are needed",
    ),
    "not finite": (not_finite, TOLD, r"h\.1\.mlp\.c_proj\.weight holds numbers that are not fin"),
    "a mask that is not causal": (
        lambda: with_mask(BLOCK),
        TOLD,
        r"h\.1\.attn\.bias is not the causal mask of at least 12 positions",
    ),
    "a mask of another size": (lambda: with_mask(5), TOLD, "is not the causal mask of at least 12"),
    "the course's": (
        lambda: {"tok_emb.weight": torch.ones(3, 4)},
        TOLD,
        r"it is a file of the course's code: tell the wiki\.txt that it was trained on \(--wiki\)",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_refused_in_one_sentence(tmp_path: Path, case: str):
    make, told, message = REFUSED[case]
    path = put(tmp_path / "ckpt.pt", make())
    with pytest.raises(ValueError, match=message) as caught:
        import_nano(path, told)
    assert len(str(caught.value)) < 300
    assert "\n" not in str(caught.value)


def test_a_layer_short_is_missed_by_its_names(tmp_path: Path):
    state = mingpt_state()
    del state["transformer.h.1.mlp.c_fc.weight"]
    with pytest.raises(CheckpointError, match=r"missing: transformer\.h\.1\.mlp\.c_fc\.weight"):
        import_nano(put(tmp_path / "a.pt", state), TOLD)
