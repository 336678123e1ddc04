"""Networks of pictures learn, repeat themselves by their seed, diverge in a row, can be stopped."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch

from core.models.picture_networks import Network, as_input, make_network
from core.pictures.drawn import drawn_digits
from core.pictures.networks import NETWORKS
from core.pictures.pictures import Pictures, Split
from core.pictures.shifts import shifted
from core.pictures.sweep import Run
from core.pictures.sweep_spec import Case, SweepSpec
from core.training import pictures as room
from core.training.picture_optimizers import WARMUP_STEPS, make_optimizer, set_rate
from core.training.pictures import epochs, runs, shifted_correct, train
from core.training.step import TrainingDivergedError

SPEC = SweepSpec(source="drawn", rates=(0.02,), seeds=1, epochs=2, batch=16, threads=1)


def never() -> bool:
    return False


def quiet(_case: Case, _epoch: int) -> None:
    pass


@pytest.fixture(scope="module")
def pictures() -> Pictures:
    return drawn_digits(96, 20, 30)


def same(one: Run, other: Run) -> bool:
    return replace(one, seconds=0.0) == replace(other, seconds=0.0)


@pytest.mark.parametrize("network", NETWORKS)
def test_a_training_is_repeated_bit_for_bit_by_its_seed(network: str, pictures: Pictures):
    case = Case(network, 0.02, 1)
    one, two = (train(case, SPEC, pictures, is_stopped=never, tell=quiet) for _ in range(2))
    other = train(Case(network, 0.02, 2), SPEC, pictures, is_stopped=never, tell=quiet)
    assert one is not None
    assert two is not None
    assert other is not None
    assert same(one.run, two.run)
    assert not same(one.run, replace(other.run, seed=1))
    first, second = one.network.state_dict(), two.network.state_dict()
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not one.network.training
    assert (len(one.run.epochs), one.run.n_test, one.run.diverged) == (2, 30, False)


def as_before_there_were_devices(
    network: Network, case: Case, pictures: Pictures
) -> Iterator[tuple[bytes, float]]:
    """The plain loop: every loss is read at its step. The weights after each pass, and its loss."""
    optimizer = make_optimizer(network, case)
    inputs, labels = as_input(pictures.train.pictures), torch.from_numpy(pictures.train.labels)
    n_batches = -(-len(labels) // SPEC.batch)
    for epoch in range(SPEC.epochs):
        network.train()
        order = np.random.default_rng((case.seed, epoch)).permutation(len(labels))
        total = 0.0
        for number in range(n_batches):
            rows = torch.from_numpy(order[number * SPEC.batch :][: SPEC.batch])
            set_rate(optimizer, case, epoch * n_batches + number, SPEC.epochs * n_batches)
            loss = torch.nn.functional.cross_entropy(network(inputs[rows]), labels[rows])
            total += loss.item() * len(rows)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        network.eval()
        yield digest(network), total / len(labels)


def digest(network: Network) -> bytes:
    """Of its weights, bit for bit."""
    whole = hashlib.sha256()
    for name, tensor in network.state_dict().items():
        whole.update(name.encode() + tensor.numpy().tobytes())
    return whole.digest()


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("every", [1, 4])
def test_how_often_losses_are_read_changes_no_bit_of_weights_and_losses(
    name: str, every: int, pictures: Pictures, monkeypatch: pytest.MonkeyPatch
):
    """Six steps a pass: all four of the first look, the rest at the end of the pass."""
    case, looks = Case(name, 0.02, 3), list[int]()
    fetched = room._fetched

    def look(losses: list[torch.Tensor]) -> list[float]:
        looks.append(len(losses))
        return fetched(losses)

    monkeypatch.setattr(room, "_fetched", look)
    if every != 1:  # as if they were on a device
        monkeypatch.setattr(room, "fetch_every", lambda _: every)
    network, plain = (make_network(name, 10, seed=3) for _ in range(2))
    found = epochs(network, case, SPEC, pictures, is_stopped=never)
    whole = [(digest(network), epoch.loss) for epoch in found]
    assert whole == [*as_before_there_were_devices(plain, case, pictures)]
    assert looks == 2 * ([1] * 6 if every == 1 else [4, 2])


def test_a_loss_that_is_no_number_is_seen_at_the_next_look(
    pictures: Pictures, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(room, "fetch_every", lambda _: 4)
    case, n_asked = Case("pooling", 1e30, 0), 0

    def asked() -> bool:
        nonlocal n_asked
        n_asked += 1
        return False

    network = make_network("pooling", 10, seed=0)
    with pytest.raises(TrainingDivergedError, match="^the loss is (nan|inf) in epoch 1$"):
        list(epochs(network, case, SPEC, pictures, is_stopped=asked))
    assert n_asked == 4


def test_what_is_shown_often_is_learned(pictures: Pictures):
    spec = replace(SPEC, epochs=25)
    trained = train(Case("strides", 0.05, 0), spec, pictures, is_stopped=never, tell=quiet)
    assert trained is not None
    assert trained.run.epochs[-1].loss < 0.5 < 2 < trained.run.epochs[0].loss


def test_a_loss_that_is_no_number_is_a_row_and_no_crash(pictures: Pictures):
    blind = replace(SPEC, rates=(10.0,), epochs=30, networks=("pooling", "strides"))
    broken = train(Case("pooling", 1e30, 0), blind, pictures, is_stopped=never, tell=quiet)
    assert broken is not None
    assert (broken.run.diverged, broken.run.accuracy, broken.run.correct) == (True, None, 0)
    assert broken.run.shifted_correct == (0, 0, 0, 0)
    assert len(broken.run.epochs) < 30


def stops_at(call: int) -> Callable[[], bool]:
    calls = 0

    def is_stopped() -> bool:
        nonlocal calls
        calls += 1
        return calls >= call

    return is_stopped


def test_a_stop_leaves_no_half_run_and_what_is_done_is_not_done_again(pictures: Pictures):
    told: list[tuple[Case, int]] = []
    spec = replace(SPEC, networks=("strides", "pooling"))
    n_asked = 2 * 6  # two epochs of six batches
    found = list(
        runs(
            spec,
            pictures,
            is_stopped=stops_at(n_asked + 3),
            tell=lambda case, epoch: told.append((case, epoch)),
        )
    )
    assert [run.case for run in found] == spec.cases[:1]
    assert told == [(spec.cases[0], 1), (spec.cases[0], 2), (spec.cases[0], 0), (spec.cases[1], 1)]
    rest = runs(spec, pictures, done={spec.cases[0]}, is_stopped=never, tell=quiet)
    whole = list(runs(spec, pictures, is_stopped=never, tell=quiet))
    assert all(same(a, b) for a, b in zip([*found, *rest], whole, strict=True))


def test_both_convolutions_see_the_pictures_in_the_same_order(
    pictures: Pictures, monkeypatch: pytest.MonkeyPatch
):
    seen: dict[str, list[int]] = {}
    for name in ("pooling", "strides"):
        network = make_network(name, 10)
        monkeypatch.setattr(
            network,
            "forward",
            lambda x, name=name, real=network.forward: (
                seen.setdefault(name, []).append(hash(x.numpy().tobytes())) or real(x)
            ),
        )
        list(epochs(network, Case(name, 0.02, 7), SPEC, pictures, is_stopped=never))
    assert seen["pooling"] == seen["strides"]
    assert len(set(seen["pooling"][:6])) == 6


def test_shifts_are_counted_over_four_directions(pictures: Pictures):
    class Left(torch.nn.Module):
        """Class 1 if the left half is the brighter one; its parameter says where it is."""

        def __init__(self) -> None:
            super().__init__()
            self.nothing = torch.nn.Parameter(torch.zeros(()))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            left = x[..., :14].sum((1, 2, 3)) > x[..., 14:].sum((1, 2, 3))
            return torch.stack([~left, left], 1).float()

    picture = np.zeros((1, 28, 28), np.uint8)
    picture[0, 10:12, 11:13] = 255  # moved right by 2, half of it is on the other side
    split = Split(pictures=picture, labels=np.ones(1, np.int64))
    assert shifted(picture, 0, 4)[0, 10, 15] == 255
    network: object = Left()
    assert shifted_correct(network, split) == [1, 4, 4 - 1, 3, 3]  # type: ignore[arg-type]


def test_the_rate_of_attention_rises_and_falls_and_that_of_a_convolution_stays():
    for name, expected in (("patches", [0.01, 0.901, 0.5, 0.001]), ("pooling", [1.0] * 4)):
        case = Case(name, 0.2, 0)
        optimizer = make_optimizer(make_network(name, 10), case)
        found: list[float] = []
        for step in (0, WARMUP_STEPS - 1, 500, 999):
            set_rate(optimizer, case, step, 1000)
            found.append(optimizer.param_groups[0]["lr"] / 0.2)
        assert found == pytest.approx(expected, abs=1e-9)
