"""States and windows under inspection: effective weights that sum to what they like, windows."""

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core.data.vocabulary import Vocabulary
from core.inspection.captions import mechanism_note
from core.inspection.recomputed import recompute, refuse_contradictions
from core.inspection.sinks import first_stays
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


@pytest.mark.parametrize("attention", ["delta", "gated-delta", "gate"])
def test_a_states_effective_weights_replay_the_model_and_need_not_sum_to_one(
    traced: Traced, attention: str
):
    seen = traced(attention=attention)
    assert seen.mechanism == attention
    assert (seen.is_linear, seen.has_effective_weights, seen.is_normalised) == (False, True, False)
    assert seen.proof.replay_max_difference < 1e-3
    assert seen.proof.row_sum_max_error > 0.1
    assert seen.proof.future_exactly_zero
    assert seen.weights.min() < 0
    np.testing.assert_allclose(seen.output, seen.weights @ seen.value, atol=1e-3)


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ({"attention": "delta"}, r"The delta rule: .* rows need not sum to 1; some are negative, "),
        ({"attention": "gated-delta"}, r"The gated delta rule: .* solved for\. .* not sum to 1"),
        ({"attention": "gate"}, r"A scalar gate: .* times all gates since\. .* not sum to 1"),
        (
            {"attention": "based", "window": 6},
            r"Based: .* each row sums to 1; none of them is negative here\.",
        ),
        ({"attention": "window", "window": 6}, "what stands between the two is as unseen as the"),
        ({"attention": "window"}, "all of this text is inside"),
    ],
)
def test_the_note_says_what_the_weights_are(traced: Traced, sizes: dict[str, Any], words: str):
    assert re.search(words, mechanism_note(traced(**sizes)))


def test_a_window_hides_what_is_neither_near_nor_a_sink(traced: Traced):
    seen = traced(attention="window", window=6, n_sinks=2)
    assert (seen.has_effective_weights, seen.is_normalised) == (False, True)
    row = seen.n_tokens - 1
    expected = {0, 1, *range(row - 5, row + 1)}
    assert {*np.flatnonzero(seen.visible[0][row])} == expected
    assert not seen.weights[:, :, ~seen.visible[0]].any()
    assert seen.proof.row_sum_max_error < 1e-6


@pytest.mark.parametrize("attention", ["delta", "gate", "window", "based"])
def test_a_stored_trace_is_proved_again_without_its_model(traced: Traced, attention: str):
    seen = traced(attention=attention)
    again = trace_from_dict(json.loads(json.dumps(trace_to_dict(seen), allow_nan=False)))
    assert again.mechanism == attention
    found = recompute(again)
    assert found.masked_exactly_zero
    assert found.output_max_difference is not None
    assert found.output_max_difference < 1e-3
    refuse_contradictions(again, found, "JSON")


def test_the_first_token_stays_where_rows_need_not_sum_to_one(traced: Traced):
    assert "rows need not sum to 1" in first_stays(traced(attention="delta"))
    assert first_stays(traced(attention="based", window=6)) == ""


def test_a_short_convolution_is_told_of_and_takes_the_key_value_cache(traced: Traced):
    seen = traced(attention="delta", short_convolution=4)
    (said,) = seen.lacking
    assert said.startswith("no map tells a token from the 3 before it")
    assert seen.proof.replay_max_difference < 1e-4
    assert traced(attention="delta").lacking == ()
