"""The recorded sweep and the networks that are shipped belong together, and are small."""

import pytest

from core.checkpoints.picture_files import load_networks
from core.evaluation.picture_figures import best_rate, network_figures
from core.models.picture_networks import n_parameters
from core.paths import LOOK, PICTURE_NETWORKS
from core.pictures.networks import NETWORKS
from core.pictures.sweep import Sweep, read_sweep

MOST_BYTES = 1_000_000
ROUNDED = 0.002  # what storing in float16 may change of an accuracy


@pytest.fixture(scope="module")
def sweep() -> Sweep:
    return read_sweep(LOOK)


def test_the_recorded_sweep_is_whole_and_says_where_it_was_trained(sweep: Sweep):
    assert sweep.is_whole
    assert [row.name for row in network_figures(sweep)] == list(NETWORKS)
    assert sweep.machine["processor"]
    assert sweep.environment["threads"] == sweep.spec.threads


def test_shipped_networks_are_those_of_the_sweep_s_first_seed(sweep: Sweep):
    found = load_networks(PICTURE_NETWORKS)
    assert list(found) == list(NETWORKS)
    for name, one in found.items():
        (run,) = (r for r in sweep.of(name, best_rate(sweep, name)) if r.seed == one.card.seed)
        assert one.card.rate == run.rate
        assert one.card.pictures == sweep.pictures.digest
        assert one.card.parameters == n_parameters(one.network) == run.parameters
        assert one.card.correct / one.card.n_test == pytest.approx(run.accuracy, abs=ROUNDED)


def test_all_of_them_are_small():
    assert sum(path.stat().st_size for path in PICTURE_NETWORKS.iterdir()) < MOST_BYTES
