"""How large a file may be is asked before it is read; odd JSON is refused in one line."""

import json
import os
import threading
from pathlib import Path

import pytest

from core.data.characters import read_lines
from core.reading import MOST_DEPTH, parse_json, read_bytes

TERABYTE = 10**12


def sparse(path: Path, n_bytes: int) -> Path:
    """A file that says it has so many bytes and takes no room."""
    path.touch()
    os.truncate(path, n_bytes)
    return path


def nested(depth: int) -> str:
    return "[" * depth + "1" + "]" * depth


def test_a_file_of_exactly_the_limit_is_read_and_one_byte_more_is_not(tmp_path: Path):
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    assert read_bytes(path, 5) == b"12345"
    with pytest.raises(ValueError, match=r"/a: 5 bytes; at most 4 are read of such a file$"):
        read_bytes(path, 4)


def test_a_terabyte_is_refused_before_it_is_read(tmp_path: Path):
    path = sparse(tmp_path / "wiki.txt", TERABYTE)
    with pytest.raises(ValueError, match=r"wiki\.txt: 1,000,000,000,000 bytes; at most 200,000,0"):
        read_lines(path)


def test_a_file_that_grows_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    monkeypatch.setattr("core.reading.refuse_large", lambda path, most: None)
    with pytest.raises(ValueError, match="more than the 4 bytes that are read"):
        read_bytes(path, 4)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_a_pipe_and_a_folder_are_no_files(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    said: list[str] = []

    def read() -> None:
        with pytest.raises(ValueError, match="cannot be read") as caught:
            read_bytes(tmp_path / "pipe", 4)
        said.append(str(caught.value))

    reader = threading.Thread(target=read, daemon=True)  # it would wait for ever
    reader.start()
    reader.join(timeout=60)
    assert [text.rpartition("/")[2] for text in said] == ["pipe: cannot be read (not a file)"]
    with pytest.raises(ValueError, match=r"cannot be read \(not a file\)"):
        read_bytes(tmp_path, 4)


def test_json_within_its_limits_comes_back():
    data = {"a": [1, -2.5, None, True, "NaN"], "most": 2**63 - 1, "least": -(2**63) + 1}
    assert parse_json(json.dumps(data), "x") == data
    assert parse_json(json.dumps(data).encode(), "x") == data
    assert parse_json(nested(MOST_DEPTH), "x") is not None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (nested(MOST_DEPTH + 1), "nested too deeply; at most 32 lists and objects in one another"),
        (nested(1_000_000), "nested too deeply; at most 32 lists and objects in one another"),
        ('{"a":' * 5000 + "1" + "}" * 5000, "nested too deeply"),
        ("[" * 5000, "nested too deeply"),
        ('{"a": [NaN]}', "holds nan; numbers must be finite"),
        ("[-Infinity]", "holds -inf; numbers must be finite"),
        ("[1e999]", "holds inf; numbers must be finite"),
        ("[1" + "0" * 30 + "]", "holds a whole number of 31 digits; at most 9,223,372,036,854,775"),
        ("[-1" + "0" * 30 + "]", "holds a whole number of 31 digits"),
        ("[" + "1" * 5000 + "]", r"not JSON \(Exceeds the limit"),
        ("[1,", r"not JSON \(Expecting value"),
    ],
)
def test_odd_json_is_refused_in_one_line(text: str, message: str):
    with pytest.raises(ValueError, match=f"^config.json: {message}") as caught:
        parse_json(text, "config.json")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


def test_bytes_that_are_not_utf8_are_no_json():
    with pytest.raises(ValueError, match=r"x: not JSON \('utf-8' codec"):
        parse_json(b"\xff\xfe", "x")
