"""Adaptive quadrature: exact where it should be, and honest about its error."""

import math

import numpy as np
import pytest

from core.theory.quadrature import integrate


def test_polynomials_are_exact():
    found, error = integrate(lambda x: np.column_stack([x**5, 1 + 0 * x]), [0.0, 2.0])
    np.testing.assert_allclose(found, [64 / 6, 2.0], rtol=1e-14)
    assert error.max() < 1e-12


def test_a_narrow_peak_is_found_by_halving():
    width = 1e-4
    found, _ = integrate(
        lambda x: np.exp(-(((x - 0.3) / width) ** 2))[:, None], [0.0, 0.299, 0.301, 1.0]
    )
    assert found[0] == pytest.approx(width * math.sqrt(math.pi), rel=1e-9)


def test_the_error_covers_a_jump_between_the_edges():
    found, error = integrate(lambda x: (x > 1 / 3).astype(float)[:, None], [0.0, 1.0])
    assert abs(found[0] - 2 / 3) <= error[0] + 1e-12


def test_an_empty_panel_is_left_out():
    found, _ = integrate(lambda x: x[:, None], [0.0, 0.0, 1.0, 1.0])
    assert found[0] == pytest.approx(0.5)
