"""Ctrl-C while `python -m core` comes up: one line and status 130, never a traceback."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.__main__ import run

ROOT = Path(__file__).resolve().parents[1]
INTERRUPTS_ITSELF = """
import os, signal
os.kill(os.getpid(), signal.SIGINT)
"""
# As a large package may: what goes wrong in its parts becomes an error of its own.
HALF_LOADED = f"""
try:
    {INTERRUPTS_ITSELF.strip().replace(chr(10), chr(10) + "    ")}
    for _ in range(1000):
        pass
except KeyboardInterrupt:
    raise ImportError("a part is missing")
raise SystemExit(7)
"""


@pytest.fixture(autouse=True)
def heard() -> Iterator[None]:
    """Interrupts are heard, here and in what is started, also where whoever started the tests
    ignores them (a shell does so for what runs in the background)."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def start(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command with the modules of a folder before all others, and without what it sets."""
    own = {"OMP_WAIT_POLICY", "GLIBC_TUNABLES"}
    kept = {key: value for key, value in os.environ.items() if key not in own}
    return subprocess.run(
        [sys.executable, "-m", "core", *arguments],
        cwd=ROOT,
        env={**kept, "PYTHONPATH": str(folder)},
        capture_output=True,
        check=False,
        encoding="utf-8",
    )


def test_an_interrupt_while_torch_is_loaded_is_one_line(tmp_path: Path):
    (tmp_path / "torch.py").write_text(HALF_LOADED)
    for verb in (("ask", "Where?"), ("evaluate",)):
        done = start(tmp_path, *verb)
        assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


@pytest.mark.skipif(sys.platform != "linux", reason="only there the command restarts itself")
def test_an_interrupt_while_the_command_restarts_waits_until_somebody_listens(tmp_path: Path):
    again = 'if os.environ.get("OMP_WAIT_POLICY"):'
    (tmp_path / "sitecustomize.py").write_text(
        f"import os, signal\n{again}\n    os.kill(os.getpid(), signal.SIGINT)\n"
    )
    done = start(tmp_path, "evaluate")
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_an_interrupt_that_is_ignored_from_outside_stays_ignored(tmp_path: Path):
    (tmp_path / "torch.py").write_text(HALF_LOADED)
    (tmp_path / "sitecustomize.py").write_text(
        "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    )
    done = start(tmp_path, "ask", "Where?")
    assert (done.returncode, done.stderr) == (7, "")


def test_an_interrupt_that_no_verb_catches_is_no_traceback(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("core.cli.main.main", lambda _: signal.raise_signal(signal.SIGINT))
    assert run(["ask", "Where?"]) == 130


def test_a_verb_hears_an_interrupt_as_an_exception(monkeypatch: pytest.MonkeyPatch):
    heard: list[object] = []

    def work(_: object) -> int:
        heard.append(signal.getsignal(signal.SIGINT))
        return 0

    monkeypatch.setattr("core.cli.main.main", work)
    assert run(["ask", "Where?"]) == 0
    assert heard == [signal.default_int_handler]
