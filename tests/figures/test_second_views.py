"""A second picture of a kind is filled in without Altair, and Vega-Lite accepts every one."""

import json
from collections.abc import Callable

import altair as alt
import numpy as np
import pytest
from jsonschema import ValidationError

from core.figures import (
    by_hand,
    compare,
    heads,
    moments,
    montecarlo,
    montecarlo_curves,
    report,
    training,
)
from core.figures.approximation import Look, error_chart, spectrum_chart
from core.figures.planes import key_cloud, output_plane, reach_map
from core.figures.runtime import Crossing, Line, growth_chart
from core.figures.signed import grid_cells, signed_grid
from core.figures.template import Figure

Draw = Callable[[int], Figure]


def names(n: int) -> list[str]:
    return [f'{i} "quoted" \\' for i in range(n)]


def panels(n: int) -> Figure:
    vector = np.arange(-1, n - 1, dtype=np.float64)
    shown = [(name, vector) for name in names(n)]
    return by_hand.bar_panels(shown, names(n), vector, of_weights=n == 2, axis=f"axis {n}")


def weights(n: int) -> Figure:
    shares, at = np.full((3, n), 1 / n), np.arange(3.0)
    return by_hand.weight_curves(at, shares, names(n), n, chosen=n - 1, title=f"{n}")


def errors(n: int) -> Figure:
    curves = [(name, 1 / np.arange(1.0, 4)) for name in names(n)]
    return by_hand.error_curves(np.arange(3.0), curves, n, title=f"{n}")


def share(n: int) -> Figure:
    at = np.linspace(0, n, n + 1)
    curves = [(name, at / n) for name in names(n)]
    return montecarlo_curves.share_against_epsilon(at, curves, at, key=f"{n}", title=f"{n}")


def spread(n: int) -> Figure:
    betas = np.geomspace(1, 10 * n, 3)
    curves = [(name, betas / 100) for name in names(n)]
    return montecarlo_curves.spread_against_beta(betas, curves, n, title="", sampled=(n, 0.1))


def bands(n: int) -> Figure:
    betas, quantiles = np.geomspace(1, 10, n), np.linspace(0, 1, 5 * n).reshape(5, n)
    return montecarlo_curves.quantile_bands(betas, quantiles, n, quantiles[:, 0], title="")


def histogram(n: int) -> Figure:
    counts, density = np.arange(n), (np.linspace(0, 1, n), np.ones(n))
    return montecarlo.share_histogram(counts, 0.5, 0.1, title=f"{n}", density=density)


def plane(n: int) -> Figure:
    return output_plane(np.eye(n, dtype=np.int64), (0.5, 0.4), title=f"{n}")


def cloud(n: int) -> Figure:
    return key_cloud(np.ones((n, 2)) * [1, n], (1.0, 1.0), title=f"{n}")


def places(n: int) -> Figure:
    grid = np.linspace(-n, n, n + 1)
    return reach_map(grid, np.hypot(grid[:, None], grid), (0, 0), (1, 9), title=f"{n}")


def signed(n: int) -> Figure:
    cells, sides = grid_cells(np.eye(n)), (None, f"{n}")
    return signed_grid(cells, names(n), names(n), reach=n, sides=sides, name="", title=f"{n}")


def accuracy(n: int) -> Figure:
    return moments.accuracy_at_moments(
        [(name, 0.5) for name in names(n)], [("A", names(n)[-1])], title=f"{n}"
    )


def maps(n: int) -> Figure:
    rows = [(name, n, 0.1, 0.01, n, 0.0) for name in names(n)]
    looks: dict[str, Look] = dict.fromkeys(names(n), "map")
    return error_chart(rows, looks, x_title=f"{n}", y_title="y", below=f"below {n}")


def spectrum(n: int) -> Figure:
    return spectrum_chart(np.full((n, n, 3), 1.0), list(range(n)), title=f"{n}")


def side(n: int) -> Figure:
    seen = np.tri(n, dtype=np.bool_)
    return compare.side_map(np.eye(n), names(n), seen, quantity="weight", top=1 / n, title=f"{n}")


def change(n: int) -> Figure:
    seen = np.tri(n, dtype=np.bool_)
    return compare.difference_map(
        np.eye(n), names(n), seen, quantity="contribution", reach=n, title=f"{n}"
    )


