"""What each variant has for attention, recorded and proved."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from core.data.vocabulary import Vocabulary
from core.generation.greedy import attending
from core.inspection.recorded import Recorded, prove
from core.inspection.trace import record, trace
from core.inspection.trace_json import trace_from_dict, trace_to_dict
from core.inspection.traced import AttentionTrace
from core.models.gpt import GPT
from tests.inspection.forged import forge
from tests.with_task import with_task

MakeGPT = Callable[..., GPT]
QUESTION = "Where was Ada Arden born?"  # 26 tokens with its mark
M = 20
VARIANTS: dict[str, dict[str, Any]] = {
    "synthesizer": {"attention": "synthesizer"},
    "dense-synthesizer": {"attention": "dense-synthesizer"},
    "elu": {"attention": "elu"},
    "favor": {"attention": "favor", "positions": "rotary"},
    "taylor": {"attention": "taylor"},
    "taylor-even": {"attention": "taylor", "n_terms": 2},
    "delta": {"attention": "delta"},
    "gated-delta": {"attention": "gated-delta", "positions": "rotary"},
    "gate": {"attention": "gate"},
    "window": {"attention": "window", "window": 6, "n_sinks": 2},
    "based": {"attention": "based", "window": 6},
    "perceiver": {"n_latents": M, "n_layers": 4},
    "perceiver-plain": {"n_latents": M, "n_layers": 2, "latent_residual": False},
    "perceiver-rotary": {"n_latents": M, "n_layers": 3, "positions": "rotary"},
    "perceiver-stride": {"n_latents": 24, "latent_stride": 2, "n_layers": 3},
    "perceiver-wide": {"n_latents": 48, "n_layers": 3},
    "perceiver-latent-norm": {"n_latents": M, "n_layers": 3, "latent_norm": "latents"},
}


@pytest.fixture(scope="module")
def make(make_gpt: MakeGPT, characters: Vocabulary) -> Callable[[str], GPT]:
    def build(name: str) -> GPT:
        sizes: dict[str, Any] = {"block_size": 48, **VARIANTS[name]}
        return make_gpt(seed=5, vocabulary_size=characters.size, **sizes)

    return build


@pytest.fixture(scope="module", params=VARIANTS)
def model(request: pytest.FixtureRequest, make: Callable[[str], GPT]) -> GPT:
    return make(request.param)


@pytest.fixture(scope="module")
def traced(model: GPT, characters: Vocabulary) -> AttentionTrace:
    return trace(with_task(model, characters), QUESTION)


def at(values: np.ndarray, rows: tuple[int, ...], columns: tuple[int, ...]) -> np.ndarray:
    """The part of (H, L, L) where something stands."""
    return values[:, list(rows)][:, :, list(columns)]


def unseen(
    seen: AttentionTrace, rows: NDArray[np.int_], columns: NDArray[np.int_]
) -> NDArray[np.bool_]:
    """(rows, columns): the future, and what is outside of a window."""
    later = columns > rows[:, None]
    if seen.mechanism != "window":
        return later
    return later | ((columns <= rows[:, None] - 6) & (columns >= 2))


def test_the_replayed_logits_equal_the_models_own_pass(traced: AttentionTrace):
    assert traced.proof.replay_max_difference < 1e-4
    assert (traced.proof.row_sum_max_error < 1e-6) is traced.is_normalised
    assert traced.proof.future_exactly_zero is True


@torch.inference_mode()
def test_the_proof_notices_a_falsified_weight_in_every_layer(
    model: GPT, monkeypatch: pytest.MonkeyPatch
):
    ids = torch.randint(2, 60, (1, 26), generator=torch.Generator().manual_seed(3))
    fused = model.run(ids, attending(None))

    def falsify(weights: NDArray[np.float32], so_far: Recorded) -> None:
        row, columns = so_far.rows[-1][3], so_far.columns[-1][:2]
        weights[1, row, columns] += [0.2, -0.2]  # the row still sums to 1

    for layer in range(model.shape.n_layers):
        with monkeypatch.context() as forging:
            forge(forging, falsify, layer)
            forged, replayed = record(model, ids)
        proof = prove(forged, replayed, fused)
        assert proof.replay_max_difference > 1e-3
        assert proof.future_exactly_zero
        forged.arrays["weights"][layer, 0, forged.rows[layer][2], forged.columns[layer][5]] = 1e-30
        assert not prove(forged, replayed, fused).future_exactly_zero


def test_rows_sum_to_one_if_normalised_and_all_else_is_masked(traced: AttentionTrace):
    for layer in range(traced.n_layers):
        rows, columns = traced.rows(layer), traced.columns(layer)
        weights = at(traced.weights[layer], rows, columns)
        if traced.is_normalised:
            np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-6)
        later = unseen(traced, np.array(rows), np.array(columns))
        assert np.array_equal(np.isneginf(at(traced.scores[layer], rows, columns))[0], later)
        assert np.isfinite(traced.scores[layer]).sum() == traced.n_heads * (~later).sum()
        assert np.count_nonzero(traced.weights[layer]) <= traced.n_heads * (~later).sum()


def test_outputs_are_weights_times_values(traced: AttentionTrace):
    np.testing.assert_allclose(traced.output, traced.weights @ traced.value, atol=1e-4)


@pytest.mark.parametrize("name", ["synthesizer", "dense-synthesizer"])
def test_a_synthesizer_has_no_query_and_no_key(
    name: str, make: Callable[[str], GPT], characters: Vocabulary
):
    seen = trace(with_task(make(name), characters), QUESTION)
    assert seen.query is None
    assert seen.key is None
    assert seen.scores.shape == seen.weights.shape == (2, 2, seen.n_tokens, seen.n_tokens)
    assert seen.latent_positions == ()
    assert seen.rows(0) == seen.columns(0) == tuple(range(seen.n_tokens))
    assert not seen.latents_look(0)
    assert not seen.latents_seen(1)


@pytest.mark.parametrize(
    ("name", "standing"),
    [
        ("perceiver", range(M)),
        ("perceiver-plain", range(M)),
        ("perceiver-stride", range(0, 48, 2)),
        ("perceiver-wide", range(48)),
    ],
)
def test_a_perceivers_latents_are_rows_below_and_columns_above(
    name: str, standing: range, make: Callable[[str], GPT], characters: Vocabulary
):
    seen = trace(with_task(make(name), characters), QUESTION)
    tokens = tuple(range(seen.n_tokens))
    latents = tuple(position for position in standing if position < seen.n_tokens)
    assert seen.latent_positions == latents
    last = seen.n_layers - 1
    assert (seen.rows(0), seen.columns(0)) == (latents, tokens)
    assert (seen.rows(last), seen.columns(last)) == (tokens, latents)
    assert (seen.latents_look(last), seen.latents_seen(last)) == (False, True)
    assert (seen.latents_look(0), seen.latents_seen(0)) == (True, False)
    for layer in range(1, last):
        assert (seen.rows(layer), seen.columns(layer)) == (latents, latents)


def test_visible_is_where_something_looks_at_its_past(traced: AttentionTrace):
    for layer in range(traced.n_layers):
        expected = np.zeros((traced.n_tokens, traced.n_tokens), dtype=bool)
        rows, columns = (np.array(x(layer)) for x in (traced.rows, traced.columns))
        expected[np.ix_(rows, columns)] = ~unseen(traced, rows, columns)
        assert np.array_equal(traced.visible[layer], expected)


def test_the_last_row_at_a_position_is_its_own_or_that_of_a_latent_before(
    make: Callable[[str], GPT], characters: Vocabulary
):
    seen = trace(with_task(make("perceiver-stride"), characters), QUESTION)
    for position in range(seen.n_tokens):
        assert seen.last_row(0, position) == seen.last_row(1, position) == position // 2 * 2
        assert seen.last_row(2, position) == position


def test_scores_of_a_perceiver_are_those_of_its_queries_and_keys(
    make: Callable[[str], GPT], characters: Vocabulary
):
    seen = trace(with_task(make("perceiver-stride"), characters), QUESTION)
    assert seen.query is not None
    assert seen.key is not None
    products = seen.query @ seen.key.swapaxes(-1, -2) / seen.query.shape[-1] ** 0.5
    there = np.isfinite(seen.scores)
    np.testing.assert_allclose(seen.scores[there], products[there], atol=1e-4)


def test_every_variant_survives_json_text(traced: AttentionTrace):
    again = trace_from_dict(json.loads(json.dumps(trace_to_dict(traced), allow_nan=False)))
    assert again.latent_positions == traced.latent_positions
    assert (again.query is None) == (traced.query is None)
    np.testing.assert_allclose(again.scores, traced.scores, rtol=1e-5)
    np.testing.assert_allclose(again.output, traced.output, rtol=1e-4, atol=1e-30)


def test_a_trace_that_was_stored_before_there_were_latents_has_none(small_trace: AttentionTrace):
    stored = trace_to_dict(small_trace)
    del stored["latent_positions"]
    assert trace_from_dict(stored).latent_positions == ()
