"""Broken and hostile files of nanoGPT and minGPT: one sentence each, and nothing in them is run."""

import io
import pickle
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from core.checkpoints import nano_file
from core.checkpoints.nano_file import digest_of
from core.checkpoints.nano_import import NanoHints, import_nano
from core.checkpoints.store import CheckpointError
from tests.checkpoints.nano_files import (
    HEADS,
    Trap,
    checkpoint,
    mingpt_state,
    nano_state,
    saved,
)

TOLD = NanoHints(heads=HEADS)
BROKEN_ZIP = "not a whole file that torch.save wrote"
BROKEN_PICKLE = "^holds a broken pickle$"
SQUARE = "transformer.h.0.attn.c_proj.weight"
OTHER = "is not an ordinary tensor of its own numbers"


def parts_of(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return {name: file.read(name) for name in file.namelist()}


def archive(parts: dict[str, bytes], how: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", how) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return buffer.getvalue()


def whole() -> bytes:
    return saved(mingpt_state())


def with_part(name: str, content: bytes | None) -> bytes:
    """A whole file in which one part is another, or none."""
    parts = parts_of(whole()) | {f"archive/{name}": content}
    return archive({name: part for name, part in parts.items() if part is not None})


def with_pickle(pickled_: bytes) -> bytes:
    return with_part("data.pkl", pickled_)


def lying(said: bytes, lie: bytes) -> bytes:
    """What the pickle says first is another."""
    data = parts_of(whole())["archive/data.pkl"]
    assert said in data
    return with_pickle(data.replace(said, lie, 1))


def edited(change: Callable[[dict[str, Any]], Any]) -> bytes:
    state: dict[str, Any] = dict(mingpt_state())
    change(state)
    return saved(state)


def tied_all() -> bytes:
    """A model of 100 layers of which every matrix is the same few numbers."""
    state = mingpt_state()
    for layer in range(100):
        for name, tensor in mingpt_state().items():
            if name.startswith("transformer.h.0."):
                state[name.replace("h.0.", f"h.{layer}.")] = tensor
    shared = {tuple(t.shape): t for t in state.values()}
    return saved({name: shared[tuple(tensor.shape)] for name, tensor in state.items()})


def huge(rows: int, columns: int) -> bytes:
    """It claims tables of gigabytes that are not there, each of a storage that claims as much."""
    size, height, width = (
        b"\x8a\x08" + struct.pack("<q", n) for n in (rows * columns, rows, columns)
    )
    listed = b""
    for part, name in enumerate(("wte", "wpe", "head")):
        full = "lm_head.weight" if name == "head" else f"transformer.{name}.weight"
        storage = spelt("storage") + b"ctorch\nFloatStorage\n" + spelt(str(part)) + spelt("cpu")
        tensor = b"ctorch._utils\n_rebuild_tensor_v2\n((" + storage + size + b"tQK\x00"
        tensor += height + width + b"\x86" + width + b"K\x01\x86\x89}tR"
        listed += spelt(full) + tensor
    return with_pickle(b"\x80\x02}(" + listed + b"u.")


def spelt(text: str) -> bytes:
    return b"X" + struct.pack("<i", len(text)) + text.encode()


BROKEN: dict[str, tuple[Callable[[], bytes], str]] = {
    "nothing": (lambda: b"", "the file is empty"),
    "text": (lambda: b"To be, or not to be\n" * 9, BROKEN_ZIP),
    "the older format": (
        lambda: older(mingpt_state()),
        "from before torch 1.6, .* save it again with a current torch.save",
    ),
    "half": (lambda: whole()[: len(whole()) // 2], BROKEN_ZIP),
    "another zip": (lambda: archive({"read.me": b"hello"}), BROKEN_ZIP),
    "two folders": (lambda: with_part("../other/data.pkl", b"."), BROKEN_ZIP),
    "a script archive": (lambda: with_part("constants.pkl", b"\x80\x02)."), BROKEN_ZIP),
    "compressed": (
        lambda: archive(parts_of(whole()), zipfile.ZIP_DEFLATED),
        "its parts are compressed, which torch.save never does",
    ),
    "two parts of one name": (
        lambda: with_part("DATA.PKL", b"."),
        "two of its parts have the same name",
    ),
    "bytes in another order": (lambda: with_part("byteorder", b"big"), "in another order than"),
    "without its numbers": (lambda: with_part("data/1", None), "its part data/1 is missing"),
    "fewer numbers": (lambda: with_part("data/1", b"abcd"), r"claims 1,536 bytes; 4 are there"),
    "more numbers": (lambda: with_part("data/1", bytes(10**6)), "has 1,000,000 bytes; at most 1,5"),
    "a part above the folder": (
        lambda: lying(b"X\x01\x00\x00\x001", b"X\x04\x00\x00\x00../1"),
        "../1 is missing",
    ),
    "other bytes than its checksum": (lambda: flipped(whole()), BROKEN_ZIP),
    "a list": (lambda: saved([torch.ones(3)]), "holds a list, not a state dict"),
    "no tensors": (lambda: saved({}), "the state dict is empty"),
    "a number": (lambda: edited(lambda s: s.update(epoch=3)), "'epoch' is a int, not a tensor"),
    "an array": (
        lambda: saved({**mingpt_state(), "a": np.ones(3)}),
        r"holds more than tensors: it asks for numpy\S+, and nothing of it was run",
    ),
    "a sparse tensor": (
        lambda: edited(lambda s: s.update(a=torch.eye(3).to_sparse())),
        r"asks for torch\._utils\._rebuild_sparse_tensor, and nothing",
    ),
    "memory by a call": (
        lambda: with_pickle(b"\x80\x02cbuiltins\nbytearray\nJ\x00\xe1\xf5\x05\x85R."),
        r"asks for builtins\.bytearray, and nothing",
    ),
    "memory by a newer call": (
        lambda: with_pickle(
            b"\x80\x04\x8c\x08builtins\x8c\x09bytearray\x93J\x00\xe1\xf5\x05\x85R."
        ),
        r"asks for builtins\.bytearray, and nothing",
    ),
    "a name of two lines": (lambda: with_pickle(b"\x80\x02ca b\nc\n."), r"asks for a\.b\.c, and"),
    "a table of gigabytes": (lambda: huge(2**14, 2**13), r"claims 536,870,912 bytes; \d,?\d* are"),
    "a table beyond the limit": (lambda: huge(2**20, 2**13), "at most 200,000,000 numbers are"),
    "a table of terabytes": (lambda: huge(2**39, 8192), BROKEN_PICKLE),
    "a size below nothing": (lambda: huge(-5, 8), BROKEN_PICKLE),
    "every matrix the same numbers": (
        tied_all,
        r"its tensors claim \d,\d+,\d+ bytes; the file has",
    ),
    "a view in another order": (
        lambda: edited(lambda s: s.update({SQUARE: torch.ones(32, 32).triu().T})),
        OTHER,
    ),
    "repeated numbers": (
        lambda: edited(lambda s: s.update({SQUARE: torch.ones(1).expand(32, 32)})),
        OTHER,
    ),
    "a view of a larger tensor": (
        lambda: edited(lambda s: s.update({"transformer.ln_f.weight": torch.ones(99)[3:35]})),
        OTHER,
    ),
    "a broken pickle": (lambda: with_pickle(b"\x80\x02}q\x00(X\x05"), BROKEN_PICKLE),
    "a pickle without an end": (lambda: with_pickle(b"\x80\x02}"), BROKEN_PICKLE),
    "a pickle of nothing": (lambda: with_pickle(b""), BROKEN_PICKLE),
    "a pickle that takes from nothing": (lambda: with_pickle(b"\x80\x02u."), BROKEN_PICKLE),
    "a pickle that takes its own mark": (lambda: with_pickle(b"\x80\x02}((s."), BROKEN_PICKLE),
    "a text of gigabytes": (lambda: with_pickle(b"\x80\x02X\xff\xff\xff\x7fa."), BROKEN_PICKLE),
    "half a character": (
        lambda: with_pickle(b"\x80\x02X\x03\x00\x00\x00\xed\xa0\x80."),
        BROKEN_PICKLE,
    ),
    "a number of many digits": (
        lambda: with_pickle(b"\x80\x02L" + b"9" * 5000 + b"L\n."),
        BROKEN_PICKLE,
    ),
    "a memory that is not there": (lambda: with_pickle(b"\x80\x02h\x07."), BROKEN_PICKLE),
    "an older protocol": (lambda: with_pickle(b"(dp0\n."), "the instruction DICT, which no such"),
    "an object": (lambda: with_pickle(b"\x80\x02)\x81."), "the instruction NEWOBJ, which no such"),
    "an instance": (lambda: with_pickle(b"\x80\x02(ios\nsystem\n."), "the instruction INST, which"),
    "an extension": (lambda: with_pickle(b"\x80\x02\x82\x01."), "the instruction EXT1, which no"),
    "bytes": (lambda: with_pickle(b"\x80\x03C\x01a."), "the instruction SHORT_BINBYTES, which no"),
    "a tuple as a key": (
        lambda: with_pickle(b"\x80\x02})K\x01s."),
        "has a tuple as a key; texts and",
    ),
    "keys that collide": (
        lambda: with_pickle(b"\x80\x02}\x8a\x08" + b"\xff" * 7 + b"\x1fK\x01s."),
        "has a int as a key; texts and small numbers are read",
    ),
    "tuples a million deep": (
        lambda: with_pickle(b"\x80\x02)" + b"\x85" * 10**6 + b"."),
        "holds a tuple, not a state dict",
    ),
    "a dictionary that holds itself": (
        lambda: with_pickle(b"\x80\x02}q\x00X\x05\x00\x00\x00modelh\x00s."),
        "'model' is a dict, not a tensor",
    ),
}


def older(state: Any) -> bytes:
    buffer = io.BytesIO()
    torch.save(state, buffer, _use_new_zipfile_serialization=False)
    return buffer.getvalue()


def flipped(data: bytes) -> bytes:
    """A whole file with other numbers than those that it was written with."""
    numbers = parts_of(data)["archive/data/3"]
    assert data.count(numbers) == 1
    return data.replace(numbers, bytes([numbers[0] ^ 1]) + numbers[1:])


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_file_is_refused_in_one_sentence(tmp_path: Path, kind: str):
    make, message = BROKEN[kind]
    path = tmp_path / "ckpt.pt"
    path.write_bytes(make())
    with pytest.raises(ValueError, match=message) as caught:
        import_nano(path, TOLD)
    assert len(str(caught.value)) < 200
    assert "\n" not in str(caught.value)


def test_the_files_that_are_broken_here_are_whole_otherwise(tmp_path: Path):
    path = tmp_path / "ckpt.pt"
    for data in (whole(), archive(parts_of(whole())), lying(b"X\x01", b"X\x01")):
        path.write_bytes(data)
        assert import_nano(path, TOLD).variant == "mingpt"


HOSTILE: dict[str, Callable[[Trap], bytes]] = {
    "a pickle": lambda trap: pickle.dumps(trap, protocol=2),
    "the pickle of a whole file": lambda trap: with_pickle(pickle.dumps(trap, protocol=2)),
    "the newer pickle of a whole file": lambda trap: with_pickle(pickle.dumps(trap, protocol=4)),
    "a value beside the model": lambda trap: saved({**checkpoint(nano_state()), "config": trap}),
    "a size": lambda trap: saved(checkpoint(nano_state(), n_head=trap)),
    "a tensor": lambda trap: saved({**mingpt_state(), "lm_head.weight": trap}),
    "the older format": lambda trap: older(checkpoint(nano_state(), n_head=trap)),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_code_in_a_file_is_never_run(tmp_path: Path, kind: str):
    trap = Trap(tmp_path / "sprung")
    path = tmp_path / "ckpt.pt"
    path.write_bytes(HOSTILE[kind](trap))
    with pytest.raises(CheckpointError, match="asks for .*mkdir, and nothing|whole file|torch 1.6"):
        import_nano(path, TOLD)
    assert not trap.folder.exists()


def test_a_file_that_is_none_or_too_large_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(CheckpointError, match="there is no such file"):
        digest_of(tmp_path / ".." / "evil.pt")
    with pytest.raises(CheckpointError, match="not a file"):
        digest_of(tmp_path)
    (tmp_path / "large").write_bytes(bytes(1001))
    monkeypatch.setattr(nano_file, "MOST_BYTES", 1000)
    with pytest.raises(CheckpointError, match="1,001 bytes, more than the 1,000 read"):
        digest_of(tmp_path / "large")
