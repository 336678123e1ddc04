"""Where a file goes: links are followed, modes kept, and what is no regular file is written to."""

import errno
import os
import stat
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

from core import files
from core.checkpoints.state import load_state, save_state
from core.files import check_target, is_stored, write_json, write_text, write_whole

ROOT_NEEDED = pytest.mark.skipif(os.geteuid() != 0, reason="only root may do this")
DESCRIPTORS = pytest.mark.skipif(not Path("/dev/fd").is_dir(), reason="there is no /dev/fd here")


@contextmanager
def umask(mask: int) -> Generator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def save_tensor(path: Path) -> None:
    save_state(path, {"a": torch.ones(2)}, {"step": 3})


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    """A FIFO with somebody at its other end."""
    path = tmp_path / "fifo"
    os.mkfifo(path)
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    yield path, handle
    os.close(handle)


@pytest.mark.parametrize("mask", [0o002, 0o022, 0o027, 0o077])
def test_a_new_file_has_what_the_umask_leaves(tmp_path: Path, mask: int):
    with umask(mask):
        write_text(tmp_path / "a.txt", "a")
        save_tensor(tmp_path / "a.safetensors")  # its writer puts a file of its own in the place
    assert {mode(path) for path in tmp_path.iterdir()} == {0o666 & ~mask}


@pytest.mark.parametrize("before", [0o600, 0o640, 0o666, 0o444])
def test_an_existing_file_keeps_its_mode(tmp_path: Path, before: int):
    path = tmp_path / "a"
    for write in (save_tensor, lambda path: write_text(path, "new")):
        path.touch()
        path.chmod(before)
        write(path)
        assert mode(path) == before
    assert path.read_text() == "new"


def test_what_replaces_a_private_file_is_private_while_it_is_written(tmp_path: Path):
    path = tmp_path / "a"
    path.touch(mode=0o600)
    seen: list[int] = []
    with umask(0):
        write_whole(path, lambda temporary: seen.append(mode(temporary)))
    assert seen == [0o600]


@ROOT_NEEDED
def test_an_existing_file_keeps_its_owner_and_group(tmp_path: Path):
    path = tmp_path / "a"
    path.touch()
    os.chown(path, 12345, 23456)
    write_text(path, "new")
    found = path.stat()
    assert (found.st_uid, found.st_gid, path.read_text()) == (12345, 23456, "new")


def test_an_owner_that_cannot_be_given_back_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path, asked = tmp_path / "a", []
    path.touch()
    real = Path.stat

    def strange(self: Path, **options: Any) -> os.stat_result:
        found = real(self, **options)
        values = list(found)
        values[4] += self == path  # somebody else's
        return os.stat_result(values)

    def refuse(*arguments: object) -> None:
        asked.append(arguments[1])
        raise PermissionError

    monkeypatch.setattr(Path, "stat", strange)
    monkeypatch.setattr("os.chown", refuse)
    write_text(path, "new")
    assert path.read_text() == "new"
    assert asked == [os.geteuid() + 1, -1]  # then the group alone


def test_a_link_is_followed_and_stays(tmp_path: Path):
    (tmp_path / "folder").mkdir()
    file, link = tmp_path / "folder" / "file", tmp_path / "link"
    link.symlink_to("folder/file")
    for text in ("new", "newer"):  # at first it leads to nothing
        write_text(link, text)
        assert (link.readlink(), file.read_text()) == (Path("folder/file"), text)
        assert not file.is_symlink()
    assert [path.name for path in file.parent.iterdir()] == ["file"]


