"""Readings of maps without their first token, of a source beside a text, of nothing written."""

from dataclasses import replace

import numpy as np
import pytest

from core.inspection.head_rows import score_dict
from core.inspection.patterns import PATTERNS
from core.inspection.readings import named_scores, read_trace
from core.inspection.sinks import without_first
from core.inspection.traced import AttentionTrace, no_scores


def test_without_the_first_token_readings_are_those_of_the_renormalised_maps(
    traced: AttentionTrace,
):
    found = read_trace(traced)
    others = read_trace(replace(traced, weights=without_first(traced.weights))).scores
    apart = found.without_first
    assert apart is not None
    for name in ("previous_token", "name", "entropy", "distance"):
        np.testing.assert_allclose(getattr(apart.scores, name), getattr(others, name), rtol=1e-5)
    np.testing.assert_array_equal(apart.scores.sink_share, found.scores.first_token)
    np.testing.assert_array_equal(apart.contribution, found.contribution)
    row, name = traced.steps[0].row, list(traced.name_positions)
    left = 1 - traced.weights[:, :, row, 0]
    np.testing.assert_allclose(apart.weight_on_name, found.weight_on_name / left, rtol=1e-5)
    assert apart.uniform_patterns[0, PATTERNS.index("name")] == pytest.approx(len(name) / row)


def test_a_head_is_captioned_without_the_first_token_where_that_is_asked_for(
    traced: AttentionTrace,
):
    weights = np.tril(np.full_like(traced.weights, 1e-4))
    weights[..., 0] += 0.8
    before = np.eye(traced.n_tokens, k=-1, dtype=np.float32)
    weights = weights + before
    weights[..., 0] += 3
    weights /= weights.sum(-1, keepdims=True)
    found = read_trace(replace(traced, weights=weights))
    assert named_scores(found).caption(0, 0) == "first token"
    scores = named_scores(found, apart=True)
    assert scores.caption(0, 0) == "previous token, sink 79 %"
    assert "looks at the previous token" in scores.sentence(0, 0)
    numbers = score_dict(scores, 0, 0)
    assert numbers["sink_share"] == pytest.approx(float(found.scores.first_token[0, 0]))
    assert numbers["scores"]["first_token"] == pytest.approx(numbers["sink_share"])
    assert numbers["scores"]["previous_token"] < 0.25
    assert numbers["scores_without_first"]["previous_token"] > 0.99
    assert numbers["scores_without_first"]["first_token"] is None
    assert numbers["scores"]["next_token"] is None
    assert set(numbers["scores"]) == set(numbers["scores_without_first"])
    assert {"surname", "answer_mark", "normalised_entropy", "distance"} <= set(numbers["scores"])


def test_readings_of_a_source_and_a_text_keep_them_apart(two_texts: AttentionTrace):
    found = read_trace(two_texts)
    assert np.isnan(found.contribution[:2]).all()
    row, norms = two_texts.steps[0].row, two_texts.value_norm[2][:, 1]
    np.testing.assert_allclose(found.contribution[2], two_texts.weights[2][:, row, 1] * norms)
    np.testing.assert_allclose(found.weight_on_name[2], two_texts.weights[2][:, row, 1])
    by_name = {name: found.patterns[..., index] for index, name in enumerate(PATTERNS)}
    assert np.isfinite(by_name["next token"][0]).all()
    assert np.isnan(by_name["next token"][1:]).all()
    assert np.isnan(by_name["previous token"][2]).all()
    assert np.isfinite(by_name["first token"]).all()


def test_a_text_that_writes_nothing_is_read(small_trace: AttentionTrace):
    seen = np.ones((1, 3, 3), dtype=np.bool_)
    found = read_trace(
        replace(small_trace, steps=(), kinds=("encoder",), scores=no_scores(), seen=seen)
    )
    assert np.isnan(found.contribution).all()
    assert np.isfinite(found.scores.next_token).all()


def test_a_learned_sink_counts_as_a_share_of_the_sink(small_trace: AttentionTrace):
    sink = np.full((1, 2, 3), 0.5, dtype=np.float32)
    half = replace(small_trace, weights=small_trace.weights / 2, sink=sink)
    found, whole = read_trace(half), read_trace(small_trace)
    np.testing.assert_allclose(found.scores.sink_share, 0.5 + whole.scores.sink_share / 2)
    for one, other in ((found.without_first, whole.without_first),):
        assert one is not None
        assert other is not None
        np.testing.assert_allclose(one.patterns, other.patterns, rtol=1e-6)
