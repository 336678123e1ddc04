"""The one loop: it saves once a minute, at a stop and at the last step, and says how it ended."""

import signal
from collections.abc import Callable

import pytest

from core.runs import loop
from core.runs.run import Run, save
from core.training.loop import StepRecord

Begin = Callable[..., Run]


@pytest.fixture
def train(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[str, list[int], list[int]]]:
    """Train a run; how it ended, the steps that were told, and those that were saved."""

    def run_it(
        run: Run,
        *,
        is_stopped: Callable[[], bool] = lambda: False,
        most_seconds: float = 1e9,
        act: Callable[[StepRecord], object] = lambda _: None,
    ) -> tuple[str, list[int], list[int]]:
        seen: list[int] = []
        saved: list[int] = []

        def after_step(record: StepRecord) -> None:
            seen.append(record.step)
            act(record)

        def keep() -> None:
            save(run)
            saved.append(run.saved_step)

        ending = loop.train(
            run, after_step=after_step, save=keep, is_stopped=is_stopped, most_seconds=most_seconds
        )
        return ending, seen, saved

    return run_it


def test_a_run_ends_at_its_last_step_and_is_saved_there(begin: Begin, train: Callable[..., object]):
    assert train(begin()) == ("at its last step", [1, 2, 3, 4, 5, 6], [6])


def test_it_is_saved_again_when_its_time_has_come(
    begin: Begin, train: Callable[..., object], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(loop, "SAVE_EVERY_SECONDS", -1.0)
    assert train(begin()) == ("at its last step", [1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6])


@pytest.mark.parametrize("step", [3, 6])
def test_a_request_is_heard_after_its_step_and_the_state_is_saved(
    begin: Begin, train: Callable[..., object], step: int
):
    run = begin()
    stop = lambda: run.step == step  # noqa: E731
    assert train(run, is_stopped=stop) == ("stopped", [*range(1, step + 1)], [step])


def test_a_signal_is_a_request(begin: Begin, train: Callable[..., object]):
    def act(record: StepRecord) -> None:
        if record.step == 2:
            signal.raise_signal(signal.SIGTERM)

    assert train(begin(), act=act) == ("stopped", [1, 2], [2])


def test_a_run_that_takes_too_long_ends_unless_it_is_at_its_last_step(
    begin: Begin, train: Callable[..., object]
):
    assert train(begin(), most_seconds=0.0) == ("too late", [1], [1])
    assert train(begin("other", steps=1), most_seconds=0.0) == ("at its last step", [1], [1])
    asked_too = train(begin("third"), most_seconds=0.0, is_stopped=lambda: True)
    assert asked_too == ("stopped", [1], [1])


def test_a_run_at_its_last_step_takes_no_more_and_is_not_saved_again(
    begin: Begin, train: Callable[..., object]
):
    run = begin()
    train(run)
    assert train(run) == ("at its last step", [], [])
