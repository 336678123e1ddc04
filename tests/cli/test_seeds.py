"""`seeds`: one preset trained with several seeds, their dev accuracies in one table."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.cli import tables

Run = Callable[..., Any]


@pytest.fixture
def arguments(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> tuple[object, ...]:
    """Trainings of 4 steps below the temporary folder."""
    found = iter([4])  # measured once: a second measurement would give other steps
    monkeypatch.setattr("core.runs.run.steps_for_minutes", lambda *_, **__: next(found))
    paths = ("--runs", tmp_path / "runs", "--out", tmp_path / "seeds.json")
    return ("seeds", "--preset", "tiny", "--seeds", 3, 5, *paths)


def test_every_seed_is_trained_and_stands_in_the_table(
    run: Run, arguments: tuple[object, ...], tmp_path: Path
):
    table = run(*arguments, "--json").report
    assert table == json.loads((tmp_path / "seeds.json").read_text())
    assert (table["preset"], table["minutes"], table["split"]) == ("tiny", 30.0, "dev")
    accuracies = []
    for row, seed in zip(table["runs"], (3, 5), strict=True):
        folder = tmp_path / "runs" / f"tiny-30min-{seed}"
        card = json.loads((folder / "card.json").read_text())
        assert (row["seed"], row["n_steps"]) == (seed, 4) == (card["seed"], card["n_steps"])
        assert {name: row[name] for name in card["figures"]["dev"]} == card["figures"]["dev"]
        assert row["held_out"] == card["figures"]["held_out"]
        assert row["machine"] == card["machine"]
        accuracies.append(row["accuracy"])
    assert table["range"] == [min(accuracies), max(accuracies)]
    assert table["mean"] == pytest.approx(sum(accuracies) / 2)


def test_a_seed_that_was_trained_is_not_trained_again(
    run: Run, arguments: tuple[object, ...], monkeypatch: pytest.MonkeyPatch
):
    first = run(*arguments, "--json").report
    monkeypatch.setattr(tables, "train", lambda *_, **__: pytest.fail("trained again"))
    assert run(*arguments, "--json").report == first
    low, high = first["range"]
    assert run(*arguments).out == f"tiny: {first['mean']:.1%} of dev ({low:.1%} to {high:.1%})\n"


def test_seeds_of_different_lengths_do_not_stand_in_one_table(
    run: Run, arguments: tuple[object, ...], tmp_path: Path
):
    assert run(*arguments).status == 0
    path = tmp_path / "runs" / "tiny-30min-5" / "card.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "n_steps": 6}))
    assert run(*arguments).error.endswith("tiny-30min-5 holds another training: name other --runs")


def test_a_seed_named_twice_is_refused(run: Run, tmp_path: Path):
    error = run("seeds", "--seeds", 1, 1, "--runs", tmp_path).error
    assert error == "error: each seed once, not 1 1"
