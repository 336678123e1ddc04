"""The networks of pictures that are shipped: <name>.safetensors with <name>.json beside it.

The card says what the network is, how it was trained and what it got right, and holds the digest of
the parameters. Neither file has the name of a checkpoint's, so no page of texts offers them.
"""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from core.checkpoints.shelf import CheckpointError
from core.checkpoints.store import load_weights, save_weights
from core.files import read_json, sha256, write_json
from core.from_json import dataclass_from_dict
from core.models.picture_networks import Network, make_network, n_parameters
from core.pictures.networks import NETWORKS
from core.pictures.sweep_spec import with_tuples

WEIGHTS, CARD = ".safetensors", ".json"
MOST_CLASSES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkCard:
    """What is known of a network. Figures are of the parameters as they are stored, on the test
    pictures of the set that `pictures` is the digest of; `shifted_correct` as in a sweep's Run.
    """

    network: str
    classes: tuple[str, ...]
    padding: int
    parameters: int
    source: str
    pictures: str
    rate: float
    seed: int
    epochs: int
    batch: int
    correct: int
    n_test: int
    shifted_correct: tuple[int, ...]
    machine: str
    command: str
    weights: str = ""

    def to_dict(self) -> dict[str, Any]:
        lists = {"classes": list(self.classes), "shifted_correct": list(self.shifted_correct)}
        return asdict(self) | lists


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureNetwork:
    """A network in eval mode with its card. Never changed."""

    network: Network
    card: NetworkCard


def list_networks(folder: Path) -> list[str]:
    """Names of the networks that lie there whole, in the order of NETWORKS."""
    return [name for name in NETWORKS if all(path.is_file() for path in _files(folder, name))]


def save_network(folder: Path, network: Network, card: NetworkCard) -> None:
    """Write both files, the parameters in float16; the card last."""
    weights, card_path = _files(folder, card.network)
    folder.mkdir(parents=True, exist_ok=True)
    save_weights(weights, network, dtype=torch.float16)
    write_json(card_path, replace(card, weights=sha256(weights)).to_dict())


def load_network(folder: Path, name: str) -> PictureNetwork:
    """Load strictly, in float32 and eval mode.

    Raises CheckpointError naming the file and what is wrong.
    """
    if name not in NETWORKS:
        raise CheckpointError(f"unknown network {name!r:.60}; networks: {', '.join(NETWORKS)}")
    weights, card_path = _files(folder, name)
    card = read_card(card_path)
    if card.network != name:
        raise CheckpointError(f"{card_path}: is the card of {card.network!r:.60}")
    _refuse_other_digest(weights, card)
    network = make_network(name, len(card.classes), padding=card.padding)
    if n_parameters(network) != card.parameters:
        raise CheckpointError(
            f"{card_path}: parameters is {card.parameters!r:.20}, the network has "
            f"{n_parameters(network):,}"
        )
    load_weights(network, weights)
    return PictureNetwork(network=network.eval(), card=card)


def load_networks(folder: Path) -> dict[str, PictureNetwork]:
    """All that lie there, by name. Raises CheckpointError for one that cannot be used."""
    return {name: load_network(folder, name) for name in list_networks(folder)}


def content_hash(folder: Path) -> str:
    """What changes when a card does, and so when any network does: the key of a cache."""
    return "".join(sha256(_files(folder, name)[1]) for name in list_networks(folder))


def read_card(path: Path) -> NetworkCard:
    """Raises CheckpointError naming the file and what is wrong with it."""
    try:
        data = with_tuples(read_json(path), "classes", "shifted_correct")
        card = dataclass_from_dict(NetworkCard, data)
        _check(card)
    except ValueError as error:
        said = str(error)
        raise CheckpointError(said if str(path) in said else f"{path}: {said}") from None
    return card


def _check(card: NetworkCard) -> None:
    if not 2 <= len(card.classes) <= MOST_CLASSES:
        raise ValueError(f"{len(card.classes)} classes; 2 to {MOST_CLASSES} are allowed")
    if card.padding not in (0, 1):
        raise ValueError(f"padding {card.padding!r:.20}; 0 or 1 is allowed")
    if not 0 <= card.correct <= card.n_test or card.n_test < 1:
        raise ValueError(f"{card.correct} right of {card.n_test} test pictures")


def _refuse_other_digest(weights: Path, card: NetworkCard) -> None:
    try:
        found = sha256(weights)
    except ValueError as error:
        raise CheckpointError(str(error)) from None
    if found != card.weights:
        raise CheckpointError(
            f"{weights}: is not the file that its card describes (sha256 {found[:12]}…, the card "
            f"says {card.weights[:12]}…)"
        )


def _files(folder: Path, name: str) -> tuple[Path, Path]:
    return folder / f"{name}{WEIGHTS}", folder / f"{name}{CARD}"
