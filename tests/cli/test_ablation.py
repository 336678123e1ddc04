"""`ablation`: every row is trained once, goes on where it stopped, and stands in one table."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.cli import tables, train
from core.training.recipe import Recipe
from core.training.variation import Variation

Run = Callable[..., Any]


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch, recipe: Recipe) -> tuple[Variation, ...]:
    """Two rows of the tiny recipe, 4 steps each."""
    one = replace(recipe, name="ablation-one", n_snapshots=0)
    found = (
        Variation(label="all", differs="nothing", recipe=one),
        Variation(
            label="AdamW", differs="optimizer", recipe=replace(one, name="b", optimizer="adamw")
        ),
    )
    monkeypatch.setitem(tables.ABLATIONS, "pretraining", (found, "ablation.json"))
    monkeypatch.setattr("core.runs.run.steps_for_minutes", lambda *_, **__: 4)
    return found


def test_every_row_is_trained_and_stands_in_the_table(
    run: Run, rows: tuple[Variation, ...], tmp_path: Path
):
    out = tmp_path / "ablation.json"
    table = run("ablation", "--runs", tmp_path / "runs", "--out", out, "--json").report
    assert table == json.loads(out.read_text())
    assert (table["minutes"], table["seed"], table["split"]) == (10.0, 0, "held-out")
    assert [row["label"] for row in table["runs"]] == ["all", "AdamW"]
    for row, variation in zip(table["runs"], rows, strict=True):
        folder = tmp_path / "runs" / f"{variation.recipe.name}-10min-0"
        card = json.loads((folder / "card.json").read_text())
        assert row["n_steps"] == card["n_steps"] == 4
        assert row["machine"] == card["machine"] == table["machine"]
        assert (row["correct"], row["total"]) == (
            card["figures"]["held_out"]["correct"],
            table["total"],
        )
        assert set(card["figures"]) == {"held_out"}


@pytest.mark.usefixtures("rows")
def test_a_row_that_was_trained_is_not_trained_again(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    arguments = ("ablation", "--runs", tmp_path / "runs", "--out", tmp_path / "a.json")
    first = run(*arguments, "--json").report
    monkeypatch.setattr(tables, "train", lambda *_, **__: pytest.fail("trained again"))
    again = run(*arguments)
    assert again.status == 0
    assert "AdamW: " in again.out
    assert json.loads((tmp_path / "a.json").read_text()) == first


@pytest.mark.usefixtures("rows")
def test_a_stopped_ablation_goes_on(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    arguments = ("ablation", "--runs", tmp_path / "runs", "--out", tmp_path / "a.json")
    with monkeypatch.context() as patch:
        patch.setattr(tables, "train", stop)
        assert run(*arguments).error == "error: stopped"
    assert not (tmp_path / "a.json").exists()
    assert len(run(*arguments, "--json").report["runs"]) == 2


def stop(run: train.Run, **_: object) -> None:
    raise ValueError("stopped")


@pytest.mark.parametrize("change", [("--seed", 1), ("--minutes", 2)])
def test_another_seed_or_length_is_trained_anew(
    run: Run, rows: tuple[Variation, ...], change: tuple[str, int], tmp_path: Path
):
    arguments = ("ablation", "--runs", tmp_path / "runs", "--out", tmp_path / "a.json")
    assert run(*arguments).status == 0
    assert run(*arguments, *change).status == 0
    assert len(list((tmp_path / "runs").iterdir())) == 2 * len(rows)


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("changed", ["data_sha256", "seed", "recipe"])
def test_another_training_in_the_place_of_a_row_is_not_taken(
    run: Run, changed: str, tmp_path: Path
):
    arguments = ("ablation", "--runs", tmp_path / "runs", "--out", tmp_path / "a.json")
    assert run(*arguments).status == 0
    path = tmp_path / "runs" / "ablation-one-10min-0" / "card.json"
    card = json.loads(path.read_text())
    other = {**card["recipe"], "width": 24} if changed == "recipe" else 7
    path.write_text(json.dumps({**card, changed: other}))
    error = run(*arguments).error
    assert error.endswith("ablation-one-10min-0 holds another training: name other --runs")
