"""Broken and hostile files: one sentence each, and nothing in them is run."""

import io
import os
import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from core.checkpoints import params_file
from core.checkpoints.params_file import read_file, read_params
from core.checkpoints.store import CheckpointError

WHOLE = torch.arange(6.0)
STATE = {"a": torch.arange(6.0).reshape(2, 3), "b": torch.ones(4)}


def holding_itself() -> dict[str, Any]:
    content: dict[str, Any] = {}
    content["model"] = content
    return content


class Trap:
    """Unpickling one of these would make a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.folder),)


def saved(content: Any, *, zipped: bool = True) -> bytes:
    buffer = io.BytesIO()
    torch.save(content, buffer, _use_new_zipfile_serialization=zipped)
    return buffer.getvalue()


def archive(parts: dict[str, bytes], *, how: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", how) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return buffer.getvalue()


def parts_of(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return {name: file.read(name) for name in file.namelist()}


def with_pickle(pickled: bytes) -> bytes:
    """A whole file of torch.save in which the pickle is another."""
    return archive({**parts_of(saved(STATE)), "archive/data.pkl": pickled})


def calling(name: str) -> bytes:
    """A whole file in which a pickle of a few bytes calls `name` with a hundred million."""
    pickled = b"\x80\x02c" + name.replace(" ", "\n").encode() + b"\nJ\x00\xe1\xf5\x05\x85R."
    return with_pickle(pickled)


def in_capitals(data: bytes) -> bytes:
    return archive({name.replace("data.pkl", "DATA.PKL"): p for name, p in parts_of(data).items()})


def two_in_one() -> bytes:
    """Two archives one behind the other: zipfile reads the second, torch's reader the first."""
    good = parts_of(saved(STATE))
    pickled = parts_of(calling("builtins bytearray"))["archive/data.pkl"]
    pickled = pickled.ljust(len(good["archive/data.pkl"]), b".")
    return archive({**good, "archive/data.pkl": pickled}) + archive(good)


def overclaiming() -> bytes:
    """The storage of `b` claims terabytes where 4 numbers are."""
    pickled = parts_of(saved(STATE))["archive/data.pkl"]
    assert pickled.count(b"K\x04tq") == 1
    return with_pickle(pickled.replace(b"K\x04tq", b"\x8a\x06" + b"\xff" * 5 + b"\x00tq"))


def lying(said: bytes, lie: bytes) -> bytes:
    """What the pickle says last of `b`, its offset 0, size 4 and stride 1, is another; the numbers
    that pickle keeps for itself (q and one byte) stand between.
    """
    pickled = parts_of(saved(STATE))["archive/data.pkl"]
    begin, found, end = pickled.rpartition(said)
    assert found
    return with_pickle(begin + lie + end)