def test_a_link_into_a_missing_folder_or_to_itself_is_an_error(tmp_path: Path):
    link, loop = tmp_path / "link", tmp_path / "loop"
    link.symlink_to("missing/file")
    loop.symlink_to("loop")
    with pytest.raises(FileNotFoundError, match=r"No such file or directory: '.*/missing'"):
        write_text(link, "new")
    with pytest.raises(ValueError, match=r"there is no folder .*/missing: make it first"):
        check_target(link)
    with pytest.raises(OSError, match=os.strerror(errno.ELOOP)):
        write_text(loop, "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "loop"]


@pytest.mark.parametrize("write", [save_tensor, lambda path: write_json(path, {"a": 1})])
def test_a_fifo_is_written_to_and_stays_one(tmp_path: Path, reader: tuple[Path, int], write: Any):
    path, handle = reader
    write(path)
    assert stat.S_ISFIFO(path.stat().st_mode)
    write(tmp_path / "file")
    assert os.read(handle, 65536) == (tmp_path / "file").read_bytes()
    if write is save_tensor:
        assert load_state(tmp_path / "file")[1] == {"step": 3}


def test_a_writer_that_fails_writes_nothing_to_a_fifo(reader: tuple[Path, int]):
    path, handle = reader

    def fail(temporary: Path) -> None:
        temporary.write_text("half of the ne")
        raise RuntimeError("disk full")

    with pytest.raises(RuntimeError, match="disk full"):
        write_whole(path, fail)
    assert os.read(handle, 65536) == b""


def test_a_reader_that_leaves_is_told_by_the_name_of_the_fifo(tmp_path: Path):
    path = tmp_path / "fifo"
    os.mkfifo(path)
    leaving = threading.Thread(target=lambda: path.open("rb").close())
    leaving.start()
    with pytest.raises(BrokenPipeError, match="fifo") as error:
        write_text(path, "a" * 2**20)  # more than a pipe holds
    leaving.join()
    assert error.value.filename == str(path)


@ROOT_NEEDED
def test_a_device_is_written_to_and_stays_one(tmp_path: Path):
    path = tmp_path / "null"
    os.mknod(path, 0o622 | stat.S_IFCHR, os.makedev(1, 3))  # as /dev/null is made
    try:
        path.open("wb").close()
    except PermissionError:
        pytest.skip("this file system opens no devices")
    before = path.stat()
    write_text(path, "gone")
    save_tensor(path)
    after = path.stat()
    assert stat.S_ISCHR(after.st_mode)
    assert (after.st_ino, after.st_mode, after.st_rdev) == (
        before.st_ino,
        before.st_mode,
        before.st_rdev,
    )
    assert [found.name for found in tmp_path.iterdir()] == ["null"]


@DESCRIPTORS
def test_a_descriptor_s_name_goes_on_where_the_descriptor_is(tmp_path: Path):
    file, link = tmp_path / "file", tmp_path / "stdout"
    handle = os.open(file, os.O_WRONLY | os.O_CREAT)
    link.symlink_to(f"/dev/fd/{handle}")  # as /dev/stdout is made
    try:
        for path in (Path(f"/dev/fd/{handle}"), link):
            os.write(handle, b"before ")
            write_text(path, "whole ")
            assert not is_stored(path)
            check_target(path)
        os.write(handle, b"after")
    finally:
        os.close(handle)
    assert file.read_text() == "before whole before whole after"
    assert link.is_symlink()
    assert is_stored(file)


@DESCRIPTORS
@pytest.mark.parametrize("is_stdout", [True, False])
def test_a_reader_of_a_descriptor_who_has_gone_is_told_unless_it_is_the_output(
    monkeypatch: pytest.MonkeyPatch, is_stdout: bool
):
    read, write = os.pipe()
    os.close(read)
    if is_stdout:
        monkeypatch.setattr(files, "STDOUT", write)
    try:
        with pytest.raises(BrokenPipeError, match="Broken pipe") as error:
            write_text(Path(f"/dev/fd/{write}"), "unheard")
        assert error.value.filename == (None if is_stdout else f"/dev/fd/{write}")
    finally:
        os.close(write)


def test_a_folder_is_never_made_nor_written_to(tmp_path: Path):
    (tmp_path / "file").touch()
    for path, message in (
        (tmp_path / "a b" / "c", r"there is no folder .*: make it first \(mkdir -p '.*/a b'\)"),
        (tmp_path / "file" / "c", r"/file is no folder, so nothing can lie in it"),
        (tmp_path, r"is a folder: name a file in it"),
    ):
        with pytest.raises(ValueError, match=message):
            check_target(path)
        with pytest.raises(OSError, match=r"No such file|Not a directory|Is a directory"):
            write_text(path, "new")
    check_target(tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
