"""What holds for every verb: bytes that are no text, readers who leave, files that are none."""

import io
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core.cli.main import main

Run = Callable[..., Any]
ROOT = Path(__file__).resolve().parents[2]
QUESTION = "Where was Ada Arden born?"
CHECK = ("data", "check")
LATIN_1 = b"caf\xe9".decode("utf-8", "surrogateescape")  # as Python hands it over


@pytest.mark.parametrize(
    "arguments",
    [
        ("ask", LATIN_1),
        ("ask", "--checkpoint", LATIN_1, QUESTION),
        ("trace", LATIN_1, "--json"),
        ("evaluate", "--before", LATIN_1),
        ("evaluate", "--predictions", LATIN_1),
        ("heads", "--off", LATIN_1),
        ("train", "--preset", "tiny", "--out", LATIN_1),
        ("train", "--resume", LATIN_1),
        ("jobs", "start", "--preset", "tiny", "--name", LATIN_1),
        ("jobs", "show", LATIN_1),
        ("data", "check", "--reference", LATIN_1),
        ("corpus", "--out", LATIN_1),
        ("montecarlo", "--heads", LATIN_1),
        ("import", LATIN_1, "--wiki", "wiki.txt", "--out", "imported"),
        (LATIN_1,),
    ],
)
def test_bytes_that_are_no_utf_8_are_one_line_and_status_2(
    run: Run, arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    outcome = run(*arguments)
    assert outcome.error == (
        r"error: 'caf\udce9' is not UTF-8 from position 3 on: arguments are texts and names "
        "in UTF-8"
    )
    assert outcome.err.count("\n") == 1
    assert list(tmp_path.glob("caf*")) == []
    assert run("ask", "--checkpoint", "café", QUESTION).error.startswith(
        "error: there is no checkpoint 'café'"
    )


def unheard(*, buffered: bool) -> io.TextIOWrapper:
    """A standard stream whose reader has gone."""
    read, write = os.pipe()
    os.close(read)
    raw = io.FileIO(write, "w")
    binary: Any = io.BufferedWriter(raw) if buffered else raw  # as `python -u` has it
    return io.TextIOWrapper(binary, write_through=not buffered)


@pytest.fixture(params=[True, False], ids=["buffered", "unbuffered"])
def gone(request: pytest.FixtureRequest) -> Iterator[io.TextIOWrapper]:
    stream = unheard(buffered=request.param)
    yield stream
    assert stream.closed or not request.param  # else Python tries again at its exit
    if not stream.closed:
        stream.close()


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_reader_who_has_gone_ends_a_verb_in_silence(
    run: Run, gone: io.TextIOWrapper, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]
):
    monkeypatch.setattr(sys, "stdout", gone)
    outcome = run("data", "check", *more)
    assert (outcome.status, outcome.err) == (141, "")


def test_a_reader_who_has_gone_before_the_help_ends_it_in_silence(
    run: Run, monkeypatch: pytest.MonkeyPatch
):
    stream = unheard(buffered=True)
    monkeypatch.setattr(sys, "stdout", stream)
    outcome = run("--help")
    assert (outcome.status, outcome.err) == (141, "")
    assert stream.closed


def test_an_error_that_nobody_reads_is_an_error(
    run: Run, gone: io.TextIOWrapper, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sys, "stderr", gone)
    assert run("ask", "--checkpoint", "nowhere", QUESTION).status == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_an_output_that_finds_no_room_is_one_line_and_status_2(
    run: Run, monkeypatch: pytest.MonkeyPatch
):
    full = io.TextIOWrapper(io.BufferedWriter(io.FileIO("/dev/full", "w")))
    monkeypatch.setattr(sys, "stdout", full)
    outcome = run("data", "check")
    assert outcome.status == 2
    assert outcome.err == f"error: [Errno 28] {os.strerror(28)}\n"
    assert full.closed


@pytest.mark.parametrize("named", [False, True])
def test_a_process_whose_reader_has_gone_says_nothing_and_ends_as_one_of_sigpipe(
    tmp_path: Path, named: bool
):
    out = tmp_path / "stdout"
    out.symlink_to("/dev/fd/1")  # as /dev/stdout is made
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "core", *(("corpus", "--out", str(out)) if named else CHECK)],
        cwd=ROOT,
        stdout=write,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")


def test_a_process_whose_output_is_closed_ends_well(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stdout", None)  # as Python has it then
    assert run("data", "check").status == 0


NAMED = [
    ("corpus", "--out"),
    ("trace", QUESTION, "--checkpoint", "nowhere", "--out"),
    ("evaluate", "--checkpoint", "nowhere", "--predictions"),
    ("bench", "--methods", "none", "--out"),
    ("ablation", "--corpus", "nowhere", "--out"),
    ("seeds", "--corpus", "nowhere", "--out"),
]


@pytest.mark.parametrize("arguments", NAMED)
def test_a_file_in_a_missing_folder_is_refused_before_any_work(
    run: Run, arguments: tuple[str, ...], tmp_path: Path
):
    folder = tmp_path / "not there"
    outcome = run(*arguments, folder / "file")
    assert outcome.err.count("\n") == 1
    assert outcome.error.startswith(f"error: argument {arguments[-1]}: there is no folder {folder}")
    assert f"make it first (mkdir -p '{folder}')" in outcome.error
    assert not folder.exists()
    assert "is a folder: name a file in it" in run(*arguments, tmp_path).error


def test_a_verb_makes_the_folders_that_are_its_own(run: Run, trained: Path, tmp_path: Path):
    folder = tmp_path / "a" / "b"
    report = run("train", "--preset", "tiny", "--steps", 2, "--out", folder, "--json").report
    assert report["n_steps"] == 2
    assert (folder / "snapshots").is_dir()


@pytest.mark.parametrize(
    "arguments",
    [
        ("corpus", "--sentences", "1", "--out"),
        ("trace", QUESTION, "--out"),
        ("evaluate", "--predictions"),
    ],
)
def test_a_verb_writes_into_a_fifo_and_leaves_it_one(
    run: Run, trained: Path, arguments: tuple[str, ...], tmp_path: Path
):
    fifo, file = tmp_path / "fifo", tmp_path / "file"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    of = () if arguments[0] == "corpus" else ("--checkpoint", trained)
    for path in (fifo, file):
        assert run(*arguments, path, *of).status == 0
    assert os.read(reader, 2**20) == file.read_bytes() != b""
    assert stat.S_ISFIFO(fifo.stat().st_mode)
    os.close(reader)


def test_an_error_keeps_the_spaces_of_a_name(run: Run, tmp_path: Path):
    folder = tmp_path / "my  run"
    assert run("train", "--resume", folder).error == f"error: {folder}: no run is here"


def test_an_interrupt_is_one_line_and_status_130(
    run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("core.cli.verbs.corpus", interrupt)
    assert main(["corpus", "--out", "x"]) == 130
    assert capsys.readouterr().err == "interrupted\n"
