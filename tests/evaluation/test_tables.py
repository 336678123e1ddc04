"""Published figures, the ablation and the seeds, read from assets."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.evaluation.tables import (
    Published,
    load_ablation,
    load_published,
    load_seeds,
    published_for,
)
from core.intervals import wilson_interval
from core.models.config import VARIANTS
from core.paths import ASSETS
from core.training.presets import ABLATION as ABLATION_PRESETS

TABLES = ASSETS / "report_card"
SHIPPED = TABLES / "published.json"
RUN = {"preset": "p", "label": "base", "differs": "the base", "n_steps": 9, "seconds": 600.0}
ABLATION: dict[str, Any] = {
    "minutes": 10,
    "seed": 0,
    "machine": "a machine",
    "split": "held-out",
    "total": 200,
    "runs": [
        {**RUN, "n_parameters": 5, "correct": 130, "total": 200, "accuracy": 0.65},
        {**RUN, "label": "other", "n_parameters": 5, "correct": 31, "total": 200},
    ],
}

SEEDS: dict[str, Any] = {
    "preset": "course-pieces",
    "minutes": 30,
    "machine": "a machine",
    "split": "dev",
    "runs": [
        {"seed": 0, "accuracy": 0.8, "n_steps": 6503, "seconds": 1838.0},
        {"seed": 1, "accuracy": 0.9, "n_steps": 6503, "seconds": 1897.0},
        {"seed": 4, "accuracy": 0.7, "n_steps": 6503, "seconds": 2346.0},
    ],
}


def write(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_the_shipped_figures_are_those_of_the_issue():
    figures = load_published(SHIPPED).figures
    shares = {
        (f.public, f.variant, f.pretraining): [g.accuracy for g in figures if key(g) == key(f)]
        for f in figures
    }
    assert shares == {
        (True, "vanilla", False): [0.014],
        (True, "vanilla", True): [0.318],
        (True, "rotary", True): [0.404],
        (True, "synthesizer", True): [0.15],
        (True, "perceiver", True): [0.192],
        (False, "vanilla", False): [0.01, 0.012, 0.018],
        (False, "vanilla", True): [0.138, 0.222, 0.118],
        (False, "synthesizer", True): [0.238],
        (False, "perceiver", True): [0.028],
        (False, "constant", None): [0.05],
    }
    assert {f.variant for f in figures} == {*VARIANTS, "constant"}


def test_the_shipped_source_says_which_public_figure_is_a_median():
    table = load_published(SHIPPED)
    assert "Public: the best public figure of a variant" in table.source
    assert "without pretraining the median" in table.source
    (median,) = [f for f in table.figures if f.public and not f.pretraining]
    assert median.note == "median, not the best"


def key(figure: Published) -> tuple[bool, str, bool | None]:
    return figure.public, figure.variant, figure.pretraining


def test_a_doubtful_label_carries_its_note():
    (figure,) = [f for f in load_published(SHIPPED).figures if f.accuracy == 0.238]
    assert "doubtful label" in figure.note
    assert "parameter count of the vanilla model" in figure.note


@pytest.mark.parametrize(
    "content",
    [
        {"public": []},
        {"public": [{"variant": "rotary"}], "reports": []},
        {"public": [3]},
        {"public": [], "reports": []},  # it says not what they are
    ],
)
def test_a_table_that_lacks_something_is_refused(tmp_path: Path, content: dict[str, Any]):
    path = write(tmp_path / "published.json", content)
    with pytest.raises(ValueError, match=r"published\.json: not a table of published figures"):
        load_published(path)


def test_figures_belong_to_the_same_variant_or_to_none_pretrained():
    figures = load_published(SHIPPED).figures

    def shares(variant: str, *, pretrained: bool | None) -> list[float]:
        return [f.accuracy for f in published_for(variant, figures, pretrained=pretrained)]

    assert shares("rotary", pretrained=True) == [0.404]
    assert shares("vanilla", pretrained=True) == [0.318, 0.138, 0.222, 0.118]
    assert shares("synthesizer", pretrained=None) == [0.15, 0.238]
    assert shares("dense-synthesizer", pretrained=True) == []
    assert shares("rotary", pretrained=False) == [0.014, 0.01, 0.012, 0.018]


def test_the_ablation_is_read_in_its_order_with_intervals(tmp_path: Path):
    found = load_ablation(write(tmp_path / "ablation.json", ABLATION))
    assert found is not None
    assert (found.minutes, found.seed, found.split) == (10, 0, "held-out")
    assert [run.label for run in found.runs] == ["base", "other"]
    assert [run.accuracy for run in found.runs] == [0.65, 0.155]
    assert found.runs[0].interval == wilson_interval(130, 200)
    assert (found.runs[0].preset, found.runs[0].n_steps, found.runs[0].n_parameters) == ("p", 9, 5)


def test_runs_share_their_minutes_or_their_steps(tmp_path: Path):
    found = load_ablation(write(tmp_path / "minutes.json", ABLATION))
    assert found is not None
    assert found.length == "10 minutes"
    runs = [{**run, "n_steps": 1800} for run in ABLATION["runs"]]
    table: dict[str, Any] = {**ABLATION, "minutes": None, "runs": runs}
    found = load_ablation(write(tmp_path / "steps.json", table))
    assert found is not None
    assert (found.minutes, found.length) == (None, "1,800 steps")
    runs[1]["n_steps"] = 1801
    with pytest.raises(ValueError, match="neither minutes nor a number of steps is the same"):
        load_ablation(write(tmp_path / "steps.json", table))


def test_runs_may_say_more_than_is_read_and_need_no_preset(tmp_path: Path):
    runs = [{**run, "machine": "its own"} for run in ABLATION["runs"]]
    del runs[1]["preset"]
    found = load_ablation(write(tmp_path / "ablation.json", {**ABLATION, "runs": runs}))
    assert found is not None
    assert [run.preset for run in found.runs] == ["p", ""]
    assert found.machine == "a machine"
    runs = [{**run, "machine": "its own"} for run in SEEDS["runs"]]
    assert load_seeds(write(tmp_path / "seeds.json", {**SEEDS, "runs": runs})) is not None


def test_the_shipped_ablation_has_the_rows_of_the_presets_on_the_same_questions():
    found = load_ablation(TABLES / "ablation.json")
    assert found is not None
    assert [run.preset for run in found.runs] == [v.recipe.name for v in ABLATION_PRESETS]
    assert {(found.split, found.minutes, run.total) for run in found.runs} == {
        ("held-out", 10.0, 200)
    }


def test_the_shipped_seeds_are_three_equal_trainings():
    spread = load_seeds(TABLES / "seeds.json")
    assert spread is not None
    assert (spread.preset, spread.split, sorted(spread.accuracies)) == (
        "course-untaught",
        "dev",
        [0, 1, 2],
    )


def test_before_the_ablation_was_run_there_is_none(tmp_path: Path):
    assert load_ablation(tmp_path / "ablation.json") is None
    assert load_ablation(write(tmp_path / "ablation.json", {**ABLATION, "runs": []})) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"runs": 3},
        {"runs": [RUN]},
        {"machine": ...},
        {"minutes": "ten"},
        {"runs": [[]]},
        {"runs": ["x"]},
    ],
)
def test_a_broken_ablation_is_refused(tmp_path: Path, changes: dict[str, Any]):
    kept = {name: value for name, value in {**ABLATION, **changes}.items() if value is not ...}
    path = write(tmp_path / "ablation.json", kept)
    with pytest.raises(ValueError, match=r"ablation\.json: not the result of an ablation"):
        load_ablation(path)


def test_impossible_counts_are_refused(tmp_path: Path):
    runs = [{**ABLATION["runs"][0], "correct": 201}]
    path = write(tmp_path / "ablation.json", {**ABLATION, "runs": runs})
    with pytest.raises(ValueError, match="201 of 200"):
        load_ablation(path)


def test_seeds_are_read_with_their_mean_and_range(tmp_path: Path):
    spread = load_seeds(write(tmp_path / "seeds.json", SEEDS))
    assert spread is not None
    assert spread.accuracies == {0: 0.8, 1: 0.9, 4: 0.7}
    assert spread.mean == pytest.approx(0.8)
    assert spread.range == (0.7, 0.9)
    assert spread.n_steps == 6503
    assert spread.seconds == (1838.0, 1897.0, 2346.0)


def test_before_several_seeds_were_trained_there_are_none(tmp_path: Path):
    assert load_seeds(tmp_path / "seeds.json") is None
    assert load_seeds(write(tmp_path / "seeds.json", {**SEEDS, "runs": []})) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"runs": 3},
        {"runs": [{"seed": 0}]},
        {"runs": [{"seed": 0, "accuracy": 0.8}]},
        {"runs": [*SEEDS["runs"], {**SEEDS["runs"][0], "seed": 5, "n_steps": 6502}]},
        {"minutes": "many"},
    ],
)
def test_broken_seeds_are_refused(tmp_path: Path, changes: dict[str, Any]):
    path = write(tmp_path / "seeds.json", {**SEEDS, **changes})
    with pytest.raises(ValueError, match=r"seeds\.json: not the accuracies of several seeds"):
        load_seeds(path)
