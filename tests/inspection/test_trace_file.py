"""A trace in a file: exact or rounded, all heads or some, and strict about what it reads."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.inspection.opened import open_trace
from core.inspection.recomputed import recompute
from core.inspection.trace import trace
from core.inspection.trace_file import read_trace_file, save_trace
from core.inspection.trace_format import Origin
from core.inspection.trace_json import said_of, trace_to_dict
from core.inspection.traced import ARRAYS, AttentionTrace, no_scores
from core.models.gpt import GPT
from tests.inspection.hostile_traces import HOSTILE, put_together, taken_apart
from tests.with_task import with_task

ROOT = Path(__file__).parents[2]
ORIGIN = Origin(model="mine", family="gpt2", weights="ab" * 32, versions={"torch": "2.13.0"})


def saved(path: Path, found: AttentionTrace, **how: Any) -> Path:
    save_trace(path / "x.trace", found, **how)
    return path / "x.trace"


def test_a_trace_with_everything_comes_back_exactly(tmp_path: Path, traced: AttentionTrace):
    again = read_trace_file(saved(tmp_path, traced, with_vectors=True, origin=ORIGIN))
    assert (again.origin, again.precision) == (ORIGIN, "float32")
    assert said_of(again.trace) == said_of(traced)
    for name in ARRAYS:
        assert np.array_equal(getattr(again.trace, name), getattr(traced, name)) or name == "sink"
    assert again.trace.sink is None
    assert again.recomputed == recompute(traced)
    assert again.recomputed.output_max_difference is not None
    assert again.recomputed.output_max_difference < 1e-5


def test_without_vectors_a_trace_is_small_and_has_the_same_weights(
    tmp_path: Path, traced: AttentionTrace
):
    again = read_trace_file(saved(tmp_path, traced)).trace
    assert np.array_equal(again.weights, traced.weights)
    assert np.array_equal(again.contribution, traced.contribution)
    assert np.array_equal(again.visible, traced.visible)
    assert again.query is None
    assert again.key is None
    assert (again.value.size, again.output.size, again.scores.size) == (0, 0, 0)
    assert (
        read_trace_file((tmp_path / "x.trace").read_bytes()).recomputed.output_max_difference
        is None
    )
    save_trace(tmp_path / "all.trace", traced, with_vectors=True)
    small, large = ((tmp_path / name).stat().st_size for name in ("x.trace", "all.trace"))
    assert small < large / 2


@pytest.mark.parametrize("with_vectors", [True, False])
def test_in_half_precision_every_number_is_within_its_rounding(
    tmp_path: Path, traced: AttentionTrace, with_vectors: bool
):
    path = saved(tmp_path, traced, precision="float16", with_vectors=with_vectors)
    again = read_trace_file(path)
    assert again.precision == "float16"
    np.testing.assert_allclose(again.trace.weights, traced.weights, rtol=2**-11, atol=2**-25)
    assert np.array_equal(again.trace.value_norm, traced.value_norm)
    assert (
        again.trace.weights[~np.broadcast_to(traced.visible[:, None], traced.weights.shape)] == 0
    ).all()
    assert 0 < again.recomputed.row_sum_max_error < 2**-10
    assert again.recomputed.masked_exactly_zero
    if with_vectors:
        assert again.trace.key is not None
        assert traced.key is not None
        np.testing.assert_allclose(again.trace.key, traced.key, rtol=2**-11, atol=2**-25)


def test_of_chosen_heads_alone_there_are_numbers(tmp_path: Path, traced: AttentionTrace):
    path = saved(tmp_path, traced, heads=[(1, 1), (0, 0), (1, 1)])
    again = read_trace_file(path).trace
    assert again.recorded == again.heads == ((0, 0), (1, 1))
    assert again.not_recorded.tolist() == [[False, True], [True, False]]
    for at in again.heads:
        assert np.array_equal(again.weights[at], traced.weights[at])
        assert np.array_equal(again.value_norm[at], traced.value_norm[at])
    assert not again.weights[0, 1].any()
    assert not again.value_norm[1, 0].any()
    assert (again.n_layers, again.n_heads) == (traced.n_layers, traced.n_heads)
    save_trace(tmp_path / "less.trace", again, heads=[(1, 1)], with_vectors=True)
    assert read_trace_file(tmp_path / "less.trace").trace.recorded == ((1, 1),)
    with pytest.raises(ValueError, match="L0·H1 is not recorded in this trace"):
        save_trace(tmp_path / "more.trace", again, heads=[(0, 1)])
    assert not (tmp_path / "more.trace").exists()


def test_all_heads_of_a_trace_are_recorded_unless_told(traced: AttentionTrace, tmp_path: Path):
    assert traced.heads == ((0, 0), (0, 1), (1, 0), (1, 1))
    assert not traced.not_recorded.any()
    assert read_trace_file(saved(tmp_path, traced, heads=traced.heads)).trace.recorded == ()


def test_every_kind_of_model_survives(tmp_path: Path, variant: GPT, characters: Any):
    found = trace(with_task(variant, characters), "Where was Ada Arden born?")
    again = read_trace_file(saved(tmp_path, found, with_vectors=True)).trace
    assert said_of(again) == said_of(found)
    assert np.array_equal(again.weights, found.weights)
    assert np.array_equal(again.visible, found.visible)
    half = read_trace_file(saved(tmp_path, found, precision="float16"))
    assert half.recomputed.masked_exactly_zero


def test_sinks_and_layers_of_three_kinds_survive(tmp_path: Path, small_trace: AttentionTrace):
    weights = np.zeros((3, 2, 3, 3), np.float32)
    weights[0, :, 0, 0], weights[1, :, 1, 1], weights[2, :, 1, 0] = 0.75, 0.75, 0.75
    weights[1, :, 2, 1:], weights[2, :, 2, 0] = 0.375, 0.75
    sink = np.where(weights.any(-1), np.float32(0.25), np.float32(0))
    both = replace(
        small_trace,
        kinds=("encoder", "decoder", "cross"),
        n_source=1,
        n_kv_heads=1,
        special=(True, False, False),
        lacking=("No answer.",),
        scores=no_scores(),
        seen=weights.any(1),
        weights=weights,
        sink=sink,
        value_norm=np.ones((3, 2, 3), np.float32),
        query=None,
        key=None,
        value=np.zeros((3, 2, 3, 0), np.float32),
        output=np.zeros((3, 2, 3, 0), np.float32),
    )
    again = read_trace_file(saved(tmp_path, both))
    assert said_of(again.trace) == said_of(both)
    assert again.trace.sink is not None
    assert np.array_equal(again.trace.sink, sink)
    assert np.array_equal(again.trace.visible, both.visible)
    assert again.recomputed.row_sum_max_error == 0
    with pytest.raises(
        ValueError, match=r"a row of L0·H0 sums to 1 within 0\.25; its proof says 0"
    ):
        read_trace_file(saved(tmp_path, replace(both, sink=None)))


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"precision": "int8"}, "precision 'int8'; allowed: float32, float16"),
        ({"heads": []}, "no heads: name at least one"),
        ({"heads": [(0, 7)]}, "L0·H7 is not a head of this model"),
    ],
)
def test_what_cannot_be_written_is_refused(
    tmp_path: Path, small_trace: AttentionTrace, how: dict[str, Any], message: str
):
    with pytest.raises(ValueError, match=message):
        save_trace(tmp_path / "x.trace", small_trace, **how)
    assert not list(tmp_path.iterdir())


def test_a_number_beyond_half_precision_asks_for_the_whole(
    tmp_path: Path, small_trace: AttentionTrace
):
    large = replace(small_trace, output=small_trace.output + np.float32(1e5))
    with pytest.raises(ValueError, match="output holds 1e\\+05; float16 ends at 65504: save with"):
        saved(tmp_path, large, precision="float16", with_vectors=True)
    saved(tmp_path, large, with_vectors=True)
    broken = replace(small_trace, weights=small_trace.weights * np.float32(np.nan))
    with pytest.raises(ValueError, match="weights holds nan; float32 ends at"):
        saved(tmp_path, broken)


def test_a_trace_file_has_its_name(tmp_path: Path, small_trace: AttentionTrace):
    with pytest.raises(ValueError, match=r"x\.json: a trace file is named FILE\.trace"):
        save_trace(tmp_path / "x.json", small_trace)
    with pytest.raises(ValueError, match=r"none\.trace: cannot be read \(No such file"):
        read_trace_file(tmp_path / "none.trace")


def test_what_a_reader_would_refuse_is_not_written(tmp_path: Path, small_trace: AttentionTrace):
    with pytest.raises(ValueError, match="word_starts has 1 entries; 3 are needed"):
        saved(tmp_path, replace(small_trace, word_starts=(True,)))


HELD = """
import resource
from core.inspection.trace_file import read_trace_file
resource.setrlimit(resource.RLIMIT_AS, (10**9,) * 2)
for path in arguments:
    try:
        print(read_trace_file(path).trace.answer)
    except ValueError as error:
        print(error)
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A small file, to be broken."""
    weights = np.array([[[1, 0, 0], [0.5, 0.5, 0], [0.1, 0.8, 0.1]]] * 2, np.float32)
    said = {
        "question": "a b",
        "answer": "c",
        "probability": 0.25,
        "tokens": ["·a", "·b", "⁇"],
        "word_starts": [True, True, True],
        "name_positions": [1],
        "steps": [
            {
                "row": 2,
                "position": 3,
                "token": "·c",
                "probability": 0.25,
                "next_best": [["·d", 0.2]],
            }
        ],
        "proof": {
            "replay_max_difference": 1e-6,
            "row_sum_max_error": 0.0,
            "future_exactly_zero": True,
            "dtype": "float32",
        },
    }
    description = {
        "version": 1,
        "precision": "float32",
        "origin": {"model": "mine"},
        "n_layers": 1,
        "n_heads": 2,
        "seen_of": [0],
        "said": said,
    }
    arrays = {
        "weights": weights,
        "value_norm": np.ones((2, 3), np.float32),
        "seen": np.tri(3, dtype=np.bool_)[None],
    }
    return put_together(arrays, description)


@pytest.fixture(scope="module")
def heard(
    whole: bytes, tmp_path_factory: pytest.TempPathFactory, limited: Callable[..., list[str]]
) -> dict[str, str]:
    """What is said of each file in a process that gets one gigabyte; nothing ends it."""
    folder = tmp_path_factory.mktemp("hostile")
    paths = [folder / f"{number}.trace" for number in range(len(HOSTILE) + 1)]
    for path, data in zip(
        paths, [whole, *(make(whole) for make, _ in HOSTILE.values())], strict=True
    ):
        path.write_bytes(data)
    lines = limited(HELD, *paths)
    assert [path.exists() for path in paths] == [True] * len(lines)
    said = [line.removeprefix(f"{path}: ") for line, path in zip(lines, paths, strict=True)]
    return dict(zip(["whole", *HOSTILE], said, strict=True))


def test_the_file_that_is_to_be_broken_is_whole(whole: bytes, heard: dict[str, str]):
    assert heard["whole"] == "c"
    assert put_together(*taken_apart(whole)) == whole
    assert len(HOSTILE) >= 30


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_broken_file_is_refused_in_one_sentence_and_little_memory(
    kind: str, whole: bytes, heard: dict[str, str]
):
    make, message = HOSTILE[kind]
    with pytest.raises(ValueError, match=message) as caught:
        read_trace_file(make(whole))
    assert heard[kind] == str(caught.value)
    assert len(heard[kind]) < 400


def test_a_json_trace_is_read_as_strictly(small_trace: AttentionTrace):
    stored = trace_to_dict(small_trace)
    again = open_trace("x.JSON", json.dumps(stored).encode())
    assert (again.precision, again.origin) == ("JSON", Origin())
    assert said_of(again.trace) == said_of(small_trace)
    for change, message in (
        ({"mechanism": "magic"}, "mechanism 'magic'; known are"),
        ({"tokens": [1, 2, 3]}, "Expected `str`, got `int`"),
        ({"run": "rm"}, "unknown field `run`"),
        ({"weights": [[[[1e300] * 3] * 3] * 2]}, "weights holds numbers that are not finite"),
        ({"weights": [[[[0.5] * 3] * 3] * 2]}, "nothing masked has weight, but something has"),
        ({"value_norm": [[[-1.0] * 3] * 2]}, "value_norm holds negative numbers"),
        ({"value": [[]]}, "not a stored trace: value has shape"),
    ):
        with pytest.raises(ValueError, match=message):
            open_trace("x.json", json.dumps({**stored, **change}).encode())
    with pytest.raises(ValueError, match="a JSON object is needed"):
        open_trace("x.json", b"[]")
    with pytest.raises(ValueError, match="the file: not JSON"):
        open_trace("x.json", b"\xff")
    with pytest.raises(ValueError, match="header claims"):
        open_trace("../x.exe", json.dumps(stored).encode())


def test_a_stored_home_trace_is_one_that_can_be_opened():
    found = open_trace("home.json", (ROOT / "assets" / "home_trace.json").read_bytes())
    assert found.recomputed.row_sum_max_error < 1e-4
    assert found.trace.answer


def test_files_are_read_and_written_without_torch():
    code = (
        "import sys, core.inspection.opened, core.inspection.trace_file; "
        "print([m for m in ('torch', 'streamlit') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
