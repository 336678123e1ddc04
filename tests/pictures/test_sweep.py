"""Sweeps: what is asked for, what is kept, and what no sweep can be."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.files import read_json
from core.pictures.sweep import Sweep, joined, read_sweep, run_from_dict, write_sweep
from core.pictures.sweep_spec import Case, SweepSpec, seconds_of, sweep_spec_from_dict
from tests.pictures.sweeps import N_TEST, made_up

OTHER_PICTURES = replace(made_up(lambda _: 1).pictures, digest="1" * 64)


def test_the_usual_sweep_is_the_homework_s_three_rates_from_five_seeds():
    cases = SweepSpec().cases
    assert len(cases) == 5 * (3 + 3 + 1)
    assert cases[:3] == [
        Case("pooling", 0.1, 0),
        Case("pooling", 0.01, 0),
        Case("pooling", 0.001, 0),
    ]
    assert cases[6] == Case("patches", 0.002, 0)
    assert seconds_of(SweepSpec()) == pytest.approx(seconds_of(SweepSpec(), 0))
    assert seconds_of(SweepSpec(), len(cases)) == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"networks": ()}, "each once, at least one"),
        ({"networks": ("pooling", "pooling")}, "each once, at least one"),
        ({"networks": ("lstm",)}, "unknown network 'lstm'"),
        ({"rates": ()}, "0 rates; 1 to 8 that differ are allowed"),
        ({"rates": (0.1, 0.1)}, "2 rates; 1 to 8 that differ are allowed"),
        ({"rates": (0.0,)}, "rate 0; above 0 and at most 10 is allowed"),
        ({"patch_rate": float("nan")}, "rate nan; above 0"),
        ({"seeds": 0}, "seeds is 0; 1 to 20 are allowed"),
        ({"first_seed": -1}, "first_seed is -1; 0 to 2,147,483,647 are allowed"),
        ({"epochs": 10**6}, "epochs is 1000000; 1 to 200 are allowed"),
        ({"batch": 1}, "batch is 1; 8 to 1,024 are allowed"),
        ({"threads": 0}, "threads is 0; 1 to 256 are allowed"),
        ({"padding": 3}, "padding 3; 0 or 1 is allowed"),
    ],
)
def test_what_is_not_trained_is_refused(changes: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        SweepSpec(**changes)


def test_a_spec_comes_back_from_json_as_it_was():
    spec = SweepSpec(rates=(0.5,), networks=("patches",), padding=1, first_seed=3)
    assert sweep_spec_from_dict(json.loads(json.dumps(spec.to_dict()))) == spec


def test_a_spec_of_before_seeds_could_begin_elsewhere_begins_at_0():
    data = SweepSpec(seeds=2).to_dict()
    assert data.pop("first_seed") == 0
    assert sweep_spec_from_dict(data) == SweepSpec(seeds=2)


def test_the_parts_of_a_sweep_are_its_seeds_and_together_its_cases():
    spec = SweepSpec(seeds=3, first_seed=4, rates=(0.1,))
    assert [(part.first_seed, part.seeds) for part in spec.by_seed] == [(4, 1), (5, 1), (6, 1)]
    assert [case for part in spec.by_seed for case in part.cases] == spec.cases


def right(case: Case) -> int | None:
    return None if case.rate == 0.1 else 100 + case.seed


def parts(n: int, **changes: Any) -> list[Sweep]:
    return [made_up(right, seeds=1, first_seed=seed, **changes) for seed in range(n)]


def test_seeds_that_were_trained_apart_make_the_sweep_that_they_are_of():
    whole, (first, second, third) = made_up(right), parts(3)
    assert joined([third, first, second]) == whole
    assert joined([first]) == first
    elsewhere = replace(second, machine={"processor": "another"})
    machine = joined([first, elsewhere, third]).machine
    assert machine == {"processor": "none", "also": [{"processor": "another"}]}


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda found: found[:1] + found[2:], "seed 2 is there, 1 should be"),
        (lambda found: [*found, found[1]], "seed 1 is there, 2 should be"),
        (
            lambda found: [*found[:2], made_up(right, seeds=1, first_seed=2, epochs=3)],
            "seed 2 was trained otherwise than the first",
        ),
        (
            lambda found: [found[0], replace(found[1], pictures=OTHER_PICTURES)],
            "seed 1 was trained otherwise than the first",
        ),
        (
            lambda found: [found[0], replace(found[1], runs=found[1].runs[:2])],
            "seed 1: 2 of 5 trainings are there",
        ),
    ],
)
def test_what_makes_no_sweep_is_refused(spoil: Callable[[list[Sweep]], list[Sweep]], message: str):
    with pytest.raises(ValueError, match=message):
        joined(spoil(parts(3)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seeds": "5"}, "seeds is '5', int is needed"),
        ({"rates": [0.1, "x"]}, "rates is"),
        ({"colour": 1}, "unknown keys: colour"),
        ({"seeds": None}, "seeds is None"),
    ],
)
def test_a_damaged_spec_is_refused(changes: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        sweep_spec_from_dict({**SweepSpec().to_dict(), **changes})
    with pytest.raises(ValueError, match="missing keys: source"):
        sweep_spec_from_dict({k: v for k, v in SweepSpec().to_dict().items() if k != "source"})


def test_a_sweep_comes_back_from_its_file_as_it_was(tmp_path: Path):
    sweep = made_up(lambda case: None if case.rate == 0.1 else 100 + case.seed, n_runs=9)
    write_sweep(tmp_path / "look.json", sweep)
    assert read_sweep(tmp_path / "look.json") == sweep
    assert not sweep.is_whole
    diverged, fine = sweep.runs[0], sweep.runs[1]
    assert (diverged.accuracy, diverged.validation_accuracy, len(diverged.epochs)) == (None, 0, 1)
    assert (fine.accuracy, fine.shifted_accuracy(0), fine.shifted_accuracy(1)) == (0.5, 0.5, 0.5)
    assert (fine.shifted_accuracy(2), fine.shifted_accuracy(4)) == (0.25, 0)
    assert diverged.shifted_accuracy(3) is None


def row(**changes: Any) -> dict[str, Any]:
    return {**made_up(lambda _: 100).runs[0].to_dict(), **changes}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"correct": N_TEST + 1}, "201 of 200 test pictures"),
        ({"n_test": 0, "correct": 0}, "0 of 0 test pictures"),
        ({"shifted_correct": [1, 2, 3]}, "4 counts up to 800"),
        ({"shifted_correct": [1, 2, 3, 801]}, "4 counts up to 800"),
        ({"shifted_correct": 3}, "shifted_correct is 3"),
        ({"epochs": []}, "epochs is"),
        ({"epochs": {"loss": [1.0]}}, "epochs need lists of one length"),
        (
            {"epochs": {"loss": [1.0], "validation_loss": [], "validation_accuracy": []}},
            "epochs need lists of one length",
        ),
        (
            {"epochs": {"loss": [], "validation_loss": [], "validation_accuracy": []}},
            "no epoch",
        ),
        (
            {"epochs": {"loss": ["x"], "validation_loss": [1.0], "validation_accuracy": [0.5]}},
            "loss is 'x'",
        ),
        ({"seed": "0"}, "seed is '0'"),
        ({"colour": 1}, "unknown keys: colour"),
    ],
)
def test_what_no_training_can_have_found_is_refused(changes: dict[str, Any], message: str):
    assert run_from_dict(row(step=3)) == made_up(lambda _: 100).runs[0]
    with pytest.raises(ValueError, match=f"not a training: .*{message}"):
        run_from_dict(row(**changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"runs": 3}, "runs is 3; a list is needed"),
        ({"runs": [3]}, "runs holds what is no object"),
        ({"spec": 3}, "spec is 3"),
        ({"machine": []}, "machine is"),
        ({"pictures": {"name": "x"}}, "missing keys"),
        ({"runs": [row(seed=2)]}, "pooling at 0.1, seed 2 stands where pooling at 0.1, seed 0"),
        ({"more": 1}, "unknown keys: more"),
    ],
)
def test_a_file_that_is_no_sweep_is_refused_with_its_name(
    tmp_path: Path, changes: dict[str, Any], message: str
):
    path = tmp_path / "look.json"
    write_sweep(path, made_up(lambda _: 100))
    path.write_text(json.dumps({**read_json(path), **changes}))
    with pytest.raises(ValueError, match=f"look.json: .*{message}") as caught:
        read_sweep(path)
    assert "\n" not in str(caught.value)


def test_more_trainings_than_were_asked_for_are_refused(tmp_path: Path):
    path = tmp_path / "look.json"
    sweep = made_up(lambda _: 100)
    write_sweep(path, sweep)
    rows = read_json(path)["runs"]
    path.write_text(json.dumps({**read_json(path), "runs": [*rows, rows[0]]}))
    with pytest.raises(ValueError, match="16 trainings of 15"):
        read_sweep(path)
