"""K = Q = V = I: what u_c and u_d added to the second token can reach."""

import math

import numpy as np
import pytest

from core.theory.by_hand.identity import distance_map, distances, identity_example, nearest_reach


def test_identity_matrices_copy_each_token():
    found = identity_example(3.0)
    np.testing.assert_allclose(found.attention.outputs[1], [1, 0, 0, 0], atol=1e-3)
    verdicts = [check.verdict for check in found.checks]
    assert verdicts == ["near", "holds", "fails", "fails", "holds"]
    assert found.checks[1].value == pytest.approx(math.sqrt(10) / (math.exp(9) + 2))


@pytest.mark.parametrize(("s", "t"), [(0.0, 0.0), (1.5, -0.3), (-2.0, 3.0)])
def test_the_formula_of_the_distance_is_the_distance_of_the_output(s: float, t: float):
    found = identity_example(1.2, add_c=s, add_d=t)
    expected = np.linalg.norm(found.attention.outputs[1] - [0, 1, 0, 0])
    assert found.distance == pytest.approx(expected)
    assert float(distances(1.2, np.array(s), np.array(t))) == pytest.approx(expected)


def test_the_map_has_s_along_its_rows():
    grid, found = distance_map(1.2, 3.0)
    assert (grid[0], grid[15], grid[-1]) == (-3, 0, 3)
    expected = identity_example(1.2, add_c=float(grid[4]), add_d=float(grid[20])).distance
    assert found[4, 20] == pytest.approx(expected)


@pytest.mark.parametrize("beta", [0.3, 1.0, 2.0, 4.0])
def test_nothing_drawn_at_random_comes_nearer_than_the_nearest_reach(beta: float):
    reach = nearest_reach(beta)
    drawn = np.random.default_rng(5).normal(scale=2.0, size=(2, 20_000))
    assert distances(beta, drawn[0], drawn[1]).min() >= reach.distance - 1e-9
    here = identity_example(beta, add_c=reach.add_c, add_d=reach.add_d)
    assert here.distance == pytest.approx(reach.distance)
    assert here.checks[-1].holds


@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
def test_the_nearest_reach_is_a_minimum_in_every_direction(beta: float):
    reach = nearest_reach(beta)
    angles = np.linspace(0, 2 * np.pi, 9)
    around = distances(
        beta, reach.add_c + 1e-3 * np.cos(angles), reach.add_d + 1e-3 * np.sin(angles)
    )
    assert (around > reach.distance).all()


def test_the_nearest_reach_tends_to_the_distance_of_u_a():
    assert nearest_reach(5.0).distance == pytest.approx(math.sqrt(2), abs=1e-6)


@pytest.mark.parametrize(
    ("added", "name"), [({"add_c": 1e9}, "s, times u_c"), ({"add_d": math.nan}, "t, times u_d")]
)
def test_too_much_added_is_refused(added: dict[str, float], name: str):
    with pytest.raises(ValueError, match=f"{name} added, = .*: a number from -1000 to 1000"):
        identity_example(1.0, **added)