def distances(n: int) -> Figure:
    return compare.distance_grid(np.full((n, n), 0.5), (0, n - 1), title=f"{n}")


def scatter(n: int) -> Figure:
    points = [heads.Point(i, i, name, i, 2.0 * i, "") for i, name in enumerate(names(n))]
    return heads.head_scatter(points, x=f"x {n}", y="y", chosen=names(n)[-1], title=f"{n}")


def beside(n: int) -> Figure:
    rows = [heads.Beside(name, 0.5, 0.1 * n) for name in names(n)]
    return heads.beside_average(rows, axis=f"{n}", average=f"average {n}", title="")


def lens(n: int) -> Figure:
    return heads.lens_bars(names(n), [1 / n] * n, names(n), title=f"{n}")


def bars(n: int) -> Figure:
    shares = [(name, 0.5, (0.4, 0.6)) for name in names(n)]
    points = [(name, f"from {name}", 0.5, "") for name in names(n)[1:]]
    return report.accuracy_bars(shares, [("all", 1 / n)], points, axis=f"{n}")


def wrong_answers(n: int) -> Figure:
    return report.kind_bars([(name, [("made up", n)]) for name in names(n)], title=f"{n}")


def growth(n: int) -> Figure:
    pairs = [(n, 1.0), (2 * n, 2.0)]
    lines = [
        Line(
            method=name,
            grows="as L^2",
            family=i,
            shape=i,
            points=[(n, 1.0, 0.5, 2.0, "with care")],
            predicted=pairs,
            other=pairs,
        )
        for i, name in enumerate(names(n))
    ]
    found = [Crossing(text=name, family=n, at=n, low=n / 2, high=2 * n) for name in names(n)]
    floors = dict.fromkeys(names(n), pairs)
    return growth_chart(
        lines, title=f"{n}", what=f"{n}", unit=("ms", n), crossings=found, floors=floors, height=n
    )


def loss(n: int) -> Figure:
    curves = [(name, [(0.0, 1.0), (1.0, 1 / n)]) for name in names(n)]
    phases = list(enumerate(names(n)))
    return training.loss_chart(curves, axis=f"{n}", phases=phases, most=n, height=n)


def answers(n: int) -> Figure:
    curves = [(name, [(0.0, 0.5, 0.4, 0.6)]) for name in names(n)]
    lines = [(name, 1 / n) for name in names(n)]
    return training.accuracy_chart(curves, lines, axis=f"{n}", most=n, height=n)


KINDS = (
    *(panels, weights, errors, share, spread, bands, histogram),
    *(plane, cloud, places, signed, accuracy, maps, spectrum),
    *(side, change, distances, scatter, beside, lens, bars, wrong_answers),
    *(growth, loss, answers),
)


@pytest.mark.parametrize("draw", KINDS, ids=lambda draw: draw.__name__)
def test_a_second_picture_is_filled_in_without_altair(draw: Draw, monkeypatch: pytest.MonkeyPatch):
    first = draw(2).to_dict()

    def built(*args: object, **kwargs: object) -> None:
        pytest.fail("Altair built a chart that it had built before")

    monkeypatch.setattr(alt.TopLevelMixin, "to_dict", built)
    monkeypatch.setattr(alt.SchemaBase, "__init__", built)
    second = draw(4)
    monkeypatch.undo()
    assert second.to_dict() != first
    assert draw(2).to_dict() == first


@pytest.mark.parametrize("draw", KINDS, ids=lambda draw: draw.__name__)
@pytest.mark.parametrize("n", [2, 4])
def test_vega_lite_accepts_the_filled_picture(draw: Draw, n: int):
    figure = draw(n)
    alt.Root.validate(figure.to_dict())
    assert json.loads(json.dumps(figure.spec, allow_nan=False)) == figure.spec
    assert not figure.spec.keys() & {"datasets", "config"}
    named = set(figure.tables)
    assert all(f'"name": "{name}"' in json.dumps(figure.spec) for name in named)


def test_vega_lite_refuses_a_picture_with_a_wrong_value():
    wrong = moments.accuracy_at_moments([("a", 0.5)], [], title="T").to_dict() | {"height": [84]}
    with pytest.raises(ValidationError, match=r"\[84\] is not of type 'number'"):
        alt.Root.validate(wrong)
