"""Linear attention under inspection: effective weights, and what negative ones allow."""

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core.data.vocabulary import Vocabulary
from core.inspection.captions import mechanism_note
from core.inspection.scores import head_scores
from core.inspection.trace import trace
from core.inspection.trace_json import trace_from_dict, trace_to_dict
from core.inspection.traced import AttentionTrace
from core.models.gpt import GPT
from tests.with_task import with_task

QUESTION = "Where was Ada Arden born?"
Traced = Callable[..., AttentionTrace]


@pytest.fixture(scope="module")
def traced(make_gpt: Callable[..., GPT], characters: Vocabulary) -> Traced:
    def make(**sizes: Any) -> AttentionTrace:
        model = make_gpt(seed=5, vocabulary_size=characters.size, block_size=48, **sizes)
        return trace(with_task(model, characters), QUESTION)

    return make


@pytest.fixture(scope="module")
def negative(traced: Traced) -> AttentionTrace:
    """Two terms: 1 + s is below 0 for every score below −1."""
    return traced(attention="taylor", n_terms=2)


@pytest.mark.parametrize("attention", ["elu", "favor", "taylor"])
def test_a_trace_names_its_mechanism_and_has_queries_keys_and_their_products(
    traced: Traced, attention: str
):
    seen = traced(attention=attention)
    assert (seen.mechanism, seen.is_linear) == (attention, True)
    assert seen.query is not None
    assert seen.key is not None
    visible = np.isfinite(seen.scores)
    assert np.array_equal(visible[:, 0], np.tile(np.tri(seen.n_tokens, dtype=bool), (2, 1, 1)))
    shown = np.where(visible, seen.scores, 0)
    expected = shown / shown.sum(-1, keepdims=True)
    np.testing.assert_allclose(seen.weights, expected, atol=1e-4)
    assert not traced().is_linear


def test_scores_of_a_taylor_model_are_the_polynomial_of_its_logits(traced: Traced):
    seen = traced(attention="taylor")
    assert seen.query is not None
    assert seen.key is not None
    logits = seen.query @ seen.key.swapaxes(-1, -2) / seen.query.shape[-1] ** 0.5
    visible = np.isfinite(seen.scores)
    expected = (1 + logits + logits**2 / 2)[visible]
    np.testing.assert_allclose(seen.scores[visible], expected, rtol=1e-3, atol=1e-3)


def test_a_mechanism_survives_json_and_older_traces_are_softmax(negative: AttentionTrace):
    stored = json.loads(json.dumps(trace_to_dict(negative), allow_nan=False))
    again = trace_from_dict(stored)
    assert again.mechanism == "taylor"
    np.testing.assert_allclose(again.weights, negative.weights, rtol=1e-5)
    del stored["mechanism"]
    assert trace_from_dict(stored).mechanism == "softmax"


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ({"attention": "elu"}, r"the map elu \+ 1: .* none of them is negative here"),
        ({"attention": "favor"}, r"random features \(FAVOR\+\): .* none of them is negative here"),
        ({"attention": "taylor"}, "Taylor polynomial of exp: .* none of them is negative here"),
        (
            {"attention": "taylor", "n_terms": 2},
            r"each row sums to 1; some are negative, down to −",
        ),
    ],
)
def test_the_note_says_what_effective_weights_are(
    traced: Traced, sizes: dict[str, Any], words: str
):
    note = mechanism_note(traced(**sizes))
    assert "there is no softmax and no logit" in note
    assert re.search(words, note)


def test_the_note_of_softmax_is_empty(traced: Traced):
    assert mechanism_note(traced()) == ""


def test_contributions_are_sizes_whatever_the_sign_of_a_weight(negative: AttentionTrace):
    assert negative.weights.min() < 0
    assert negative.contribution.min() == 0
    expected = np.abs(negative.weights) * negative.value_norm[..., None, :]
    assert np.array_equal(negative.contribution, expected)


def test_entropy_of_negative_weights_is_that_of_their_sizes(negative: AttentionTrace):
    scores = head_scores(negative.weights, negative.name_positions)
    assert (scores.normalised_entropy > 0).all()
    assert (scores.normalised_entropy <= 1).all()
    sizes = np.abs(negative.weights)
    again = head_scores(sizes / sizes.sum(-1, keepdims=True))
    np.testing.assert_allclose(scores.entropy, again.entropy, rtol=1e-6)
