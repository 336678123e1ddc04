"""A meta.pkl of nanoGPT: characters and their numbers are read, anything else is refused."""

import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from core.checkpoints import pickled
from core.checkpoints.foreign_text import characters_of_meta
from core.checkpoints.store import CheckpointError
from tests.checkpoints.nano_files import Trap, meta

BROKEN_PICKLE = "^holds a broken pickle$"
META: dict[str, tuple[Callable[[], bytes], str]] = {
    "nothing": (lambda: b"", BROKEN_PICKLE),
    "a list": (lambda: pickle.dumps([1]), "the pickle is a list, not a dictionary"),
    "no stoi": (lambda: pickle.dumps({"itos": {}}), "its 'stoi' is a NoneType, not a dictionary"),
    "no characters": (lambda: pickle.dumps(meta(stoi={})), "its 0 characters do not have the ids"),
    "a gap": (lambda: pickle.dumps({"stoi": {"a": 0, "b": 2}}), "its 2 characters do not have the"),
    "an id twice": (lambda: pickle.dumps({"stoi": {"a": 0, "b": 0}}), "its 2 characters do not"),
    "an id of true": (lambda: pickle.dumps({"stoi": {"a": False}}), "something else than a number"),
    "two letters": (lambda: pickle.dumps({"stoi": {"ab": 0}}), "something else than a number to a"),
    "a set": (lambda: pickle.dumps({"stoi": {"a": {1}}}), "instruction EMPTY_SET, which no such"),
    "another itos": (lambda: pickle.dumps(meta(itos={0: "b"})), "'stoi' and 'itos' do not say the"),
    "another size": (lambda: pickle.dumps(meta(vocab_size=9)), "'vocab_size' is not the number of"),
    "a list beside": (
        lambda: pickle.dumps(meta(more=[1])),
        "its 'more' is a list, not dict or int",
    ),
    "a float": (lambda: pickle.dumps(meta(more=1.5)), "its 'more' is a float, not dict or int"),
    "a class": (
        lambda: pickle.dumps(meta(stoi=np.int64(3))),
        r"holds more than dict, str and int: it asks for numpy\S+, and nothing of it was run",
    ),
    "a tensor's storage": (lambda: b"\x80\x02K\x01Q.", BROKEN_PICKLE),
    "an older protocol": (lambda: pickle.dumps(meta(), 0), "the instruction MARK|DICT, which no"),
}


@pytest.mark.parametrize("kind", META)
def test_a_meta_file_of_anything_but_characters_and_numbers_is_refused(kind: str):
    make, message = META[kind]
    with pytest.raises(CheckpointError, match=message) as caught:
        characters_of_meta(make())
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_a_meta_file_is_read_and_not_run(tmp_path: Path, protocol: int):
    assert len(characters_of_meta(pickle.dumps(meta(), protocol))) == meta()["vocab_size"]
    trap = Trap(tmp_path / "sprung")
    with pytest.raises(CheckpointError, match="asks for .*mkdir, and nothing of it was run"):
        characters_of_meta(pickle.dumps(meta(more=trap), protocol))
    assert not trap.folder.exists()
    pickle.loads(pickle.dumps(trap, protocol))
    assert trap.folder.is_dir()  # the trap works, it just was not stepped into


def test_a_pickle_beyond_the_limit_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pickled, "MOST_PICKLE_BYTES", 1000)
    with pytest.raises(CheckpointError, match=r"holds a pickle of \d,\d+ bytes; at most 1,000 are"):
        characters_of_meta(pickle.dumps({"stoi": {"a" * 5000: 0}}))
