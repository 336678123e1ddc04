"""Errors of feature maps beside reference figures (10 seeds, 512 tokens, d = 32)."""

import pytest

from core.bench import approximation, in_order
from core.bench.approximation import (
    UNIFORM,
    draw,
    errors_by_features,
    errors_by_logit,
    errors_by_terms,
    sharpness,
)
from core.catalogue import ONLY_CAUSAL, label


@pytest.mark.parametrize(
    ("largest_logit", "positive", "trigonometric"), [(0.18, 0.044, 0.006), (1.0, 0.18, 0.10)]
)
def test_small_logits_suit_trigonometric_features(
    largest_logit: float, positive: float, trigonometric: float
):
    found = {p.name: p for p in errors_by_features([128], largest_logit=largest_logit)}
    assert found["positive, orthogonal"].error == pytest.approx(positive, rel=0.2)
    assert found["trigonometric, orthogonal"].error == pytest.approx(trigonometric, rel=0.2)
    assert found["trigonometric, orthogonal"].error < found["trigonometric, iid"].error
    assert found["positive, orthogonal"].negative_share == 0


def test_large_logits_blow_trigonometric_features_up():
    found = {p.name: p for p in errors_by_features([128], largest_logit=5.66)}
    assert found["positive, orthogonal"].error == pytest.approx(2.2, rel=0.3)
    assert found["trigonometric, orthogonal"].error > 30
    assert found["trigonometric, orthogonal"].negative_share == pytest.approx(0.22, abs=0.05)
    assert found[UNIFORM].error < found["positive, orthogonal"].error  # no better than uniform


def test_more_features_help_and_uniform_attention_does_not_care():
    found = errors_by_features([16, 64, 256], largest_logit=0.5)
    for name in ("positive, orthogonal", "trigonometric, iid"):
        errors = [p.error for p in found if p.name == name]
        assert errors[0] > 1.5 * errors[1] > 2 * errors[2]
    assert len({p.error for p in found if p.name == UNIFORM}) == 1
    assert all(p.low <= p.error <= p.high for p in found)


@pytest.mark.parametrize(
    ("largest_logit", "error"),
    [(0.5, 4e-4), (1, 0.003), (2, 0.024), (4, 0.15), (8, 0.56), (16, 0.91)],
)
def test_taylor_with_three_terms_is_as_near_as_it_was_measured(largest_logit: float, error: float):
    found = {p.name: p for p in errors_by_logit([largest_logit])}
    by_map = found["Taylor, K = 3"]
    assert by_map.error == pytest.approx(error, rel=0.2)
    (by_polynomial,) = errors_by_terms([3], [largest_logit])
    assert by_polynomial.error == pytest.approx(by_map.error, rel=1e-6)
    assert by_polynomial.name == f"B = {largest_logit:g}"


def test_only_an_even_number_of_terms_makes_weights_negative():
    found = {(p.name, p.at): p for p in errors_by_terms([1, 2, 3, 4, 5], [1, 4])}
    assert [found["B = 4", k].negative_share > 0 for k in range(1, 6)] == [
        False,
        True,
        False,
        True,
        False,
    ]
    assert found["B = 1", 4].negative_share == 0  # below 0 only beyond a logit of −1.596
    errors = [found["B = 1", k].error for k in range(1, 6)]
    assert errors == sorted(errors, reverse=True)


def test_linear_maps_cannot_be_sharp():
    found = {s.name: s.weight for s in sharpness([8.0])}
    assert found["softmax"] == pytest.approx(0.687, abs=0.02)
    assert found["Taylor, K = 3"] == pytest.approx(0.039, abs=0.005)
    assert found["FAVOR+"] == pytest.approx(0.054, abs=0.02)
    assert found["elu+1"] == pytest.approx(0.003, abs=0.001)


def test_the_largest_logit_is_what_was_asked_for():
    query, key, value = draw(0, 4.0)
    lengths = (query.square().sum(-1).sqrt(), key.square().sum(-1).sqrt())
    assert float(lengths[0].max() * lengths[1].max() / 32**0.5) == pytest.approx(4.0)
    assert float(lengths[0].min()) == pytest.approx(float(lengths[0].max()))
    assert value.shape == (1, 1, 512, 32)


def test_of_what_is_causal_only_based_alone_is_near_softmax(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(approximation, "N_SEEDS", 2)
    points = in_order.errors_in_order([0.5, 8.0])
    error = {(point.name, point.at): point.error for point in points}
    names = [point.name for point in points[: len(points) // 2]]
    assert names == [*(label(name) for name in ONLY_CAUSAL), "uniform attention"]
    assert error["Based", 0.5] < 1e-3
    assert error["Based", 0.5] < error["Based", 8.0] < error["uniform attention", 8.0]
    others = [name for name in names if name not in ("Based", "uniform attention")]
    assert all(error[name, 0.5] > 1 for name in others)
    assert all(point.low <= point.error <= point.high for point in points)
