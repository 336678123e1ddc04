"""Where the weight of a head goes over a sound."""

import numpy as np
import pytest

from core.inspection.heard import diagonal
from core.inspection.listened import (
    diagonals,
    is_dull,
    most_diagonal,
    quiet_columns,
    spread,
    unsure,
    weighed_seconds,
    weights_of,
)
from tests.fake_heard import N_COLUMNS, along, fake_heard, uniform

NOBODY = np.zeros(N_COLUMNS, dtype=np.bool_)


def test_a_head_that_looks_at_all_alike_is_spread_over_all_columns():
    quiet = np.arange(N_COLUMNS) < 10
    found = spread(uniform(7), quiet)
    assert found.columns == pytest.approx(N_COLUMNS, rel=1e-4)
    assert found.ends == pytest.approx(found.ends_uniform) == pytest.approx(2 / N_COLUMNS)
    assert found.quiet == pytest.approx(found.quiet_time) == pytest.approx(0.25)


def test_a_head_that_looks_at_one_column_is_spread_over_one():
    weights = np.zeros((5, N_COLUMNS), np.float32)
    weights[:, 0] = 1
    found = spread(weights, NOBODY)
    assert found.columns == pytest.approx(1)
    assert found.ends == pytest.approx(1)
    assert found.quiet == 0


def test_a_column_is_quiet_beside_the_loudest_one():
    heard = fake_heard("ada")
    samples = np.zeros(N_COLUMNS * 400)
    samples[:4000] = 0.5
    samples[4000:8000] = 0.005
    assert quiet_columns(samples, heard).tolist() == [False] * 10 + [True] * 30
    assert quiet_columns(samples[:100] * 0, heard).all()


def test_the_most_diagonal_head_is_found_by_its_layer_in_the_model():
    heard = fake_heard("where was ada born")
    found = diagonals(heard)
    assert list(found) == [(3, 0), (3, 1), (4, 0), (4, 1)]
    assert most_diagonal(heard) == (4, 1)
    assert [is_dull(one) for one in found.values()] == [True, True, True, False]
    np.testing.assert_array_equal(weights_of(heard, (4, 1)), along(19))
    assert found[4, 1] == diagonal(along(19))


def test_a_model_that_looks_at_no_sound_has_no_such_head():
    heard = fake_heard("ada", looks=False)
    assert diagonals(heard) == {}
    assert most_diagonal(heard) is None
    with pytest.raises(ValueError, match="layer 4 has no heads that are seen"):
        weights_of(heard, (4, 1))


def test_characters_below_a_half_are_unsure():
    assert unsure(fake_heard("where")) == [2]


def test_a_head_that_looks_at_all_alike_listens_in_the_middle():
    heard = fake_heard("ada")
    assert weighed_seconds(heard, uniform(4)) == pytest.approx(N_COLUMNS * 0.05 / 2, rel=1e-5)
    last = np.zeros((2, N_COLUMNS), np.float32)
    last[:, -1] = 1
    assert weighed_seconds(heard, last) == pytest.approx((N_COLUMNS - 0.5) * 0.05, rel=1e-5)
