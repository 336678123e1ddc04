"""Means, covariances and their standard errors in one pass, about a reference near the mean.

A standard error is None where draws cannot tell it: of a single draw, and of draws all alike.
"""

import numpy as np
from numpy.typing import NDArray

from core.montecarlo.result import Measured

Array = NDArray[np.float64]
ALIKE = 1e-24  # a variance below it, of numbers of size 1, is rounding


class RunningMoments:
    """Sums of y = f − f₀, u = (share − share₀)² and g = ‖c − c₀‖², and of all their products.

    f (F,) are features that the weights depend on linearly; the share is `share_row`·f plus a
    constant, c − c₀ has the Gram matrix `gram` (F, F). f₀ is the mean of the first block, so
    nothing cancels. Cost: (F + 3)² products a draw, 8·(F + 3)² bytes.
    """

    def __init__(self, share_row: Array, gram: Array) -> None:
        self._row = share_row
        self._gram = gram
        self._plain = bool((gram == np.eye(len(gram)) * gram[0, 0]).all())
        self._reference: Array | None = None
        self._products = np.zeros((len(share_row) + 3, len(share_row) + 3))

    def add(self, features: Array, scratch: Array) -> None:
        """Add a block (F, m); `scratch` (F + 3, at least m) is overwritten."""
        if self._reference is None:
            self._reference = features.mean(axis=1)
        if len(self._row) == 1:
            self._add_single(features[0], scratch[:, : features.shape[1]])
        else:
            self._add_many(features, scratch[:, : features.shape[1]])

    def _add_single(self, feature: Array, rows: Array) -> None:
        """Here u and g are multiples of y²: four power sums hold all products."""
        y, square = rows[0], rows[1]
        np.subtract(feature, self._about[0], out=y)
        np.multiply(y, y, out=square)
        first, second = y.sum(), np.dot(y, y)
        third, fourth = np.dot(y, square), np.dot(square, square)
        scale = np.array([1.0, self._row[0] ** 2, self._gram[0, 0], 1.0])
        powers = np.array(
            [
                [second, third, third, first],
                [third, fourth, fourth, second],
                [third, fourth, fourth, second],
                [first, second, second, len(y)],
            ]
        )
        self._products += scale[:, None] * powers * scale

    def _add_many(self, features: Array, rows: Array) -> None:
        n_features = len(features)
        y, share, squares = rows[:n_features], rows[n_features], rows[n_features + 1]
        rows[n_features + 2] = 1.0
        np.subtract(features, self._about[:, None], out=y)
        np.matmul(self._row, y, out=share)
        np.multiply(share, share, out=share)
        if self._plain:
            np.einsum("fm,fm->m", y, y, out=squares)
            squares *= self._gram[0, 0]
        else:
            np.einsum("fm,fm->m", y, self._gram @ y, out=squares)
        self._products += rows @ rows.T

    @property
    def n(self) -> int:
        return round(float(self._products[-1, -1]))

    @property
    def mean(self) -> Array:
        """(F,): the mean features."""
        return self._about + self._offset

    @property
    def covariance(self) -> Array:
        """(F, F): of the features."""
        return self._joint[: len(self._row), : len(self._row)]

    def mean_share(self, constant: float) -> Measured:
        """Mean and standard error of share = row·f + constant."""
        variance = float(self._row @ self.covariance @ self._row)
        error = None if self._tells_nothing(variance) else (variance / (self.n - 1)) ** 0.5
        return Measured(float(self._row @ self.mean) + constant, error)

    def variance_share(self) -> Measured:
        """Variance of the share, nan for a single draw; see `_spread` for its error."""
        away = float(self._row @ self._offset)
        direction = np.concatenate([-2 * away * self._row, [1.0, 0.0]])
        variance = float(self._row @ self.covariance @ self._row)
        return self._spread(variance, variance**2, direction)

    def total_variance(self) -> Measured:
        """Trace of the covariance of c, nan for a single draw; see `_spread` for its error."""
        direction = np.concatenate([-2 * self._gram @ self._offset, [0.0, 1.0]])
        turned = self.covariance @ self._gram
        return self._spread(float(np.trace(turned)), float((turned * turned.T).sum()), direction)

    @property
    def _about(self) -> Array:
        if self._reference is None:
            raise ValueError("no draw was kept: all had k_a·q < 0, so there is nothing to average")
        return self._reference

    @property
    def _offset(self) -> Array:
        return self._products[-1, : len(self._row)] / self.n

    @property
    def _joint(self) -> Array:
        means = self._products[-1, :-1] / self.n
        return self._products[:-1, :-1] / self.n - np.outer(means, means)

    def _spread(self, variance: float, squares: float, direction: Array) -> Measured:
        """Var S = Var[‖x − mean‖²] / n + 2 tr Σ² / n(n − 1), exact but for the moments put in.

        The second term is all there is where two draws, or two values, lie alike about their mean.
        """
        if self.n < 2:
            return Measured(np.nan, None)
        unbiased = max(variance, 0.0) * self.n / (self.n - 1)
        if self._tells_nothing(variance):
            return Measured(unbiased, None)
        own = max(float(direction @ self._joint @ direction), 0.0)
        return Measured(unbiased, ((own + 2 * squares / (self.n - 1)) / self.n) ** 0.5)

    def _tells_nothing(self, variance: float) -> bool:
        size = max(float(np.abs(self._gram).max()), 1.0)
        return self.n < 2 or variance <= ALIKE * size
