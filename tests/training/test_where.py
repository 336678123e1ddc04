"""Where a training runs: what can be, what cannot and why, and how it is written."""

import re
import subprocess
import sys
from typing import Any

import pytest

from core.training.where import Where, where_from_dict


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"processes": 2},
        {"device": "cuda", "precision": "tf32", "processes": 4},
        {"device": "cuda:3", "precision": "bfloat16"},
        {"device": "mps", "precision": "bfloat16"},
    ],
)
def test_a_place_is_read_as_it_was_written(given: dict[str, Any]):
    where = Where(**given)
    assert where_from_dict(where.to_dict()) == where


def test_a_run_from_before_there_was_a_choice_was_on_the_processor():
    assert where_from_dict(None) == Where(device="cpu", precision="float32", processes=1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"device": "auto"}, "device 'auto'; devices: cpu, cuda, cuda:N, mps"),
        ({"device": "cuda:x"}, "device 'cuda:x'; devices"),
        ({"precision": "float16"}, "precision 'float16'; precisions: float32, tf32, bfloat16"),
        ({"precision": "tf32"}, "precision tf32 is for cuda; cpu computes in float32"),
        ({"precision": "bfloat16"}, "precision bfloat16 is for cuda and mps; cpu computes in"),
        ({"device": "mps", "precision": "tf32"}, "precision tf32 is for cuda; mps computes in"),
        ({"processes": 0}, "0 processes: 1 to 64 are possible"),
        ({"processes": True}, "True processes: 1 to 64"),
        ({"device": "mps", "processes": 2}, "2 processes on mps, which is one device"),
        ({"device": "cuda:1", "processes": 2}, "2 processes on cuda:1, which is one device"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        Where(**given)


def test_a_place_of_a_later_version_is_refused():
    with pytest.raises(ValueError, match="unknown keys: nodes"):
        where_from_dict({"nodes": 2})


def test_a_place_is_known_without_torch():
    code = "import core.training.where, sys; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"device": "cuda", "precision": "tf32"}, "cuda, which rounds .* to TF32"),
        ({"device": "mps", "precision": "bfloat16"}, "mps, which .* in bfloat16"),
        ({"processes": 2}, "cpu in 2 processes, which computes in float32"),
    ],
)
def test_a_log_is_told_what_differs_from_the_processor(given: dict[str, Any], said: str):
    assert re.fullmatch(f"trains on {said}.*", Where(**given).said)
