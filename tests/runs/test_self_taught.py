"""A run whose kind makes something of its data first: questions that readers wrote."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from core.checkpoints.store import load_checkpoint
from core.data.corpus import TrainingCorpus
from core.data.people import Question
from core.files import read_json, write_json
from core.reader.writing import Written
from core.runs import kinds, loop
from core.runs.folder import MADE, RUN
from core.runs.run import Run, finish, resume_run, save
from core.training.recipe import Recipe
from tests.with_task import gpt_of

Begin = Callable[..., Run]


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Readers that are sure of every second one, without training; the seeds they were given."""
    seeds: list[int] = []

    def write(
        corpus: TrainingCorpus, *, seed: int, progress: Callable[[int, int], None]
    ) -> Written:
        seeds.append(seed)
        progress(1, 1)
        asked = corpus.held_out + corpus.dev + corpus.test
        sure = [Question(q.text, "Atlantis", q.name) for q in asked[::2]]
        return Written(questions=tuple(sure), n_read=len(asked))

    monkeypatch.setattr(kinds, "written_questions", write)
    return seeds


def taught(recipe: Recipe, share: float) -> Recipe:
    return replace(recipe, self_taught=share, n_snapshots=0)


def trained(run: Run) -> dict[str, Any]:
    loop.train(run, after_step=lambda _: None, save=lambda: save(run))
    return finish(run)


def test_what_readers_wrote_is_practised_counted_and_not_kept(
    begin: Begin, recipe: Recipe, readings: list[int]
):
    said: list[str] = []
    run = begin(recipe=taught(recipe, 1.0), seed=3, told=said.append)
    assert readings == [3]
    assert said == ["training readers: 1 of 1 epochs"]
    written = [question for question in run.data.written if question.answer == "Atlantis"]
    n_read = len(run.data.held_out + run.data.dev + run.data.test)
    assert len(written) == len(run.data.written) == (n_read + 1) // 2
    practised = {run.vocabulary.decode(list(answer)) for _, answer in run.trainer.data.questions}
    assert "Atlantis" in practised
    card = trained(run)
    counts = {"read": n_read, "sure": len(written), "practised": len(written)}
    assert card["self_taught"] == counts == load_checkpoint(run.folder).card["self_taught"]
    assert not (run.folder / MADE).exists()


def test_a_share_of_them_is_drawn_by_the_seed(begin: Begin, recipe: Recipe, readings: list[int]):
    whole, half, same, other = (
        begin(name, recipe=taught(recipe, share), seed=seed).data.written
        for name, share, seed in (("a", 1.0, 0), ("b", 0.5, 0), ("c", 0.5, 0), ("d", 0.5, 7))
    )
    assert len(half) == round(len(whole) / 2)
    assert half == same
    assert set(half) < set(whole)
    assert set(half) != set(other)


def test_a_resumed_run_practises_what_was_written_when_it_began(
    begin: Begin, recipe: Recipe, readings: list[int]
):
    whole, run = (begin(name, recipe=taught(recipe, 1.0)) for name in ("whole", "run"))
    loop.train(
        run, after_step=lambda _: None, save=lambda: save(run), is_stopped=lambda: run.step == 2
    )
    again = resume_run(run.folder)
    assert len(readings) == 2  # once for each of the two that began
    assert again.data.written == run.data.written
    trained(again)
    trained(whole)
    one, other = (gpt_of(load_checkpoint(r.folder)).state_dict() for r in (again, whole))
    assert all(torch.equal(one[name], tensor) for name, tensor in other.items())


def test_a_run_that_has_lost_what_was_written_is_refused(
    begin: Begin, recipe: Recipe, readings: list[int]
):
    run = begin(recipe=taught(recipe, 1.0))
    write_json(run.folder / MADE, {"questions": [["no answer"]]})
    with pytest.raises(ValueError, match="not the questions that readers wrote"):
        resume_run(run.folder)
    (run.folder / MADE).unlink()
    with pytest.raises(ValueError, match=r"made.json: cannot be read"):
        resume_run(run.folder)


def test_a_recipe_that_is_not_self_taught_makes_nothing(
    begin: Begin, recipe: Recipe, readings: list[int]
):
    run = begin()
    assert readings == []
    assert not (run.folder / MADE).exists()
    assert read_json(run.folder / RUN)["has_made"] is False
    assert "self_taught" not in trained(run)
    assert "self_taught" not in recipe.to_dict()
    assert taught(recipe, 0.5).to_dict()["self_taught"] == 0.5


def test_a_share_beyond_all_is_refused(recipe: Recipe):
    with pytest.raises(ValueError, match=r"self_taught is 1.5; numbers from 0.0 to 1.0"):
        taught(recipe, 1.5)


def test_the_folder_of_the_run_alone_holds_names(begin: Begin, recipe: Recipe, readings: list[int]):
    run = begin(recipe=taught(recipe, 1.0))
    trained(run)
    left = {path.name for path in Path(run.folder).iterdir()}
    assert left == {"card.json", "config.json", "model.safetensors", "vocabulary.json"}