NOT_WHOLE = "not a whole file that torch.save wrote"
OLDER = "from before torch 1.6, .*: open it with torch.load and save it again with a current torch"
BROKEN: dict[str, tuple[Callable[[], bytes], str]] = {
    "nothing": (lambda: b"", "the file is empty"),
    "text": (lambda: b"Where was Ada Lovelace born?\n" * 9, NOT_WHOLE),
    "another zip": (lambda: archive({"read.me": b"hello"}), NOT_WHOLE),
    "half": (lambda: saved(STATE)[: len(saved(STATE)) // 2], NOT_WHOLE),
    "without its numbers": (
        lambda: archive({k: v for k, v in parts_of(saved(STATE)).items() if "data/1" not in k}),
        NOT_WHOLE,
    ),
    "the older format": (lambda: saved(STATE, zipped=False), OLDER),
    "a broken pickle": (lambda: with_pickle(b"\x80\x02}q\x00(X\x05"), NOT_WHOLE),
    "a script archive": (
        lambda: archive({**parts_of(saved(STATE)), "archive/constants.pkl": b"\x80\x02)."}),
        NOT_WHOLE,
    ),
    "a compressed bomb": (
        lambda: archive({"archive/data/0": bytes(3_000_000)}, how=zipfile.ZIP_DEFLATED),
        r"its parts claim 3,000,000 bytes; the file has \d",
    ),
    "repeated numbers": (
        lambda: saved({"a": torch.zeros(1, 1).expand(10**6, 10**6)}),
        "'a' is not an ordinary tensor of its own numbers",
    ),
    "one storage a thousand times": (
        lambda: saved({f"part {i}": part for i, part in enumerate([torch.zeros(100_000)] * 999)}),
        r"its 999 tensors are 399,600,000 bytes, each with numbers of its own; at most 200,000,000",
    ),
    "a view across another": (
        lambda: saved(dict(zip("ab", (WHOLE[:4], WHOLE[2:]), strict=True))),
        "^'b' lies across the numbers of 'a'$",
    ),
    "a view inside another": (
        lambda: saved({"b": WHOLE[2:3], "a": WHOLE}),
        "^'b' lies across the numbers of 'a'$",
    ),
    "a size of gigabytes": (lambda: lying(b"K\x04\x85", b"J\x00\x00\x00\x70\x85"), NOT_WHOLE),
    "an offset before its storage": (
        lambda: lying(b"K\x00K\x04\x85", b"J\xff\xff\xff\xffK\x04\x85"),
        NOT_WHOLE,
    ),
    "a stride of nothing": (
        lambda: lying(b"K\x01\x85", b"K\x00\x85"),
        "'b' is not an ordinary tensor of its own numbers",
    ),
    "a storage of terabytes": (overclaiming, NOT_WHOLE),
    "a sparse tensor": (
        lambda: saved({"a": torch.eye(3).to_sparse()}),
        r"asks for torch\._utils\._rebuild_sparse_tensor, and",
    ),
    "memory by a call": (lambda: calling("builtins bytearray"), r"asks for builtins\.bytearray, a"),
    "memory by a tensor's size": (lambda: calling("torch Tensor"), r"asks for torch\.Tensor, and"),
    "a call under another name": (
        lambda: in_capitals(calling("builtins bytearray")),
        r"asks for builtins\.bytearray, and",
    ),
    "two parts of one name": (
        lambda: archive({**parts_of(saved(STATE)), "archive/DATA.PKL": b"."}),
        "^two of its parts have the same name$",
    ),
    "a name of two lines": (
        lambda: with_pickle(b"\x80\x02ca\\nb\nc\n."),
        r"asks for a\.b\.c, and nothing of it was run$",
    ),
    "a view in another order": (lambda: saved({"a": torch.zeros(2, 3).T}), "'a' is not an ord"),
    "a list": (lambda: saved([torch.ones(3)]), "holds a list, not a state dict"),
    "no tensors": (lambda: saved({}), "the state dict is empty"),
    "a dictionary inside": (
        lambda: saved({"net": STATE, "epoch": 3}),
        r"'net' is a dict, not a tensor; save model\.state_dict\(\) and nothing around it",
    ),
    "two that may be meant": (
        lambda: saved({"model": STATE, "state_dict": STATE}),
        "^holds 'model' and 'state_dict': save the one that is meant alone$",
    ),
    "a dictionary that holds itself": (lambda: saved(holding_itself()), "'model' is a dict, not a"),
    "a held dictionary of nothing": (lambda: saved({"model": {}}), "the state dict is empty"),
    "a number": (lambda: saved({**STATE, "epoch": 3}), "'epoch' is a int, not a tensor"),
    "a number as a name": (lambda: saved({0: torch.ones(2)}), "key of the state dict is 0, not"),
    "a long name": (lambda: saved({"x" * 10**5: 1}), r"^'x{59} is a int"),
    "an array": (
        lambda: saved({"a": np.ones(3)}),
        r"holds more than tensors: it asks for numpy\S+, and nothing of it was run",
    ),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_file_is_refused_in_one_sentence(kind: str):
    make, message = BROKEN[kind]
    with pytest.raises(CheckpointError, match=message) as caught:
        read_params(make())
    assert len(str(caught.value)) < 200
    assert "\n" not in str(caught.value)


HOSTILE: dict[str, Callable[[Trap], bytes]] = {
    "a pickle": lambda trap: pickle.dumps(trap, protocol=2),
    "a value": lambda trap: saved({**STATE, "c": trap}),
    "a value in the older format": lambda trap: saved({"a": trap}, zipped=False),
    "the pickle of a whole file": lambda trap: with_pickle(pickle.dumps(trap, protocol=2)),
    "the newer pickle of a whole file": lambda trap: with_pickle(pickle.dumps(trap, protocol=4)),
    "a dictionary of attributes": lambda trap: saved(_with_attribute(trap)),
}


def _with_attribute(trap: Trap) -> Any:
    state = OrderedDict(STATE)
    state._metadata = trap  # pyright: ignore[reportAttributeAccessIssue]
    return state


@pytest.mark.parametrize("kind", HOSTILE)
def test_code_in_a_file_is_never_run(tmp_path: Path, kind: str):
    trap = Trap(tmp_path / "sprung")
    data = HOSTILE[kind](trap)
    with pytest.raises(CheckpointError, match=f"asks for .*mkdir|{NOT_WHOLE}|{OLDER}"):
        read_params(data)
    assert not trap.folder.exists()


def test_the_trap_itself_works(tmp_path: Path):
    trap = Trap(tmp_path / "sprung")
    pickle.loads(pickle.dumps(trap))
    assert trap.folder.is_dir()  # it just was not stepped into


def test_a_pickled_module_is_refused_by_its_name():
    data = saved(torch.nn.Linear(2, 2))
    with pytest.raises(CheckpointError, match=r"asks for torch\.nn\.modules\.linear\.Linear, and"):
        read_params(data)


def test_a_state_dict_comes_back():
    tensors, notes = read_params(saved(OrderedDict(STATE)))
    assert (sorted(tensors), notes) == (["a", "b"], [])
    assert all(torch.equal(tensors[name], tensor) for name, tensor in STATE.items())


@pytest.mark.parametrize("dtype", ["bfloat16", "float64", "complex64", "bool", "int16"])
def test_a_state_dict_may_hold_numbers_of_any_ordinary_kind(dtype: str):
    module = torch.nn.BatchNorm1d(3)  # its state has parameters, buffers and attributes
    module.register_buffer("mask", torch.ones(2, 2, dtype=getattr(torch, dtype)))
    state = module.state_dict()
    tensors, _ = read_params(saved(state))
    assert {name: t.dtype for name, t in tensors.items()} == {n: t.dtype for n, t in state.items()}


def test_torch_is_given_what_was_looked_at():
    seen = torch.load(io.BytesIO(two_in_one()))
    assert isinstance(seen, bytearray)  # torch alone would call it
    assert sorted(read_params(two_in_one())[0]) == ["a", "b"]


def test_what_the_older_format_advises_works(tmp_path: Path):
    path = tmp_path / "old.params"
    path.write_bytes(saved(STATE, zipped=False))
    torch.save(torch.load(path), path)
    assert sorted(read_params(read_file(path))[0]) == ["a", "b"]


def test_parameters_come_back_as_plain_tensors():
    tensors, _ = read_params(saved({"a": torch.nn.Parameter(torch.ones(2))}))
    assert not tensors["a"].requires_grad


def test_tied_tensors_count_once_and_are_said_aloud():
    one = torch.ones(5000)
    tensors, notes = read_params(saved({"a": one, "b": one, "c": one.view(50, 100), "d": WHOLE}))
    assert [tuple(tensors[name].shape) for name in "abcd"] == [(5000,), (5000,), (50, 100), (6,)]
    assert notes == ["2 of its tensors are tied: they share the numbers of another"]


def test_neighbours_in_one_storage_are_not_tied_and_do_not_overlap():
    tensors, notes = read_params(saved({"b": WHOLE[2:], "a": WHOLE[:2], "none": WHOLE[3:3]}))
    assert notes == []
    assert torch.equal(torch.cat([tensors["a"], tensors["b"]]), WHOLE)


@pytest.mark.parametrize("holder", ["model", "state_dict", "model_state_dict"])
def test_a_dictionary_that_holds_the_state_is_opened_and_named(holder: str):
    optimizer = torch.optim.AdamW([torch.nn.Parameter(torch.ones(2))])
    content = {"epoch": 3, holder: STATE, "optimizer": optimizer.state_dict(), "best": 0.5}
    tensors, notes = read_params(saved(content))
    assert all(torch.equal(tensors[name], tensor) for name, tensor in STATE.items())
    assert notes == [f"of the file {holder!r} alone was read, not what lies beside it"]
    assert len(read_params(saved({"model": content}))[1]) == 2


def test_a_dictionary_with_more_than_plain_values_beside_the_state_is_refused(tmp_path: Path):
    trap = Trap(tmp_path / "sprung")
    with pytest.raises(CheckpointError, match="asks for .*mkdir, and nothing of it was run"):
        read_params(saved({"model": STATE, "options": trap}))
    assert not trap.folder.exists()


def test_a_file_is_read_whatever_its_name(tmp_path: Path):
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / ".." / "..evil; rm -rf .pt"
    path.write_bytes(b"abc")
    assert read_file(path) == b"abc"


def test_a_folder_and_a_missing_file_are_no_files(tmp_path: Path):
    with pytest.raises(CheckpointError, match="not a file"):
        read_file(tmp_path)
    with pytest.raises(CheckpointError, match="there is no such file"):
        read_file(tmp_path / ".." / "evil.pt")


def test_a_file_beyond_the_limit_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "large").write_bytes(bytes(1001))
    monkeypatch.setattr(params_file, "MOST_BYTES", 1000)
    with pytest.raises(CheckpointError, match="1,001 bytes, more than the 1,000 read"):
        read_file(tmp_path / "large")
