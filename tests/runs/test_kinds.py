"""A kind of training is a row: what steps, records and finishes a run asks the row alone."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from core.checkpoints.store import Checkpoint, load_checkpoint
from core.data.own_vocabulary import CharVocabulary
from core.data.vocabulary import Vocabulary
from core.files import read_json
from core.runs import kinds, loop
from core.runs.folder import RUN
from core.runs.kind import Kind, Probe, figure
from core.runs.kinds import CORPUS, kind_of, kind_of_dict
from core.runs.run import Run, finish, resume_run, save
from core.training.loop import Trainer, trainer_factory
from core.training.recipe import Recipe, recipe_from_dict
from core.training.where import HERE, Where
from tests.with_task import gpt_of

Begin = Callable[..., Run]


@dataclass(frozen=True, slots=True, kw_only=True)
class EchoRecipe(Recipe):
    """Of a model that repeats a letter; written with the name of its kind."""

    kind: str = "echo"


class Letters:
    """No corpus, no questions: letters, each to be repeated."""

    digest = "of six letters"
    text = "abcdef"


@dataclass(frozen=True, slots=True)
class Pair:
    """A batch that is not of token ids to begin with: places, of which ids are made by the loss."""

    places: tuple[int, ...]

    @property
    def n_tokens(self) -> int:
        return len(self.places)


def echo_kind(probed: list[int]) -> Kind:
    def make_pool(data: Letters, recipe: Recipe, phase: Any, *, seed: int, pool: int) -> list[Pair]:
        return [Pair(tuple((seed + pool + i) % 6 for i in range(4))) for _ in range(3)]

    def loss(model: nn.Module, batch: Pair) -> Tensor:
        ids = torch.tensor(batch.places)[:, None] + 3
        return nn.functional.cross_entropy(model(ids)[:, -1], ids[:, 0])

    def make_trainers(
        recipe: Recipe,
        data: Letters,
        vocabulary: Vocabulary,
        seed: int,
        weights: Path | None,
        *,
        where: Where = HERE,
    ) -> Callable[[int], Trainer]:
        return trainer_factory(
            recipe,
            data,
            vocabulary_size=vocabulary.size,
            seed=seed,
            weights=weights,
            make_pool=make_pool,
            loss=loss,
            where=where,
        )

    def probe(trainer: Trainer, vocabulary: Vocabulary, data: Letters, seed: int) -> Probe:
        probed.append(trainer.cursor.step)
        return Probe(correct=1, total=6, sample={"question": "a", "answer": "b", "expected": "a"})

    def measure(stored: Checkpoint, data: Letters, split: str) -> dict[str, Any] | None:
        return None if split == "unknown" else figure(3, 6)

    def read(data: dict[str, Any]) -> Recipe:
        plain = recipe_from_dict({key: value for key, value in data.items() if key != "kind"})
        return EchoRecipe(**{name: getattr(plain, name) for name in Recipe.__slots__})

    return Kind(
        name="echo",
        recipe=EchoRecipe,
        read_recipe=read,
        load_data=lambda *_: Letters(),
        make_vocabulary=lambda *_: CharVocabulary.from_text(Letters.text),
        make_trainers=make_trainers,
        probe=probe,
        baseline=lambda _: {"answer": "a", "accuracy": 1 / 6},
        measure=measure,
        splits=("letters", "unknown"),
        tuning_splits=("letters",),
        snapshot_split="letters",
    )


@pytest.fixture
def echo(recipe: Recipe, monkeypatch: pytest.MonkeyPatch) -> tuple[EchoRecipe, list[int]]:
    """The recipe of a second kind, whose row this fixture adds, and the steps of its probes."""
    probed: list[int] = []
    monkeypatch.setattr(kinds, "KINDS", (*kinds.KINDS, echo_kind(probed)))
    values = {name: getattr(recipe, name) for name in Recipe.__slots__}
    return EchoRecipe(**values), probed


def test_another_kind_is_a_row_and_is_trained_resumed_and_measured_by_it(
    begin: Begin, echo: tuple[EchoRecipe, list[int]]
):
    recipe, probed = echo
    whole, run = (begin(name, recipe=recipe) for name in ("whole", "run"))
    loop.train(whole, after_step=lambda _: None, save=lambda: save(whole))
    ending = loop.train(
        run, after_step=lambda _: None, save=lambda: save(run), is_stopped=lambda: run.step == 2
    )
    assert (ending, read_json(run.folder / RUN)["recipe"]["kind"]) == ("stopped", "echo")
    again = resume_run(run.folder)
    assert (again.kind.name, again.step, type(again.recipe)) == ("echo", 2, EchoRecipe)
    loop.train(again, after_step=lambda _: again.probe(), save=lambda: save(again))
    assert probed == [3, 4, 5, 6]
    card, other = finish(again), finish(whole)
    figure = {"correct": 3, "total": 6, "accuracy": 0.5}
    assert card["figures"] == {"letters": figure}
    stored = load_checkpoint(run.folder)
    assert [point["accuracy"] for point in stored.card["snapshots"]] == [0.5, 0.5]
    weights, expected = (
        gpt_of(load_checkpoint(one)).state_dict() for one in (run.folder, whole.folder)
    )
    assert all(torch.equal(weights[name], tensor) for name, tensor in expected.items())
    assert other["figures"] == card["figures"]


def test_a_tuning_run_of_any_kind_has_the_figures_that_its_row_allows(
    begin: Begin, echo: tuple[EchoRecipe, list[int]]
):
    run = begin(recipe=echo[0], tuning=True)
    loop.train(run, after_step=lambda _: None, save=lambda: save(run))
    assert list(finish(run)["figures"]) == ["letters"]
    assert "snapshots" not in load_checkpoint(run.folder).card


def test_a_probe_asks_the_same_held_out_question_at_every_step(begin: Begin):
    run = begin(seed=4)
    first = run.probe()
    loop.train(run, after_step=lambda _: None, save=lambda: save(run))
    last = run.probe()
    held_out = run.data.held_out
    asked = held_out[4 % len(held_out)]
    assert first.total == last.total == len(held_out)
    for probe in (first, last):
        assert (probe.sample["question"], probe.sample["expected"]) == (asked.text, asked.answer)


def test_recipes_of_before_are_those_of_the_first_kind(recipe: Recipe):
    assert kind_of(recipe) is kind_of_dict({"name": "tiny"}) is CORPUS


def test_a_kind_of_a_later_version_is_refused_with_the_known_ones(begin: Begin):
    with pytest.raises(ValueError, match="kind 'smell'; this version knows corpus, speech, recall"):
        kind_of_dict({"kind": "smell"})
    run = begin()
    path = run.folder / RUN
    path.write_text(path.read_text().replace('"name": "tiny"', '"kind": "smell"', 1))
    with pytest.raises(ValueError, match=r"run.json: not a recipe: kind 'smell'"):
        resume_run(run.folder)


def test_a_recipe_whose_model_cannot_be_made_is_refused_where_it_is_read(recipe: Recipe):
    from dataclasses import asdict

    with pytest.raises(ValueError, match="cannot be cut into 3 equal heads"):
        CORPUS.read_recipe(asdict(replace(recipe, n_heads=3)))
