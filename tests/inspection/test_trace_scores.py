"""Scores of every layer of a trace are those of what its rows look at, whatever its kind."""

from dataclasses import replace

import numpy as np
import pytest

from core.inspection.scores import SCORES, Look, head_scores, name_to_answer
from core.inspection.trace_scores import trace_baseline, trace_scores
from core.inspection.traced import AttentionTrace


def test_scores_of_a_trace_with_a_source_are_those_of_each_layers_own_text(
    two_texts: AttentionTrace,
):
    found, uniform = trace_scores(two_texts), trace_baseline(two_texts)
    source, text = slice(0, 4), slice(4, 8)
    alone = [
        head_scores(two_texts.weights[0][:, source, source], (1,), look=Look(kind="encoder")),
        head_scores(two_texts.weights[1][:, text, text]),
    ]
    for layer, expected in enumerate(alone):
        for name in SCORES:
            if name != "name":
                np.testing.assert_allclose(getattr(found, name)[layer], getattr(expected, name))
    np.testing.assert_allclose(found.name[0], alone[0].name)
    np.testing.assert_allclose(found.name[2], two_texts.weights[2][:, text, 1].mean(-1))
    assert np.isnan(found.name[1]).all()  # it stands in the source
    np.testing.assert_allclose(found.first_token[1], two_texts.weights[1][:, 6:8, 4].mean(-1))
    assert uniform.first_token[2, 0] == pytest.approx(1 / 4)
    np.testing.assert_allclose(uniform.normalised_entropy, 1)


def test_of_two_tokens_a_trace_has_no_scores_but_no_error(small_trace: AttentionTrace):
    short = replace(
        small_trace,
        weights=small_trace.weights[..., :2, :2],
        scores=small_trace.scores[..., :2, :2],
        name_positions=(),
    )
    assert all(np.isnan(getattr(trace_scores(short), name)).all() for name in SCORES)
    assert trace_baseline(short).distance.shape == (1, 1)


def test_where_nothing_is_written_or_the_row_does_not_look_at_the_name_it_brings_nothing(
    small_trace: AttentionTrace, two_texts: AttentionTrace
):
    assert np.isnan(name_to_answer(replace(small_trace, steps=()))[0]).all()
    brought, uniform = name_to_answer(two_texts)
    assert np.isnan(brought[:2]).all()
    row, norms = two_texts.steps[0].row, two_texts.value_norm[2][:, 1]
    np.testing.assert_allclose(brought[2], two_texts.weights[2][:, row, 1] * norms)
    np.testing.assert_allclose(uniform[2], norms / 4)
