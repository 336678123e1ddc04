"""Untrained networks, a few digits and an invented sweep, in place of what is shipped."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from core.checkpoints.picture_files import NetworkCard, load_networks, save_network
from core.models.picture_networks import make_network, n_parameters, probabilities
from core.pictures.drawn import DIGITS, drawn_digits
from core.pictures.networks import NETWORKS
from core.pictures.pictures import Pictures
from core.pictures.sample import Sample, write_sample
from core.pictures.sweep import write_sweep
from tests.pages.look.seen import N_SAMPLED, Shelf, right_of
from tests.pictures.sweeps import made_up

Open = Callable[..., AppTest]


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    """Untrained networks, a few digits with what they say, and an invented sweep."""
    folder = tmp_path_factory.mktemp("look")
    drawn = drawn_digits(10, 10, N_SAMPLED)
    for name in NETWORKS:
        network = make_network(name, 10, seed=1).eval()
        save_network(folder / "networks", network, _card(name, n_parameters(network), drawn))
    found = load_networks(folder / "networks")
    sample = Sample(
        source="invented",
        digest=drawn.digest,
        classes=DIGITS,
        n_test=2_000,
        weights={name: one.card.weights for name, one in found.items()},
        numbers=np.arange(N_SAMPLED) + 100,
        labels=drawn.test.labels,
        pictures=drawn.test.pictures,
        probabilities={
            name: probabilities(one.network, drawn.test.pictures).astype(float)
            for name, one in found.items()
        },
    )
    write_sample(folder / "sample.json", sample)
    write_sweep(folder / "sweep.json", made_up(right_of))
    return Shelf(folder / "networks", folder / "sample.json", folder / "sweep.json", sample, drawn)


def _card(name: str, parameters: int, drawn: Pictures) -> NetworkCard:
    return NetworkCard(
        network=name,
        classes=DIGITS,
        padding=0,
        parameters=parameters,
        source=drawn.source,
        pictures=drawn.digest,
        rate=0.01,
        seed=0,
        epochs=1,
        batch=64,
        correct=3,
        n_test=N_SAMPLED,
        shifted_correct=(1, 1, 1, 1),
        machine="",
        command="",
    )


@pytest.fixture
def look(made: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """The page finds what was made, and no set of pictures but the drawn one."""
    monkeypatch.setattr("pages.look.data.PICTURE_NETWORKS", made.networks)
    monkeypatch.setattr("pages.look.looking.PICTURE_NETWORKS", made.networks)
    monkeypatch.setattr("pages.look.data.SAMPLE", made.sample_path)
    monkeypatch.setattr("pages.look.data.LOOK", made.sweep_path)
    monkeypatch.setenv("EXPLORER_IMAGES", str(tmp_path))
    return made


@pytest.fixture
def open_look(look: Shelf, open_by_link: Open) -> Open:
    """Open the page as a link does."""

    def open_(**query: Any) -> AppTest:
        return open_by_link("look", **{f"look-{key}": value for key, value in query.items()})

    return open_
