"""--device: what a verb finds there is what it finds on the processor; others are refused."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core.cli import arguments
from tests.pretend import pretended
from tests.recognised import save_recogniser
from tests.tiny_speech import tone_folder

Run = Callable[..., Any]
QUESTION = "Where was Ada Arden born?"


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A device that is made up, and known to the command line."""
    with pretended() as name:
        monkeypatch.setattr(arguments, "resolve_device", str)
        yield name


@pytest.mark.parametrize(
    "asked",
    [
        ("ask", QUESTION, "--tokens", "3"),
        ("trace", QUESTION, "--tokens", "3"),
        ("heads", "--questions", "asked.tsv", "--mode", "mean", "--off", "L0H1"),
        ("evaluate", "--questions", "asked.tsv"),
        ("repeated", "--sequences", "2"),
        ("knowledge", "--questions", "asked.tsv", "--most", "4"),
    ],
    ids=lambda asked: asked[0],
)
def test_verbs_find_there_what_they_find_on_the_processor(
    run: Run, saved: Path, device: str, asked: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(saved.parent)
    rows = [f"Where was {name} born?\tLima\t{name}\n" for name in ("Ada Arden", "Hina Bello")]
    (saved.parent / "asked.tsv").write_text("prompt\tanswer\tsubject\n" + "".join(rows))
    here, there = (
        without_times(run(*asked, "--checkpoint", saved, "--device", where, "--json").report)
        for where in ("cpu", device)
    )
    assert here == there


def without_times(report: Any) -> Any:
    """What does not change from run to run, in four digits."""
    if isinstance(report, dict):
        return {key: without_times(value) for key, value in report.items() if key != "seconds"}
    if isinstance(report, list):
        return [without_times(value) for value in report]
    return float(f"{report:.3g}") if isinstance(report, float) else report


def test_a_recogniser_is_measured_there(
    run: Run, tmp_path: Path, device: str, people: Any, monkeypatch: pytest.MonkeyPatch
):
    folder, spoken = save_recogniser(tmp_path / "hears"), tone_folder(tmp_path / "tones", people)
    asked = ("speech", "evaluate", "--checkpoint", folder, "--spoken", spoken, "--beam", 2)
    here, there = (
        without_times(run(*asked, "--device", where, "--json").report) for where in ("cpu", device)
    )
    assert here == there


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("cuda", "argument --device: torch sees no CUDA device here; devices: cpu"),
        ("cuda:1", "argument --device: torch sees no CUDA device here; devices: cpu"),
        ("gpu", "argument --device: unknown device 'gpu'; devices: auto, cpu, cuda, cuda:N, mps"),
    ],
)
@pytest.mark.parametrize("verb", ["evaluate", "heads", "knowledge", "repeated"])
def test_a_device_that_is_not_here_is_refused_before_any_work(
    run: Run, verb: str, asked: str, message: str
):
    assert message in run(verb, "--device", asked).error
