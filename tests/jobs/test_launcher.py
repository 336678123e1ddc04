"""How a worker is launched: a list of arguments, a session of its own, quiet threads."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from core.jobs import launcher as launcher_module
from core.jobs.folder import LOG
from core.jobs.launcher import LocalLauncher, quiet_threads, worker_command
from core.paths import ROOT


class Recorded:
    """Stands for the process, and remembers how it was started."""

    def __init__(self, command: list[str], **options: Any) -> None:
        Recorded.command, Recorded.options = command, options
        options["stdout"].write(b"hello\n")

    def wait(self) -> int:
        return 0


def test_a_worker_is_a_list_of_arguments_in_its_own_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("A5_DATA", "somewhere")
    monkeypatch.setattr(launcher_module.subprocess, "Popen", Recorded)
    folder = tmp_path / "a job; rm -rf $HOME"
    folder.mkdir()
    LocalLauncher().launch(folder, threads=3)
    assert Recorded.command == [sys.executable, "-m", "core.jobs.worker", str(folder)]
    options = Recorded.options
    assert "shell" not in options
    assert (options["start_new_session"], options["stdin"]) == (True, subprocess.DEVNULL)
    assert options["cwd"] == ROOT
    assert options["env"]["A5_DATA"] == "somewhere"
    assert options["env"] | quiet_threads(3) == options["env"]
    assert (folder / LOG).read_text() == "hello\n"


def test_threads_wait_without_spinning_and_are_as_many_as_told():
    assert quiet_threads(2) == {
        "OMP_NUM_THREADS": "2",
        "MKL_NUM_THREADS": "2",
        "OMP_WAIT_POLICY": "passive",
        "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
    }


def test_the_command_names_the_folder_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    assert worker_command(Path("job"))[-1] == str(tmp_path / "job")


def test_only_a_posix_system_can_start_jobs(monkeypatch: pytest.MonkeyPatch):
    assert LocalLauncher().obstacle() is None
    monkeypatch.setattr(launcher_module, "SYSTEM", "nt")
    assert str(LocalLauncher().obstacle()).startswith("cannot start jobs here: Linux or macOS")


def test_pages_need_no_torch_to_show_jobs():
    jobs = "actions curves estimate keep launcher lesson spec state status worker".split()
    runs = "fine_tuning folder journal stopping".split()
    needed = [*(f"core.jobs.{name}" for name in jobs), *(f"core.runs.{name}" for name in runs)]
    code = f"import sys; import {', '.join(needed)}"
    code += "; print(sorted({'torch', 'streamlit'} & set(sys.modules)))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")
