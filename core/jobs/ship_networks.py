"""The networks of a recorded sweep's first seed: trained once more, kept, and measured again."""

import shlex
from pathlib import Path

import torch

from core.checkpoints.picture_files import NetworkCard, load_networks, save_network
from core.evaluation.picture_figures import NetworkFigure, best_rate, one_network
from core.jobs.look_job import sweep_arguments
from core.models.picture_networks import logits_of
from core.pictures.pictures import Pictures, Split
from core.pictures.sweep import Run, Sweep
from core.pictures.sweep_spec import Case
from core.runs.card import machine
from core.training.pictures import shifted_correct, train


def ship(sweep: Sweep, pictures: Pictures, folder: Path, device: str = "cpu") -> list[NetworkCard]:
    """Train each network at its best rate from the first seed, and keep it.

    Raises ValueError where a training does not repeat the run that was recorded.
    """
    return [_ship(sweep, pictures, folder, name, device) for name in sweep.spec.networks]


def fresh_figures(folder: Path, pictures: Pictures, device: str = "cpu") -> list[NetworkFigure]:
    """How good the networks that lie there are on the test pictures of a set.

    Raises ValueError where there is none, or the set has other classes.
    """
    found = load_networks(folder)
    if not found:
        raise ValueError(f"there is no network in {folder}: `look record` makes them")
    rows: list[NetworkFigure] = []
    for name, one in found.items():
        if len(one.card.classes) != len(pictures.classes):
            raise ValueError(
                f"{name} knows {len(one.card.classes)} classes, {pictures.name!r:.60} has "
                f"{len(pictures.classes)}"
            )
        rows.append(
            one_network(
                name,
                classes=len(one.card.classes),
                parameters=one.card.parameters,
                rate=one.card.rate,
                correct=_n_right(one.network.to(device), pictures.test),
                n_test=len(pictures.test),
            )
        )
    return rows


def _ship(sweep: Sweep, pictures: Pictures, folder: Path, name: str, device: str) -> NetworkCard:
    case = Case(name, best_rate(sweep, name), sweep.spec.first_seed)
    spec = sweep.spec
    trained = train(
        case, spec, pictures, is_stopped=lambda: False, tell=lambda _, __: None, device=device
    )
    if trained is None or not _is_repeated(trained.run, sweep):
        raise ValueError(f"{name}: trained again it is not the network of the sweep")
    network = trained.network.half().float().eval()  # as it is stored
    correct = shifted_correct(network, pictures.test)
    card = NetworkCard(
        network=name,
        classes=pictures.classes,
        padding=spec.padding,
        parameters=trained.run.parameters,
        source=pictures.source,
        pictures=sweep.pictures.digest,
        rate=case.rate,
        seed=case.seed,
        epochs=spec.epochs,
        batch=spec.batch,
        correct=correct[0],
        n_test=len(pictures.test),
        shifted_correct=tuple(correct[1:]),
        machine=machine(),
        command=shlex.join(["python", "-m", "core", "look", "record", *sweep_arguments(spec)]),
    )
    save_network(folder, network, card)
    return card


def _is_repeated(run: Run, sweep: Sweep) -> bool:
    (before,) = (one for one in sweep.of(run.network, run.rate) if one.seed == run.seed)
    return run.correct == before.correct


def _n_right(network: torch.nn.Module, split: Split) -> int:
    answers = logits_of(network, split.pictures).argmax(1).cpu().numpy()
    return int((answers == split.labels).sum())
