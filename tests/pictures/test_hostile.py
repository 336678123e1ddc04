"""Hostile sets and uploads of pictures are refused in one sentence each, in little memory."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pictures.hostile import NPZ, UPLOADS

ROOT = Path(__file__).resolve().parents[2]
Said = dict[tuple[str, str], dict[str, str]]


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Said:
    """What a process with little memory says of each case."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.pictures.hostile", str(tmp_path_factory.mktemp("sets"))],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    lines = map(json.loads, done.stdout.splitlines())
    return {(line["of"], line["name"]): line for line in lines}


@pytest.mark.parametrize("case", NPZ)
def test_each_set_is_refused_in_one_sentence_that_names_the_file(read: Said, case: str):
    found = read["npz", case]
    assert found["kind"] == "ValueError", found
    assert NPZ[case][1] in found["said"]
    assert "set.npz: " in found["said"]
    assert "\n" not in found["said"]
    assert len(found["said"]) < 400


@pytest.mark.parametrize("case", UPLOADS)
def test_each_upload_is_refused_in_one_sentence(read: Said, case: str):
    found = read["upload", case]
    assert found["kind"] == "ValueError", found
    assert UPLOADS[case][1] in found["said"]
    assert "\n" not in found["said"]
    assert len(found["said"]) < 200


def test_there_are_forty_of_each():
    assert len(NPZ) >= 40
    assert len(UPLOADS) >= 40
