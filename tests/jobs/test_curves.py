"""Curves and tables of measurements: means, intervals, phases, and what differs."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.intervals import wilson_interval
from core.jobs import curves
from core.jobs.spec import TrainSpec
from core.jobs.state import read_job
from core.jobs.status import Reporter
from core.training.recipe import Overrides

ROWS = [
    {"step": 2, "tokens": 100, "seconds": 0.5, "phase": "pretrain", "loss": 4.0},
    {
        "step": 4,
        "tokens": 210,
        "seconds": 1.0,
        "phase": "pretrain",
        "loss": 2.0,
        "held_out": {"correct": 1, "total": 10},
    },
    {"step": 6, "tokens": 330, "seconds": 1.5, "phase": "fine-tune", "loss": 0.0},
]


@pytest.mark.parametrize(
    ("axis", "places"),
    [("steps", [2, 4, 6]), ("tokens", [100, 210, 330]), ("seconds", [0.5, 1, 1.5])],
)
def test_a_curve_can_be_counted_in_steps_tokens_or_seconds(axis: str, places: list[float]):
    assert [at for at, _ in curves.loss_points(ROWS, axis)] == places
    assert [at for at, *_ in curves.accuracy_points(ROWS, axis)] == [places[1]]


@pytest.mark.parametrize(
    ("window", "losses"), [(1, [4, 2, 0]), (2, [4, 3, 1]), (3, [4, 3, 2]), (50, [4, 3, 2])]
)
def test_smoothing_is_the_mean_of_the_last_lines_and_moves_no_point(
    window: int, losses: list[float]
):
    assert curves.loss_points(ROWS, "steps", window=window) == [
        (at, loss) for at, loss in zip([2, 4, 6], losses, strict=True)
    ]


def test_right_answers_carry_their_interval():
    assert curves.accuracy_points(ROWS, "steps") == [(4, 0.1, *wilson_interval(1, 10))]
    assert curves.accuracy_points(ROWS[:1], "steps") == []
    assert curves.loss_points([], "steps") == []


def test_a_phase_begins_where_the_one_before_was_last_seen():
    assert curves.phase_begins(ROWS, "tokens") == [(0, "pretrain"), (210, "fine-tune")]
    assert curves.phase_begins([], "tokens") == []


def test_a_line_that_lacks_something_is_named():
    assert curves.whole(ROWS) == ROWS
    with pytest.raises(ValueError, match=r"metrics.jsonl, line 4: phase, loss is missing"):
        curves.whole([*ROWS, {"step": 8, "tokens": 1, "seconds": 2.0}])


def test_a_table_has_the_same_columns_in_every_row():
    first, second, _ = curves.flat_rows(ROWS)
    assert list(first) == list(second)
    assert (first["held_out_correct"], second["held_out_correct"]) == (None, 1)
    assert (second["held_out_total"], second["loss"], second["rate"]) == (10, 2.0, None)


def test_a_result_is_the_card_s_once_there_is_one(start: Callable[..., Path]):
    folder = start()
    assert curves.result(read_job(folder), "held_out") is None
    Reporter(folder, 1).write(held_out={"step": 3, "correct": 1, "total": 10})
    assert curves.result(read_job(folder), "held_out") == (0.1, *wilson_interval(1, 10))
    assert curves.result(read_job(folder), "dev") is None
    figures = {"held_out": {"correct": 2, "total": 10}, "dev": {"correct": 5, "total": 20}}
    Reporter(folder, 1).write(figures=figures)
    assert curves.result(read_job(folder), "held_out") == (0.2, *wilson_interval(2, 10))
    assert curves.result(read_job(folder), "dev") == (0.25, *wilson_interval(5, 20))


@pytest.mark.parametrize(
    ("other", "expected"),
    [((0.6, 0.5, 0.7), True), ((0.6, 0.41, 0.7), True), ((0.9, 0.71, 0.99), False)],
)
def test_intervals_that_overlap_may_be_noise(other: curves.Share, expected: bool):
    one = (0.55, 0.4, 0.7)
    assert curves.overlap(one, other) is curves.overlap(other, one) is expected


def test_constant_answers_stand_once(start: Callable[..., Path]):
    jobs: list[Any] = []
    for answer in ("London", "London", "Paris"):
        folder = start()
        jobs.append(read_job(folder))
        Reporter(folder, 1).write(baseline={"answer": answer, "accuracy": 0.05})
        jobs.append(read_job(folder))
    assert curves.baselines(jobs) == [("London", 0.05), ("Paris", 0.05)]


def test_only_what_differs_is_told_and_the_name_is_no_setting(
    make_spec: Callable[..., TrainSpec],
):
    one = make_spec(name="one")
    assert curves.differences([one, make_spec(name="other")]) == []
    other = make_spec(seed=3, minutes=2.0, overrides=Overrides(n_layers=2, learning_rate=0.01))
    assert curves.differences([one, other]) == [
        ("length", ["20 steps", "2 min"]),
        ("seed", ["0", "3"]),
        ("layers", ["1", "2"]),
        ("matrix rate", ["0.02", "0.01"]),
        ("adamw rate", ["0.003", "0.0015"]),
    ]


def test_phases_that_differ_are_told_with_their_mixtures(make_spec: Callable[..., TrainSpec]):
    one = make_spec()
    mixed, answers = one.recipe.phases
    phases = (answers, replace(answers, name="more", rate=0.1, share=1.0))
    other = replace(one, recipe=replace(one.recipe, phases=phases), start_from="base")
    mixture = "shuffled facts 1, salient spans 1, span corruption 1, questions 1"
    assert mixed.name == "mixed"
    assert curves.differences([one, other]) == [
        ("starts from", ["nothing", "base"]),
        ("phase mixed", [f"0.6 of the steps: {mixture}", "–"]),
        ("phase more", ["–", "1 of the steps: questions 1, answers only, rate 0.1"]),
    ]


def test_a_job_whose_spec_cannot_be_read_has_question_marks(make_spec: Callable[..., TrainSpec]):
    told = dict(curves.differences([make_spec(), None]))
    assert told["seed"] == ["0", "?"]
