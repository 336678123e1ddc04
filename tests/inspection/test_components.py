"""Principal components against their definition, and kinds of tokens."""

import numpy as np
import pytest

from core.inspection.components import KINDS, principal, token_kind


def test_points_and_shares_are_those_of_the_covariance():
    random = np.random.default_rng(0)
    vectors = random.normal(size=(40, 6)) @ random.normal(size=(6, 6))
    found = principal(vectors)
    values, axes = np.linalg.eigh(np.cov(vectors.T))
    np.testing.assert_allclose(found.shares, values[::-1][:3] / values.sum(), rtol=1e-9)
    expected = (vectors - vectors.mean(0)) @ axes[:, ::-1][:, :3]
    np.testing.assert_allclose(np.abs(found.points), np.abs(expected), atol=1e-5)


def test_vectors_on_a_plane_leave_nothing_out_and_have_no_third_axis():
    found = principal(np.random.default_rng(1).normal(size=(9, 2)))
    assert found.shares.sum() == pytest.approx(1)
    assert found.points.shape == (9, 3)
    assert not found.points[:, 2].any()


@pytest.mark.parametrize("n", [1, 5])
def test_equal_vectors_are_one_point_without_variance(n: int):
    found = principal(np.ones((n, 4), dtype=np.float32))
    assert not found.points.any()
    assert not found.shares.any()


def test_no_vectors_are_refused():
    with pytest.raises(ValueError, match=r"vectors of shape \(0, 4\)"):
        principal(np.zeros((0, 4)))
    with pytest.raises(ValueError, match=r"vectors of shape \(4,\)"):
        principal(np.zeros(4))


@pytest.mark.parametrize(
    ("label", "marks", "kind"),
    [
        ("<s>", {"special": True, "first": True}, "special"),
        ("The", {"first": True, "starts": True}, "first token"),
        ("·1859", {"starts": True}, "digit"),
        ("·—", {"starts": True}, "punctuation"),
        ("·", {"starts": True}, "punctuation"),
        ("▁cat", {"starts": True}, "start of a word"),
        ("ting", {}, "inside a word"),
        ("é", {}, "inside a word"),
    ],
)
def test_each_token_is_of_one_kind(label: str, marks: dict[str, bool], kind: str):
    given = {"starts": False, "special": False, "first": False, **marks}
    assert token_kind(label, **given) == kind
    assert kind in KINDS
