"""Numbers of a recipe, which may come from a file, are held to their ranges."""

from dataclasses import asdict, fields, replace
from typing import Any

import pytest

from core.catalogue import SIZES, settable_sizes
from core.training.presets import PRESETS
from core.training.ranges import ASKED, MOST_STEPS, PHASE, RECIPE, RUNNING, refuse_outside
from core.training.recipe import Phase, Recipe, recipe_from_dict
from core.training.written import READERS


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_comes_back_from_its_card(name: str):
    recipe = PRESETS[name]
    written = recipe.to_dict()
    assert READERS[written.get("kind")](written) == recipe


def test_every_number_of_a_recipe_has_its_range():
    model = {"block_size", "n_layers", "n_heads", "width", *SIZES}
    numbers = {f.name for f in fields(Recipe) if "int" in str(f.type) or "float" in str(f.type)}
    assert numbers - model == set(RECIPE)
    assert {f.name for f in fields(Phase)} - {"name", "answer_only"} == set(PHASE)


@pytest.mark.parametrize("value", [10**12, 1e12, float("nan"), float("inf"), -1, "7", [], True])
@pytest.mark.parametrize("name", RECIPE)
def test_a_number_of_a_recipe_out_of_its_range_is_named(recipe: Recipe, name: str, value: Any):
    with pytest.raises(ValueError, match=rf"^{name} is .*; (whole )?numbers from [\d.]+ to [\d.]"):
        recipe_from_dict({**asdict(recipe), name: value})


@pytest.mark.parametrize("value", [1e12, float("nan"), -1.0, "7", True])
@pytest.mark.parametrize("name", PHASE)
def test_a_number_of_a_phase_out_of_its_range_is_named(recipe: Recipe, name: str, value: Any):
    phase = {**asdict(recipe.phases[0]), name: value}
    with pytest.raises(ValueError, match=f"^{name} is .*; .*numbers from"):
        recipe_from_dict({**asdict(recipe), "phases": [phase]})


def test_a_recipe_needs_phases_with_a_share(recipe: Recipe):
    with pytest.raises(ValueError, match="65 phases; 1 to 64 with a share above 0 are needed"):
        replace(recipe, phases=(recipe.phases[0],) * 65)
    with pytest.raises(ValueError, match="0 phases; 1 to 64"):
        replace(recipe, phases=())
    with pytest.raises(ValueError, match="1 phases; 1 to 64 with a share above 0"):
        replace(recipe, phases=(replace(recipe.phases[0], share=0.0),))


def test_what_may_lack_may_lack_and_the_rest_may_not():
    refuse_outside({"seed": 0, "steps": None, "minutes": None}, ASKED)
    refuse_outside({"seed": 2**31 - 1, "n_steps": MOST_STEPS}, RUNNING)
    with pytest.raises(ValueError, match="n_steps is None; whole numbers from 1 to 100,000,000"):
        refuse_outside({"seed": 0, "n_steps": None}, RUNNING)


def test_every_settable_size_reaches_the_model_and_comes_back_from_a_card(recipe: Recipe):
    owners = {"n_latents": {"n_latents": 2, "n_layers": 2}, "latent_stride": {"n_latents": 2}}
    for name, size in settable_sizes().items():
        needed: dict[str, Any] = {"n_layers": 2, "positions": "learned", **owners.get(name, {})}
        if name not in owners:
            needed["attention"] = size.owners[0]
        value = 2 if size.default != 2 else 3  # the usual one is not written
        changed = replace(recipe, **{**needed, name: value})
        assert getattr(changed.model_config(10), name) == value
        assert changed.to_dict()[name] == value
        assert recipe_from_dict(changed.to_dict()) == changed


def test_a_size_is_written_only_where_it_is_not_the_usual_one_unless_it_always_was(recipe: Recipe):
    optional = (*SIZES, "self_taught")
    names = [field.name for field in fields(Recipe) if field.name not in optional]
    at = names.index("attention") + 1
    assert list(recipe.to_dict()) == [*names[:at], "n_latents", "latent_stride", *names[at:]]
    favor = replace(recipe, attention="favor", n_features=8).to_dict()
    more = ["n_latents", "latent_stride", "n_features"]
    assert list(favor) == [*names[:at], *more, *names[at:]]


def test_a_size_that_no_training_sets_is_refused(recipe: Recipe):
    with pytest.raises(ValueError, match="n_columns is 7: no training sets it"):
        recipe_from_dict({**recipe.to_dict(), "attention": "synthesizer", "n_columns": 7})
    with pytest.raises(ValueError, match="latent_norm is 'latents': no training sets it"):
        replace(recipe, n_latents=4, latent_norm="latents")
