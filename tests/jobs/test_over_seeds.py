"""Means over seeds: which runs belong together, their curves, results, and what may be noise."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.intervals import mean_interval
from core.jobs import actions, over_seeds
from core.jobs.folder import read_ticket
from core.jobs.over_seeds import Group, groups_of, names_of_groups, verdict
from core.jobs.spec import TrainSpec
from core.jobs.state import list_jobs
from core.jobs.status import Reporter
from core.jobs.sweeps import make_sweep

Put = Callable[..., list[Path]]
SLOW, FAST = {0: 50, 1: 60, 2: 70}, {0: 56, 1: 65, 2: 77}


@pytest.fixture
def put(runs: Path, launcher: Any, make_spec: Callable[..., TrainSpec]) -> Put:
    """Put a sweep on the disk; returns the folders of its jobs, in the order of the queue."""
    make_spec()

    def put_(**options: Any) -> list[Path]:
        given: dict[str, Any] = {"seeds": (0, 1, 2), "steps": 20, "threads": 1, **options}
        sweep = make_sweep(("tiny",), **given)
        _, ids = actions.start_sweep(runs, sweep.specs, launcher, name=sweep.name)
        return [runs / one for one in ids]

    return put_


def finish(folder: Path, correct: int, *, split: str = "dev") -> None:
    """So many of 100 questions right."""
    figures = {split: {"correct": correct, "total": 100}}
    Reporter(folder, read_ticket(folder).attempt).close("finished", "", figures=figures)


@pytest.fixture
def two_rates(put: Put, runs: Path) -> Callable[..., list[Group]]:
    """Two rates with what each seed has answered; seeds without a figure still wait."""

    def measured(first: dict[int, int], second: dict[int, int], **how: Any) -> list[Group]:
        seeds = sorted({*first, *second})
        folders = iter(put(seeds=seeds, learning_rates=(0.01, 0.001)))
        for seed in seeds:
            for found in (first, second):
                folder = next(folders)
                if seed in found:
                    finish(folder, found[seed], **how)
        return groups_of(list_jobs(runs))

    return measured


def test_runs_that_differ_in_their_seed_alone_are_a_group(put: Put, runs: Path):
    put(seeds=(3, 1), learning_rates=(0.01, 0.001), name="mine")
    first, second = groups_of(list_jobs(runs))
    assert (first.values, second.values) == (("rate 0.01",), ("rate 0.001",))
    assert [job.spec.seed for job in first.jobs if job.spec] == [1, 3]
    assert first.id == f"{first.sweep.id}:rate-0.01"
    assert names_of_groups([first, second]) == ["rate 0.01", "rate 0.001"]


def test_a_sweep_over_seeds_is_one_group_and_a_job_alone_is_none(
    put: Put, runs: Path, start: Callable[..., Path]
):
    start()
    assert groups_of(list_jobs(runs)) == []
    put(name="mine")
    (group,) = groups_of(list_jobs(runs))
    assert (group.id, group.values, len(group.jobs)) == (group.sweep.id, (), 3)
    assert names_of_groups([group]) == ["mine"]


def test_groups_of_several_sweeps_carry_their_names_the_newest_first(
    put: Put, runs: Path, monkeypatch: pytest.MonkeyPatch
):
    ids = iter(f"sweep-20260131-12000{n}-00000{n}" for n in range(3))
    monkeypatch.setattr(actions, "new_sweep_id", lambda _: next(ids))
    put(name="old", learning_rates=(0.01, 0.001))
    put(name="new")
    put(name="new")
    assert names_of_groups(groups_of(list_jobs(runs))) == [
        "new (000002)",
        "new (000001)",
        "old · rate 0.01",
        "old · rate 0.001",
    ]


def test_the_rate_of_the_preset_has_its_word(put: Put, runs: Path):
    put(learning_rates=(0.5,), name="a")
    put(name="b")
    found = {group.sweep.name: group for group in groups_of(list_jobs(runs))}
    assert (found["a"].values, found["b"].values) == ((), ())
    assert over_seeds._settings(found["a"].jobs[0]) == ("tiny", "rate 0.5")
    assert over_seeds._settings(found["b"].jobs[0]) == ("tiny", "usual rate")


def test_a_curve_of_means_has_the_interval_over_runs_at_each_point():
    curves = [[(1, 4.0), (2, 2.0)], [(1, 5.0), (2, 2.0)], [(1, 6.0), (2, 2.0)]]
    (at, mean, low, high), last = over_seeds.mean_curve(curves)
    expected = mean_interval([4, 5, 6])
    assert (at, mean, low, high) == (1, 5, expected.low, expected.high)
    assert last == (2, 2, 2, 2)


def test_runs_of_other_lengths_are_read_between_their_points_as_far_as_all_reach():
    long, short = [(0, 0.0), (4, 4.0), (8, 8.0)], [(1, 1.0), (3, 3.0), (6, 6.0)]
    found = over_seeds.mean_curve([long, short])
    assert [(at, mean) for at, mean, *_ in found] == [(4, 4.0)]
    found = over_seeds.mean_curve([short, [*long[:2], (5, 5.0), (8, 8.0)]])
    assert [(at, mean) for at, mean, *_ in found] == [(1, 1), (3, 3), (6, 6)]
    assert over_seeds.mean_curve([[(0, 1.0)], [(1, 1.0)]]) == []


def test_one_run_is_its_own_mean_and_no_run_has_none():
    assert over_seeds.mean_curve([[(1, 4.0)], []]) == [(1, 4.0, 4.0, 4.0)]
    assert over_seeds.mean_curve([]) == []


def test_losses_are_smoothed_run_by_run_and_answers_stay_between_none_and_all():
    def rows(*losses: float, correct: int) -> list[dict[str, Any]]:
        return [
            {"step": n, "tokens": 10 * n, "seconds": n / 2, "phase": "recall", "loss": loss}
            | {"held_out": {"correct": correct, "total": 100}}
            for n, loss in enumerate(losses, 1)
        ]

    runs = [rows(4, 2, correct=1), rows(6, 4, correct=99)]
    assert [mean for _, mean, *_ in over_seeds.mean_losses(runs, "tokens", window=2)] == [5, 4]
    assert [low for *_, low, _ in over_seeds.mean_losses(runs, "steps")] == [0, 0]
    for at, share, low, high in over_seeds.mean_answers(runs, "steps"):
        assert (share, low, high) == (0.5, 0.0, 1.0)
        assert at in (1, 2)


def test_what_is_counted_are_finished_runs_and_before_the_first_what_there_is(
    two_rates: Callable[..., list[Group]],
):
    done, waits = two_rates({0: 50, 1: 60}, {})
    rows: dict[str, Any] = {job.id: [job.id] for group in (done, waits) for job in group.jobs}
    assert over_seeds.rows_of_counted(done, rows) == [[job.id] for job in done.jobs]
    assert over_seeds.rows_of_counted(waits, rows) == [[job.id] for job in waits.jobs]
    assert over_seeds.rows_of_counted(waits, {waits.jobs[0].id: []}) == []


def test_a_mean_result_is_that_of_finished_runs(two_rates: Callable[..., list[Group]]):
    group, other = two_rates(SLOW, {1: 40})
    mean, expected = over_seeds.mean_result(group, "dev"), mean_interval([0.5, 0.6, 0.7])
    assert mean is not None
    assert (mean.value, mean.low, mean.high) == (expected.value, expected.low, expected.high)
    alone = over_seeds.mean_result(other, "dev")
    assert alone is not None
    assert (alone.value, alone.low, alone.high) == (0.4, 0.4, 0.4)
    assert over_seeds.mean_result(group, "held_out") is None
    row = over_seeds.row(group, "slow")
    assert (row["name"], row["runs"], row["finished"]) == ("slow", 3, 3)
    assert row["dev"]["by_seed"] == {"0": 0.5, "1": 0.6, "2": 0.7}
    assert row["dev"]["interval"] == [expected.low, expected.high]
    assert row["held_out"] == {"by_seed": {}, "mean": None, "interval": None}
    assert over_seeds.row(other, "x")["dev"]["interval"] is None


def test_more_than_noise_is_said_of_pairs_whose_difference_stays(
    two_rates: Callable[..., list[Group]],
):
    groups = two_rates(SLOW, FAST)
    said = verdict(groups, ["slow", "fast"])
    assert said == (
        "fast is ahead of slow by 6.0 points (3.5 to 8.5) of the dev questions (3 seeds in "
        "pairs). The interval leaves out 0: more than noise between seeds."
    )


def test_a_difference_that_seeds_change_may_be_noise(two_rates: Callable[..., list[Group]]):
    said = verdict(two_rates(SLOW, {0: 66, 1: 52, 2: 68}), ["slow", "fast"])
    assert said.startswith("fast is ahead of slow by 2.0 points (-29.0 to 33.0)")
    assert said.endswith("The interval holds 0: the difference may be noise.")


def test_seeds_that_are_not_shared_are_compared_by_their_spreads(
    two_rates: Callable[..., list[Group]],
):
    said = verdict(two_rates({0: 50, 1: 60}, {2: 90, 3: 91}), ["slow", "fast"])
    assert "fast is ahead of slow by 35.5 points" in said
    assert "(their seeds are not the same)" in said


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ({0: 50}, {0: 60}, "With fewer than two finished seeds (a, b) no noise can be told."),
        (SLOW, {1: 60}, "With fewer than two finished seeds (b) no noise can be told."),
        (SLOW, {}, ""),
        (SLOW, SLOW, "a and b are alike in the mean: nothing sets them apart."),
        (
            {0: 50, 1: 60},
            {0: 51, 1: 61},
            (
                "b is ahead of a by 1.0 points (1.0 to 1.0) of the dev questions (2 seeds in "
                "pairs), the same for all seeds: too few of them to tell noise."
            ),
        ),
    ],
)
def test_what_cannot_be_told_is_not(
    two_rates: Callable[..., list[Group]], first: dict[int, int], second: dict[int, int], said: str
):
    assert verdict(two_rates(first, second), ["a", "b"]) == said


def test_without_dev_the_held_out_questions_count_and_one_group_is_ahead_of_nobody(
    two_rates: Callable[..., list[Group]],
):
    groups = two_rates(SLOW, FAST, split="held_out")
    assert "of the held-out questions" in verdict(groups, ["slow", "fast"])
    assert verdict(groups[:1], ["slow"]) == ""
    assert verdict([], []) == ""
