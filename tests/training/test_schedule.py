"""What a run does when: rates, phases and presets."""

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any, get_args

import pytest
import torch

from core.evaluation.report_card import OBJECTIVES
from core.models.families import make_model
from core.training.loop import Trainer, phase_at
from core.training.optimizers import make_optimizers, rate_factor, set_rates, split_parameters
from core.training.presets import (
    ABLATION,
    PRESETS,
    SELF_TAUGHT,
    VARIATIONS,
    Kind,
    preset,
    presets_of,
)
from core.training.recipe import Corpus, Phase, Recipe, recipe_from_dict
from core.training.speech_presets import HEARD
from core.training.variation import Variation

MakeTrainer = Callable[..., Trainer]


PLAIN = Phase(name="plain")


def factors(recipe: Recipe, n_steps: int, phase: Phase = PLAIN, **changes: Any) -> list[float]:
    changed = replace(recipe, **changes)
    return [rate_factor(step, n_steps, changed, phase) for step in range(n_steps)]


def test_the_rate_rises_stays_and_falls(recipe: Recipe):
    rates = factors(recipe, 100, warmup_steps=4, decay_share=0.5)
    assert rates[:4] == [0.25, 0.5, 0.75, 1.0]
    assert set(rates[4:51]) == {1.0}
    assert rates[75] == pytest.approx(0.5)
    assert rates[90] == pytest.approx(0.2)
    assert rates[99] == pytest.approx(0.02)
    assert rates[50:] == sorted(rates[50:], reverse=True)


def test_warm_up_takes_a_tenth_of_a_short_run_at_most(recipe: Recipe):
    assert factors(recipe, 20, warmup_steps=100, decay_share=0.5)[:2] == [0.5, 1.0]
    assert factors(recipe, 5, warmup_steps=100, decay_share=0.5)[0] == 1.0


def test_the_rate_never_falls_below_two_hundredths(recipe: Recipe):
    assert rate_factor(9_999, 10_000, replace(recipe, decay_share=0.6), PLAIN) == 0.02


def test_the_course_s_rate_falls_to_a_tenth_and_rises_again(recipe: Recipe):
    rates = factors(recipe, 81, warmup_steps=1, cosine_steps=40)
    assert rates[0] == 1.0
    assert rates[20] == pytest.approx(0.5)
    assert rates[40] == 0.1
    assert rates[60] == pytest.approx(0.5)
    assert rates[80] == pytest.approx(1.0)
    assert min(rates) == 0.1


def test_a_phase_can_hold_its_own_rate(recipe: Recipe):
    assert set(factors(recipe, 30, Phase(name="p", rate=0.1), cosine_steps=7)) == {0.1}


def test_phases_follow_their_shares(recipe: Recipe):
    assert [phase_at(recipe, step, 10) for step in range(10)] == [0] * 6 + [1] * 4
    assert [phase_at(recipe, step, 5) for step in range(5)] == [0, 0, 0, 1, 1]


def test_shares_are_relative_and_the_last_phase_takes_what_is_left():
    thirds = Recipe(name="t", phases=tuple(Phase(name=n, share=2) for n in "abc"))
    assert [phase_at(thirds, step, 7) for step in range(7)] == [0, 0, 1, 1, 1, 2, 2]
    assert phase_at(thirds, 7, 7) == 2


def test_muon_gets_the_matrices_of_the_blocks_and_adamw_everything_else(
    make_trainer: MakeTrainer, recipe: Recipe
):
    model = make_trainer().model
    matrices, rest = split_parameters(model)
    names = {id(p): name for name, p in model.named_parameters()}
    assert len(matrices) == 6
    assert all(names[id(p)].startswith("blocks.") and p.ndim == 2 for p in matrices)
    assert "tokens.weight" in {names[id(p)] for p in rest}
    assert sorted(map(id, [*matrices, *rest])) == sorted(names)
    optimizers = make_optimizers(model, recipe)
    assert [type(o) for o in optimizers] == [torch.optim.Muon, torch.optim.AdamW]
    set_rates(optimizers, recipe, 0.5)
    assert [o.param_groups[0]["lr"] for o in optimizers] == [0.01, 0.0015]


def test_adamw_alone_is_an_option(make_trainer: MakeTrainer, recipe: Recipe):
    plain = replace(recipe, optimizer="adamw")
    model = make_trainer().model
    optimizers = make_optimizers(model, plain)
    assert {type(o) for o in optimizers} == {torch.optim.AdamW}
    (decayed,), (rest,) = (optimizer.param_groups for optimizer in optimizers)
    assert (decayed["weight_decay"], rest["weight_decay"]) == (plain.matrix_decay, 0.0)
    assert set(decayed["params"]) == {*split_parameters(model)[0], model.head.weight}
    assert {*decayed["params"], *rest["params"]} == {*model.parameters()}
    set_rates(optimizers, plain, 0.5)
    assert [o.param_groups[0]["lr"] for o in optimizers] == [0.0015, 0.0015]


