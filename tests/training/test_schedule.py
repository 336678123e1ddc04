"""What a run does when: rates, phases, presets, and minutes turned into steps."""

from collections.abc import Callable
from dataclasses import asdict, replace

import pytest
import torch

from core.training.loop import Trainer, phase_at, steps_for_minutes
from core.training.optimizers import make_optimizers, rate_factor, set_rates, split_parameters
from core.training.presets import PRESETS, preset
from core.training.recipe import Phase, Recipe, recipe_from_dict

MakeTrainer = Callable[..., Trainer]


def test_the_rate_rises_stays_and_falls():
    factors = [rate_factor(step, 100, warmup=4, decay_share=0.5) for step in range(100)]
    assert factors[:4] == [0.25, 0.5, 0.75, 1.0]
    assert set(factors[4:51]) == {1.0}
    assert factors[75] == pytest.approx(0.5)
    assert factors[90] == pytest.approx(0.2)
    assert factors[99] == pytest.approx(0.02)
    assert factors[50:] == sorted(factors[50:], reverse=True)


def test_warm_up_takes_a_tenth_of_a_short_run_at_most():
    assert rate_factor(0, 20, warmup=100, decay_share=0.5) == 0.5
    assert rate_factor(1, 20, warmup=100, decay_share=0.5) == 1.0
    assert rate_factor(0, 5, warmup=100, decay_share=0.5) == 1.0


def test_the_rate_never_falls_below_two_hundredths():
    assert rate_factor(9_999, 10_000, warmup=1, decay_share=0.6) == 0.02


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
    optimizers = make_optimizers(make_trainer().model, plain)
    assert {type(o) for o in optimizers} == {torch.optim.AdamW}
    set_rates(optimizers, plain, 0.5)
    assert [o.param_groups[0]["lr"] for o in optimizers] == [0.0015, 0.0015]


def test_minutes_become_steps_by_the_measured_speed(make_trainer: MakeTrainer):
    trainer = make_trainer(n_steps=1000)
    times = iter([10.0, 14.0])  # 2 measured steps took 4 seconds
    steps = steps_for_minutes(
        lambda: trainer, 0.5, clock=lambda: next(times), n_warmup=1, n_measured=2
    )
    assert steps == 15
    assert trainer.cursor.step == 3


def test_a_slow_machine_still_makes_one_step(make_trainer: MakeTrainer):
    times = iter([0.0, 3600.0])
    steps = steps_for_minutes(
        make_trainer, 0.1, clock=lambda: next(times), n_warmup=0, n_measured=1
    )
    assert steps == 1


@pytest.mark.parametrize("minutes", [0.0, -1.0, float("nan"), float("inf")])
def test_no_minutes_make_no_run(make_trainer: MakeTrainer, minutes: float):
    with pytest.raises(ValueError, match=f"{minutes} minutes: a number above 0 is needed"):
        steps_for_minutes(make_trainer, minutes, clock=lambda: 0.0)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_comes_back_from_its_dictionary(name: str):
    assert recipe_from_dict(asdict(preset(name))) == preset(name)


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
