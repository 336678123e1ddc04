"""Two processes that train one model together are one that trains it alone."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from core.data import task
from core.jobs.torchrun import run_ranks
from core.runs.folder import read_settings
from core.runs.run import resume_run
from core.training import examples, speech
from core.training.shares import Whole, share_of
from core.training.team import ALONE, device_of, joined, team_of
from core.training.where import HERE, Where
from tests.two_processes import N_STEPS, TINY, TWO, begin, computed, prepare, reading, take


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory, people_table: Path) -> tuple[Path, str]:
    """Where two processes have written what they computed, and why they ended: one is killed."""
    work = tmp_path_factory.mktemp("two")
    with pytest.MonkeyPatch.context() as patch:
        for room, name in ((task, "PEOPLE"), (examples, "POOL_SIZE"), (speech, "POOL_SIZE")):
            patch.setattr(room, name, getattr(room, name))
        prepare(people_table)
        take(begin(work / "alone", HERE), 3)
        arguments = ["-m", "tests.two_processes"]
        with pytest.raises(ValueError, match="process") as error:
            run_ranks(lambda ranks: [*arguments, *map(str, (ranks, work, people_table))], 2)
    return work, str(error.value)


@pytest.fixture
def small(people_table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for room, name in ((task, "PEOPLE"), (examples, "POOL_SIZE"), (speech, "POOL_SIZE")):
        monkeypatch.setattr(room, name, getattr(room, name))
    prepare(people_table)


def test_two_processes_compute_what_one_does(together: tuple[Path, str], small: None):
    found, alone = load_file(together[0] / "0.safetensors"), computed(HERE)
    assert sorted(found) == sorted(alone)
    for name, tensor in alone.items():
        close = {"weights": 1e-9, "losses": 1e-3}.get(name.partition(".")[0], 1e-6)
        assert _difference(found[name], tensor) < close, name
    assert len(alone["losses"]) == N_STEPS


def test_two_processes_have_the_same_model_bit_for_bit(together: tuple[Path, str]):
    one, other = (load_file(together[0] / f"{rank}.safetensors") for rank in range(2))
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_one_that_is_asked_to_stop_ends_both_at_its_step(together: tuple[Path, str]):
    said = [(together[0] / f"{rank}.txt").read_text() for rank in range(2)]
    assert said == ["('stopped', 3) ('at its last step', 6)"] * 2


def test_a_run_goes_on_in_another_number_of_processes(together: tuple[Path, str], small: None):
    work = together[0]
    more, before = read_settings(work / "alone"), read_settings(work / "stopped")
    assert more.where == before.where == TWO
    assert more.moved == [{"until_step": 3, **HERE.to_dict()}]
    fewer, other = (resume_run(work / name, where=HERE) for name in ("stopped", "alone"))
    assert (fewer.step, other.step) == (3, 6)
    assert take(fewer, 99) == ("at its last step", 6)
    for name, tensor in fewer.trainer.model.state_dict().items():
        assert _difference(other.trainer.model.state_dict()[name], tensor) < 1e-3, name
    told = fewer.settings.for_card()
    assert told["where"] == HERE.to_dict()
    assert told["moved"] == [{"until_step": 3, **TWO.to_dict()}]


def test_a_process_that_is_killed_ends_both_and_what_was_saved_goes_on(
    together: tuple[Path, str], small: None
):
    work, why = together
    assert why.startswith("process 2 of 2 was killed (SIGKILL), and the others ended: go on from")
    assert resume_run(work / "killed", where=HERE).step == 2


def test_every_row_belongs_to_one_share_and_counts_once():
    counts = torch.tensor([[1, 1, 0], [1, 0, 0], [1, 1, 1]]).bool()
    shares = [share_of(counts, part, 2) for part in range(2)]
    assert [list(range(3))[rows] for rows, _ in shares] == [[0, 2], [1]]
    assert [whole for _, whole in shares] == [Whole(6, 3, 5, 2), Whole(6, 3, 1, 1)]
    assert share_of(counts, 3, 4) == (slice(0, 1), Whole(6, 3, 0, 0))


def test_one_process_is_a_team_of_its_own():
    with joined(HERE) as team:
        assert team == team_of(HERE) == ALONE
        assert (team.most(3), team.of_first("a"), team.is_first) == (3, "a", True)
    assert device_of(HERE) == "cpu"


def test_each_process_has_a_card_of_its_own(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert device_of(Where(device="cuda", processes=2)) == "cuda:1"
    assert device_of(Where(device="cuda:3")) == "cuda:3"


def test_several_processes_have_to_be_started_as_such(small: None):
    with pytest.raises(ValueError, match="2 processes were asked for, this is one of 1: start"):
        reading(TINY, TWO)


def test_more_processes_than_cards_are_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with (
        pytest.raises(ValueError, match="2 processes need a card each, and torch sees 1 here"),
        joined(Where(device="cuda", processes=2)),
    ):
        pass


def _difference(found: Tensor, expected: Tensor) -> float:
    """Of two tensors, relative to the largest number; the gradient of a key's bias is nothing."""
    return float((found - expected).abs().max() / expected.abs().max().clamp(min=1e-9))