def test_the_report_card_has_a_word_for_every_kind_of_pretraining():
    assert {*Phase(name="p").mixture} - {"questions"} == {*OBJECTIVES}


@pytest.mark.parametrize("name", [name for name, one in PRESETS.items() if type(one) is Recipe])
def test_a_preset_comes_back_from_all_of_its_fields(name: str):
    recipe = preset(name)
    assert recipe_from_dict(asdict(recipe)) == recipe


def test_the_course_s_recipe_sees_its_650_and_10_epochs():
    course = preset("course-recipe")
    assert course.n_steps == 14_914 + 70
    assert [phase_at(course, step, course.n_steps) for step in (0, 14_913, 14_914)] == [0, 0, 1]
    assert (course.examples_per_batch, course.adamw_rate) == (128, 6e-3)
    assert [phase.examples_per_batch for phase in course.phases] == [None, 256]


def test_without_pretraining_the_course_s_recipe_sees_75_epochs_of_1800_questions():
    scratch = preset("course-scratch")
    (asked,) = scratch.phases
    assert (asked.questions, asked.answer_only, asked.examples_per_batch) == (1.0, True, 256)
    assert scratch.n_steps == 527
    assert scratch.adamw_rate * (asked.rate or 0.0) == pytest.approx(6e-4)


@pytest.mark.parametrize("rows", [ABLATION, SELF_TAUGHT])
def test_a_row_of_an_ablation_differs_from_the_base_in_one_thing(rows: tuple[Variation, ...]):
    base, *others = (asdict(variation.recipe) for variation in rows)
    for other in others:
        changed = [key for key in base if other[key] != base[key] and key != "name"]
        assert len(changed) == 1, other["name"]


@pytest.mark.parametrize("name", [name for name in PRESETS if name.startswith("course-")])
def test_a_model_of_the_course_s_data_has_at_most_3_35_million_parameters(name: str):
    recipe = preset(name)
    with torch.device("meta"):
        n_words = recipe.n_pieces if recipe.vocabulary == "bpe" else 256
        model = make_model(recipe.model_config(n_words))
    assert 2_000_000 < model.n_parameters <= 3_350_000


@pytest.mark.parametrize(
    ("corpus", "kind", "names"),
    [
        ("notable", "both", ["notable-small", "notable-pretrained", "notable-char"]),
        ("notable", "scratch", ["notable-scratch"]),
        ("notable-unread", "both", ["notable-unread"]),
        ("notable", "pretrain", ["notable-pretrain"]),
        ("notable", "fine-tune", ["notable-fine-tune"]),
        ("course", "fine-tune", ["course-fine-tune"]),
        ("course", "scratch", ["course-scratch"]),
    ],
)
def test_presets_are_told_apart_by_what_they_practise(corpus: Any, kind: Any, names: list[str]):
    assert presets_of(corpus, kind) == names


def test_the_preset_that_leaves_people_out_differs_from_notable_small_in_its_corpus():
    small, unread = asdict(preset("notable-small")), asdict(preset("notable-unread"))
    changed = {key: unread[key] for key in small if unread[key] != small[key]}
    assert changed == {
        "name": "notable-unread",
        "corpus": "notable-unread",
        "n_steps": 1600,
        "n_snapshots": 0,
    }


def test_every_preset_has_one_kind():
    kinds = get_args(Kind)
    found = [n for corpus in get_args(Corpus) for kind in kinds for n in presets_of(corpus, kind)]
    assert sorted(found) == sorted(PRESETS)
    ablations = [presets_of(corpus, "ablation") for corpus in ("course", "spoken")]
    assert list(map(len, ablations)) == [len(VARIATIONS) - len(HEARD), len(HEARD)]


def test_an_unknown_preset_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="unknown preset 'x'; presets: notable-scratch, "):
        preset("x")


@pytest.mark.parametrize(
    "change", [{"n_eyes": 2}, {"phases": [{"name": "a", "n_eyes": 2}]}, {"phases": 3}]
)
def test_a_dictionary_that_is_no_recipe_is_refused(change: dict[str, object]):
    with pytest.raises(ValueError, match="not a recipe"):
        recipe_from_dict({**asdict(preset("notable-scratch")), **change})


def test_a_recipe_without_phases_is_refused():
    with pytest.raises(ValueError, match="not a recipe: 'phases'"):
        recipe_from_dict({"name": "a"})
