"""The box of weights, against corners tried one by one and against whole keys."""

from itertools import product

import numpy as np
import pytest

from core.montecarlo.compare import law_of
from core.montecarlo.full import draw_full
from core.montecarlo.spec import Heads, PerturbationSpec
from core.theory.reach import DEVIATIONS, weight_reach


def test_the_ends_lie_at_corners_of_the_box_of_scores():
    means, deviations = np.array([[1.0, 0.3, -0.5]]), np.array([[0.1, 0.2, 0.05]])
    corners = np.array(list(product((-DEVIATIONS, DEVIATIONS), repeat=3)))
    weights = np.exp(means + corners * deviations)
    weights /= weights.sum(axis=1, keepdims=True)
    low, high = weight_reach(means, deviations, np.ones(1))
    np.testing.assert_allclose(low, weights.min(axis=0))
    np.testing.assert_allclose(high, weights.max(axis=0))


@pytest.mark.parametrize("heads", ["one", "two", ((1.0, -1, 0), (0.5, 0, 2))])
def test_no_draw_leaves_the_box(heads: Heads):
    spec = PerturbationSpec(
        n_keys=3, dimension=3, heads=heads, beta=2.0, noise_variance=0.01, radial_variance=0.02
    )
    scores = law_of(spec).scores
    low, high = weight_reach(scores.means, scores.deviations, scores.shares)
    weights = draw_full(spec, 20_000).weights.mean(axis=1)
    assert (low < weights.min(axis=0)).all()
    assert (weights.max(axis=0) < high).all()
    assert (high - low < 1).all()


def test_scores_that_stand_still_leave_no_room():
    low, high = weight_reach(np.array([[2.0, 0.0], [0.0, 0.0]]), np.zeros((2, 2)), np.full(2, 0.5))
    np.testing.assert_allclose(low, high, atol=1e-15)
    assert low[0] == pytest.approx((1 / (1 + np.exp(-2)) + 0.5) / 2)
