"""A trace as JSON and back; what holds no trace is named."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.inspection.trace_json import trace_from_dict, trace_to_dict
from core.inspection.traced import ARRAYS, AttentionTrace, no_scores

ROOT = Path(__file__).parents[2]
VALUES = ("question", "answer", "probability", "labels", "word_starts", "name_positions")


def test_a_trace_survives_json_text(small_trace: AttentionTrace):
    text = json.dumps(trace_to_dict(small_trace), allow_nan=False)
    again = trace_from_dict(json.loads(text))
    for name in (*VALUES, "steps", "proof"):
        assert getattr(again, name) == getattr(small_trace, name)
    for name in (*[name for name in ARRAYS if name != "sink"], "contribution"):
        assert getattr(again, name).dtype == np.float32
        np.testing.assert_allclose(getattr(again, name), getattr(small_trace, name), rtol=1e-5)
    assert again.sink is small_trace.sink is None


def test_a_trace_without_scores_says_itself_what_a_row_may_look_at(small_trace: AttentionTrace):
    visible = small_trace.visible
    lean = replace(small_trace, scores=no_scores(), seen=visible, kinds=("encoder",), n_source=2)
    again = trace_from_dict(json.loads(json.dumps(trace_to_dict(lean), allow_nan=False)))
    assert np.array_equal(again.visible, visible)
    assert (again.kinds, again.n_source) == (("encoder",), 2)
    blind = trace_to_dict(replace(lean, seen=None))
    with pytest.raises(ValueError, match="seen has to say what each row of each layer may look"):
        trace_from_dict(blind)
    with pytest.raises(ValueError, match="without scores has to say what a row may look at"):
        _ = replace(lean, seen=None).visible


def test_rows_and_columns_of_a_layer_follow_from_what_it_looks_at(small_trace: AttentionTrace):
    kinds, n = ("encoder", "decoder", "cross"), small_trace.n_tokens
    both = replace(small_trace, kinds=kinds, n_source=1)
    source, target = (0,), tuple(range(1, n))
    assert [both.rows(layer) for layer in range(3)] == [source, target, target]
    assert [both.columns(layer) for layer in range(3)] == [source, target, source]
    assert [both.kind(layer) for layer in range(3)] == list(kinds)
    assert small_trace.kind(0) == "decoder"
    assert small_trace.layers_of("decoder") == list(range(small_trace.n_layers))


def test_a_traced_model_survives_json_text(traced: AttentionTrace):
    again = trace_from_dict(json.loads(json.dumps(trace_to_dict(traced), allow_nan=False)))
    np.testing.assert_allclose(again.scores, traced.scores, rtol=1e-5)
    np.testing.assert_allclose(again.contribution, traced.contribution, rtol=2e-5, atol=1e-30)
    assert again.steps == traced.steps
    assert (again.n_layers, again.n_heads, again.n_tokens) == (2, 2, traced.n_tokens)


def test_masked_scores_are_null_and_come_back_as_minus_infinity(small_trace: AttentionTrace):
    stored = trace_to_dict(small_trace)
    assert stored["scores"][0][0][0] == [0.0, None, None]
    assert stored["weights"][0][0][0] == [1.0, 0.0, 0.0]
    again = trace_from_dict(stored)
    assert np.isneginf(again.scores[0, 0, 0, 1:]).all()
    assert np.isneginf(again.scores).sum() == np.isneginf(small_trace.scores).sum() == 6


def test_numbers_are_stored_with_six_significant_digits(small_trace: AttentionTrace):
    stored = trace_to_dict(small_trace)
    assert stored["scores"][0][1][2][1] == -0.223144  # log 0.8
    assert stored["weights"][0][1][2] == [0.1, 0.8, 0.1]  # not 0.10000000149


@pytest.mark.parametrize("key", ["question", "tokens", "steps", "proof", "weights", "value_norm"])
def test_a_missing_key_is_named(small_trace: AttentionTrace, key: str):
    stored = trace_to_dict(small_trace)
    del stored[key]
    with pytest.raises(ValueError, match=f"not a stored trace: '{key}'"):
        trace_from_dict(stored)


@pytest.mark.parametrize(
    ("where", "key"), [("steps", "row"), ("steps", "next_best"), ("proof", "dtype")]
)
def test_a_missing_key_inside_is_named(small_trace: AttentionTrace, where: str, key: str):
    stored = trace_to_dict(small_trace)
    inner = stored[where][0] if where == "steps" else stored[where]
    del inner[key]
    with pytest.raises(ValueError, match=f"not a stored trace: .*'{key}'"):
        trace_from_dict(stored)


def test_a_null_where_no_score_is_masked_and_a_ragged_array_are_refused(
    small_trace: AttentionTrace,
):
    stored = trace_to_dict(small_trace)
    stored["weights"][0][0][2][1] = None
    with pytest.raises(ValueError, match="not a stored trace: a null in weights"):
        trace_from_dict(stored)
    stored["weights"][0][0][2] = [0.5, 0.5]
    with pytest.raises(ValueError, match="not a stored trace: .*inhomogeneous"):
        trace_from_dict(stored)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("tokens", lambda tokens: tokens * 2, "6 tokens; value has rows for 3"),
        ("word_starts", lambda starts: starts[:2], "3 tokens; value has rows for 3"),
        ("weights", lambda layers: layers * 2, r"weights has shape \(2, 2, 3, 3\); \(1, 2, 3, 3\)"),
        ("value_norm", lambda layers: layers[0], r"value_norm has shape \(2, 3\); \(1, 2, 3\) is"),
        ("query", lambda layers: layers * 2, r"query has shape \(2, 2, 3, 2\); \(1, 2, 3, 2\) is"),
        ("value", lambda layers: layers[0], r"value has shape \(2, 3, 2\); four axes are needed"),
    ],
)
def test_arrays_of_different_sizes_are_refused(
    small_trace: AttentionTrace, name: str, change: Callable[[Any], Any], message: str
):
    stored = trace_to_dict(small_trace)
    with pytest.raises(ValueError, match=f"not a stored trace: {message}"):
        trace_from_dict({**stored, name: change(stored[name])})


@pytest.mark.parametrize("data", [[], "trace", None, {}])
def test_other_json_is_no_trace(data: object):
    with pytest.raises(ValueError, match="not a stored trace"):
        trace_from_dict(data)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    "rooms",
    [
        "core.inspection.traced, core.inspection.scores, core.inspection.fold",
        "core.inspection.captions",
        "core.figures.attention, core.figures.thumbnails, core.figures.template",
    ],
)
def test_records_and_figures_load_without_torch(rooms: str):
    code = f"import sys, {rooms}; print([m for m in ('torch', 'streamlit') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
