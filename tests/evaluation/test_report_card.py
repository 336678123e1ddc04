"""Rows of the report card from files that are whole, stale, broken, or of something else."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.evaluation.report_card import STALE, distinct, load_rows, named_objectives
from core.files import sha256

Put = Callable[..., Path]


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    return tmp_path / "checkpoints"


def change(path: Path, **changes: Any) -> None:
    content = {**json.loads(path.read_text(encoding="utf-8")), **changes}
    kept = {key: value for key, value in content.items() if value is not ...}
    path.write_text(json.dumps(kept), encoding="utf-8")


def test_a_row_holds_what_the_files_say(put_course: Put, shelf: Path):
    put_course(correct=410)
    (row,) = load_rows(shelf)
    assert (row.name, row.kind, row.label) == ("course-pieces", "rotary, pieces", "rotary, pieces")
    assert (row.n_parameters, row.seconds, row.machine) == (3104512, 1700.0, "a machine")
    assert row.command == "python -m core train --preset course-pieces"
    assert row.objectives == ("shuffled facts",)
    assert row.problem == ""
    measured = row.measured
    assert measured is not None
    assert (measured.correct, measured.total, measured.accuracy) == (410, 500, 0.82)
    assert measured.interval == pytest.approx((0.78, 0.86))
    assert measured.baselines["lookup_baseline"] == 0.856
    assert measured.kinds == {"right_country": 20, "known_place": 70, "made_up": 0}


def test_the_most_accurate_comes_first_and_the_unmeasured_last(put_course: Put, shelf: Path):
    for name, correct in (("a", None), ("b", 10), ("c", 400), ("d", 200)):
        put_course(name, correct)
    assert [row.name for row in load_rows(shelf)] == ["c", "d", "b", "a"]


@pytest.mark.parametrize(
    ("config", "vocabulary", "kind"),
    [
        ({"positions": "rotary"}, "bpe", "rotary, pieces"),
        ({}, "char", "vanilla, characters"),
        ({"attention": "synthesizer"}, "bpe", "Synthesizer, pieces"),
        ({"attention": "dense-synthesizer"}, "bpe", "Synthesizer (per head), pieces"),
        ({"attention": "elu"}, "bpe", "linear (elu+1), pieces"),
        ({"attention": "favor"}, "char", "linear (FAVOR+), characters"),
        ({"n_latents": 64}, "char", "Perceiver, characters"),
    ],
)
def test_the_variant_is_read_from_the_configuration(
    put_course: Put, shelf: Path, config: dict[str, Any], vocabulary: str, kind: str
):
    put_course(config={"positions": "learned", **config}, vocabulary=vocabulary)
    assert load_rows(shelf)[0].kind == kind


def test_without_an_objective_beside_the_questions_there_is_no_pretraining(
    put_course: Put, shelf: Path
):
    put_course("scratch", 5, recipe={"phases": [{"questions": 1.0, "shuffled_facts": 0.0}]})
    put_course("imported", 4, recipe={"phases": None}, seconds=None)
    scratch, imported = load_rows(shelf)
    assert (scratch.pretrained, scratch.label) == (False, "no pretraining")
    assert (imported.pretrained, imported.objectives, imported.seconds) == (None, None, None)
    assert imported.label == "rotary, pieces"


def test_a_fine_tuned_model_was_pretrained_where_it_comes_from(put_course: Put, tmp_path: Path):
    questions = {"phases": [{"questions": 1.0}]}
    before = {"recipe": {"phases": [{"ordered_facts": 1.0, "questions": 0.5}]}}
    put_course("tuned", recipe=questions, start_from=before)
    put_course("twice", recipe=questions, start_from={"recipe": questions, "start_from": before})
    put_course("scratch", recipe=questions, start_from=None)
    rows = {row.name: row.objectives for row in load_rows(tmp_path / "checkpoints")}
    assert rows == {"tuned": ("facts in order",), "twice": ("facts in order",), "scratch": ()}


def test_an_evaluation_of_other_weights_is_stale(put_course: Put, shelf: Path):
    (put_course() / "model.safetensors").write_bytes(b"trained again")
    (row,) = load_rows(shelf)
    assert (row.measured, row.problem) == (None, STALE)


def test_weights_are_hashed_by_the_given_function(put_course: Put, shelf: Path):
    put_course()
    assert load_rows(shelf, digest=lambda path: path.name)[0].problem == STALE


def test_a_row_without_an_evaluation_has_no_problem(put_course: Put, shelf: Path):
    put_course(correct=None)
    (row,) = load_rows(shelf)
    assert (row.measured, row.problem) == (None, "")


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"kinds": ...}, "evaluation-dev.json: kinds is missing"),
        ({"ceiling": ...}, "evaluation-dev.json: ceiling is missing"),
        ({"weights_sha256": ...}, "evaluation-dev.json: weights_sha256 is missing"),
        ({"correct": None}, "int"),
        ({"correct": float("inf")}, "evaluation-dev.json: holds inf; numbers must be finite"),
        ({"interval_95": [0.1]}, "not enough values"),
        ({"kinds": [1]}, "items"),
    ],
)
def test_an_evaluation_that_lacks_something_is_named(
    put_course: Put, shelf: Path, changes: dict[str, Any], problem: str
):
    change(put_course() / "evaluation-dev.json", **changes)
    (row,) = load_rows(shelf)
    assert row.measured is None
    assert problem in row.problem


def test_a_broken_evaluation_is_named_by_its_file_alone(put_course: Put, shelf: Path):
    (put_course() / "evaluation-dev.json").write_text('{"correct": 3')
    assert load_rows(shelf)[0].problem.startswith("evaluation-dev.json: not JSON")


def test_missing_weights_are_named(put_course: Put, shelf: Path):
    (put_course() / "model.safetensors").unlink()
    assert load_rows(shelf)[0].problem.startswith("model.safetensors: cannot be read")


def test_without_weights_the_evaluation_has_to_be_of_those_that_the_card_describes(
    put_course: Put, shelf: Path
):
    folder = put_course()
    (whole,) = load_rows(shelf)
    assert whole.has_weights
    stated = {"model.safetensors": sha256(folder / "model.safetensors")}
    change(folder / "card.json", files=stated)
    (folder / "model.safetensors").unlink()
    (row,) = load_rows(shelf)
    assert (row.measured, row.problem, row.has_weights) == (whole.measured, "", False)
    change(folder / "card.json", files={"model.safetensors": "of others"})
    (row,) = load_rows(shelf)
    assert (row.measured, row.problem, row.has_weights) == (None, STALE, False)


def test_weights_that_are_there_are_hashed_whatever_the_card_says(put_course: Put, shelf: Path):
    change(put_course() / "card.json", files={"model.safetensors": "of others"})
    assert load_rows(shelf)[0].problem == ""


def test_a_row_whose_model_taught_itself_is_marked(put_course: Put, shelf: Path):
    pretrained = [{"questions": 0.2, "shuffled_facts": 0.8}]
    put_course("plain", 1, recipe={"self_taught": 0.0})
    put_course("tuned", 2, start_from={"recipe": {"self_taught": 0.5, "phases": pretrained}})
    counts = {"read": 1200, "sure": 950, "practised": 900}
    put_course("taught", 3, recipe={"self_taught": 1.0}, self_taught=counts)
    put_course("scratch", 4, recipe={"self_taught": 1, "phases": [{"questions": 1.0}]})
    scratch, taught, tuned, plain = load_rows(shelf)
    assert [row.self_taught for row in (scratch, taught, tuned, plain)] == [1.0, 1.0, 0.5, 0.0]
    assert (taught.practised, tuned.practised) == ((900, 1200), None)
    assert taught.kind == taught.label == tuned.kind == "rotary, pieces, self-taught"
    assert plain.kind == plain.label == "rotary, pieces"
    assert (scratch.kind, scratch.label) == (taught.kind, "no pretraining, self-taught")


@pytest.mark.parametrize("counts", [{"read": 5}, {"read": 5, "practised": "all"}])
def test_a_card_with_odd_counts_of_questions_is_left_out(
    put_course: Put, shelf: Path, counts: dict[str, Any]
):
    put_course("odd", self_taught=counts)
    put_course("whole")
    assert [row.name for row in load_rows(shelf)] == ["whole"]


@pytest.mark.parametrize("share", ["all", [1], {"all": 1}])
def test_a_card_with_an_odd_share_of_questions_is_left_out(
    put_course: Put, shelf: Path, share: object
):
    put_course("odd", recipe={"self_taught": share})
    put_course("whole")
    assert [row.name for row in load_rows(shelf)] == ["whole"]


def test_other_checkpoints_are_no_rows(put_course: Put, shelf: Path):
    put_course("notable", recipe={"corpus": "notable"})
    (put_course("no-card") / "card.json").write_text("[]")
    (put_course("no-config") / "config.json").write_text('{"vocabulary_size": 0}')
    (put_course("other-config") / "config.json").write_text('{"layers": 3}')
    put_course("whole")
    assert [row.name for row in load_rows(shelf)] == ["whole"]
    assert load_rows(shelf / "nowhere") == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("n_parameters", value) for value in ("many", [3], float("inf"))),
        *(("seconds", value) for value in ("many", [3], {"s": 3}, 10**400)),
    ],
)
def test_a_card_without_a_number_where_one_belongs_is_left_out(
    put_course: Put, shelf: Path, field: str, value: object
):
    put_course("odd", **{field: value})
    put_course("whole")
    assert [row.name for row in load_rows(shelf)] == ["whole"]


def test_an_objective_counts_where_any_phase_has_it():
    phases = [{"span_corruption": 0.0, "questions": 1.0}, {"salient_spans": 1, "shuffled_facts": 2}]
    assert named_objectives(phases) == ("shuffled facts", "salient spans")
    assert named_objectives(iter(phases)) == named_objectives(phases)
    assert named_objectives([]) == ()


def test_equal_texts_are_told_apart_by_their_names():
    assert distinct(["a", "b", "a"], ["x", "y", "z"]) == ["a (x)", "b", "a (z)"]
    assert distinct([], []) == []
