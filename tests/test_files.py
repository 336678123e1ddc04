"""Files are whole or absent."""

from pathlib import Path

import pytest

from core.files import read_json, sha256, write_json, write_whole


def test_a_writer_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path):
    path = tmp_path / "notes.txt"
    path.write_text("old")

    def fail(temporary: Path) -> None:
        temporary.write_text("half of the ne")
        raise RuntimeError("disk full")

    with pytest.raises(RuntimeError, match="disk full"):
        write_whole(path, fail)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["notes.txt"]


def test_a_writer_that_succeeds_replaces_the_file(tmp_path: Path):
    path = tmp_path / "notes.txt"
    for text in ("old", "new"):
        write_whole(path, lambda temporary, text=text: _write(temporary, text))
    assert path.read_text() == "new"
    assert [p.name for p in tmp_path.iterdir()] == ["notes.txt"]


def test_the_file_is_not_there_before_it_is_whole(tmp_path: Path):
    path = tmp_path / "notes.txt"

    def look(temporary: Path) -> None:
        temporary.write_text("half")
        assert not path.exists()
        assert temporary.parent == path.parent  # a move between file systems is not one step

    write_whole(path, look)
    assert path.read_text() == "half"


def test_the_bytes_reach_the_disk_before_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "card.json"
    there: list[bool] = []
    monkeypatch.setattr("os.fsync", lambda _handle: there.append(path.exists()))
    write_json(path, {})
    assert there == [False]


def test_json_comes_back_with_every_character(tmp_path: Path):
    data = {"name": "Zoë ⁇", "figures": [1, 2.5, None]}
    write_json(tmp_path / "a.json", data)
    assert read_json(tmp_path / "a.json") == data
    assert "Zoë ⁇" in (tmp_path / "a.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", r"a\.json: not JSON \(Expecting"),
        (b"[1]", r"a\.json: a JSON object is needed"),
        (b"\xff\xfe", r"a\.json: not JSON"),
        (None, r"a\.json: cannot be read \(No such file or directory\)"),
    ],
)
def test_what_is_no_json_object_is_named(tmp_path: Path, content: bytes | None, message: str):
    if content is not None:
        (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_json(tmp_path / "a.json")


def test_the_digest_is_that_of_the_bytes(tmp_path: Path):
    (tmp_path / "abc").write_bytes(b"abc")  # the example of FIPS 180-2, appendix B.1
    assert sha256(tmp_path / "abc").startswith("ba7816bf8f01cfea")
    with pytest.raises(ValueError, match=r"abd: cannot be read \(No such file"):
        sha256(tmp_path / "abd")


def _write(path: Path, text: str) -> None:
    path.write_text(text)
