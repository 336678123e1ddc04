"""Head scores without the first token, with a learned sink, of encoders and of cross-attention."""

from math import log

import numpy as np
import pytest

from core.inspection.scores import SCORES, Look, head_scores, uniform_over
from core.inspection.sinks import without_first
from tests.inspection.heads_by_hand import first_token_head, previous_token_head

N = 12


def test_the_sink_share_is_the_weight_on_the_first_token_and_what_a_learned_sink_takes():
    assert float(head_scores(first_token_head(N)).sink_share) == 1
    assert float(head_scores(previous_token_head(N)).sink_share) == 0
    uniform = uniform_over(np.tri(N, dtype=np.bool_))
    assert uniform.sink_share == uniform.first_token
    weights, taken = 0.75 * first_token_head(N), np.full(N, 0.25)
    taken[:2] = 0.9  # rows that do not count
    found = head_scores(weights, sink=taken)
    assert (float(found.first_token), float(found.sink_share)) == (0.75, 1)
    others = head_scores(weights, look=Look(no_first=True), sink=taken)
    assert float(others.sink_share) == 1  # of the rows as they are


def test_with_a_learned_sink_entropy_is_that_of_the_rest():
    half = 0.5 * np.tri(N) / np.arange(1, N + 1)[:, None]
    found = head_scores(half, sink=np.full(N, 0.5))
    assert float(found.normalised_entropy) == pytest.approx(1)
    assert float(found.previous_token) == pytest.approx(
        float(uniform_over(np.tri(N, dtype=np.bool_)).previous_token) / 2
    )


def test_without_the_first_token_scores_are_those_of_the_renormalised_rows():
    weights = np.tril(np.random.default_rng(5).random((3, N, N)))
    weights[1, :, 0] *= 100
    weights /= weights.sum(-1, keepdims=True)
    found = head_scores(weights, (1, 4), look=Look(no_first=True))
    others, rows = without_first(weights), range(2, N)
    for head in range(3):
        one = others[head]
        entropy = {i: -sum(w * log(w) for w in one[i, 1 : i + 1]) for i in rows}
        expected = {
            "previous_token": sum(one[i, i - 1] for i in rows),
            "name": sum(one[i, 1] + one[i, 4] for i in rows),
            "entropy": sum(entropy.values()),
            "normalised_entropy": sum(value / log(i) for i, value in entropy.items()),
            "distance": sum(one[i, j] * (i - j) for i in rows for j in range(i)),
            "sink_share": sum(weights[head, i, 0] for i in rows),
        }
        for name, total in expected.items():
            assert getattr(found, name)[head] == pytest.approx(total / len(rows), rel=1e-9)
    assert np.isnan(found.first_token).all()
    assert found.sink_share[1] > 0.8


def test_where_nothing_is_left_without_the_first_token_only_its_share_is_a_number():
    found = head_scores(first_token_head(N), (1,), look=Look(no_first=True))
    assert float(found.sink_share) == 1
    others = [name for name in SCORES if name != "sink_share"]
    assert all(np.isnan(getattr(found, name)) for name in others)


def test_a_uniform_head_without_the_first_token_has_entropy_one_over_what_is_left():
    found = uniform_over(np.tri(N, dtype=np.bool_), look=Look(no_first=True))
    assert float(found.normalised_entropy) == pytest.approx(1, rel=1e-12)
    rows = range(2, N)
    assert float(found.previous_token) == pytest.approx(sum(1 / i for i in rows) / len(rows))


def encoder_head(offset: int) -> np.ndarray:
    """Every row looks at one neighbour; the row that has none at itself."""
    weights = np.eye(N, k=offset)
    weights[0 if offset < 0 else N - 1, 0 if offset < 0 else N - 1] = 1
    return weights


def test_in_an_encoder_every_row_counts_and_neighbours_are_on_both_sides():
    look = Look(kind="encoder")
    for offset, score, other in ((-1, "previous_token", "next_token"), (1, *SCORES[1::-1])):
        found = head_scores(encoder_head(offset), look=look)
        assert float(getattr(found, score)) == 1
        assert float(getattr(found, other)) == 0
        assert float(found.distance) == pytest.approx((N - 1) / N)
    both = uniform_over(np.ones((N, N), dtype=np.bool_), (2,), look)
    assert float(both.normalised_entropy) == pytest.approx(1)
    for name in ("previous_token", "next_token", "first_token", "name"):
        assert float(getattr(both, name)) == pytest.approx(1 / N)
    assert float(both.distance) == pytest.approx(np.abs(np.subtract.outer(*[range(N)] * 2)).mean())
    assert float(head_scores(np.ones((1, 1)), look=look).first_token) == 1  # one token is enough


def test_an_encoder_with_a_window_is_read_against_what_its_rows_may_see():
    at = np.arange(N)
    window = np.abs(at[:, None] - at) <= 1
    found = uniform_over(window, look=Look(kind="encoder"))
    assert float(found.normalised_entropy) == pytest.approx(1)
    assert float(found.previous_token) == pytest.approx(((N - 2) / 3 + 1 / 2) / (N - 1))
    # The second row's token before is the first token, and no key without it.
    others = head_scores(encoder_head(-1), look=Look(kind="encoder", no_first=True))
    assert float(others.previous_token) == 1
    nothing = head_scores(np.eye(N), visible=np.eye(N, dtype=bool), look=Look(kind="encoder"))
    assert np.isnan(nothing.previous_token)
    assert np.isnan(nothing.next_token)


def test_cross_attention_has_no_neighbours_and_no_distance():
    found = head_scores(np.full((N, N), 1 / N), (3,), look=Look(kind="cross"))
    assert all(
        np.isnan(getattr(found, name)) for name in ("previous_token", "next_token", "distance")
    )
    assert float(found.name) == float(found.first_token) == pytest.approx(1 / N)
    assert float(found.normalised_entropy) == pytest.approx(1)
