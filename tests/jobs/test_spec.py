"""A spec is checked where it is made, and read strictly where it is used."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import pytest

from core.catalogue import TRAINED, settable_sizes
from core.jobs import spec as spec_module
from core.jobs.spec import SERVER, TrainSpec, check, spec_from_dict, train_spec
from core.paths import COURSE_VARIABLE
from core.runs import kinds
from core.training.presets import PRESETS
from core.training.recipe import Overrides, Phase, Recipe

MakeSpec = Callable[..., TrainSpec]


@pytest.fixture(autouse=True)
def four_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spec_module, "n_cores", lambda: 4)


def test_without_options_a_spec_is_the_preset_with_one_core_left_to_the_pages():
    spec = train_spec("notable-small")
    recipe = PRESETS["notable-small"]
    assert (spec.recipe, spec.minutes, spec.steps) == (recipe, recipe.minutes, None)
    assert (spec.name, spec.seed, spec.threads, spec.device) == ("notable-small", 0, 3, "cpu")
    assert spec.limits == replace(SERVER, minutes=3 * recipe.minutes + 5)


def test_a_preset_of_fixed_steps_keeps_them(make_spec: MakeSpec, monkeypatch: pytest.MonkeyPatch):
    make_spec()
    monkeypatch.setitem(PRESETS, "tiny", replace(PRESETS["tiny"], n_steps=77))
    assert (train_spec("tiny").steps, train_spec("tiny").minutes) == (77, None)
    assert train_spec("tiny", minutes=2).steps is None


def test_overrides_change_the_recipe_and_nothing_else():
    changed: dict[str, Any] = {"width": 64, "n_layers": 3, "n_heads": 2, "positions": "learned"}
    sizes = {"n_latents": 64, "latent_stride": 2}
    overrides = Overrides(**changed, sizes=sizes)
    spec = train_spec("notable-small", minutes=1, overrides=overrides)
    assert asdict(spec.recipe) == {**asdict(PRESETS["notable-small"]), **changed, **sizes}
    assert list(overrides.given()) == [*changed, *sizes]
    parts = " ".join(spec.arguments(500))
    assert parts == (
        "jobs start --preset notable-small --steps 500 --seed 0 --threads 3 "
        "--width 64 --layers 3 --heads 2 --positions learned --latents 64 --latent-stride 2"
    )


@pytest.mark.parametrize("name", settable_sizes())
def test_every_size_that_a_training_may_set_comes_back_from_its_file(name: str):
    size = settable_sizes()[name]
    attention = size.owners[0] if size.owners[0] in TRAINED else None
    more = {} if attention else {"n_latents": 4}
    overrides = Overrides(attention=attention, sizes={**more, name: 2})
    spec = train_spec("notable-small", overrides=overrides)
    assert f"{size.option} 2" in " ".join(spec.arguments())
    assert getattr(spec.recipe.model_config(300), name) == 2
    data = json.loads(json.dumps(spec.to_dict()))
    assert data["overrides"][name] == 2
    assert spec_from_dict(data) == spec
    data["overrides"][name] = "many"
    with pytest.raises(ValueError, match=f"{name} is 'many', int \\| None is needed"):
        spec_from_dict(data)
    data["overrides"] = {"sizes": {name: 2}}
    with pytest.raises(ValueError, match="unknown keys: sizes"):
        spec_from_dict(data)


def test_a_learning_rate_is_that_of_the_matrices_and_the_rest_keeps_its_ratio():
    recipe = PRESETS["notable-small"]
    assert recipe.optimizer == "muon"
    spec = train_spec("notable-small", overrides=Overrides(learning_rate=2 * recipe.matrix_rate))
    assert spec.recipe.matrix_rate == 2 * recipe.matrix_rate
    assert spec.recipe.adamw_rate == pytest.approx(2 * recipe.adamw_rate)
    plain = replace(recipe, optimizer="adamw")
    changed = Overrides(learning_rate=0.5).apply(plain)
    assert (changed.adamw_rate, changed.matrix_rate) == (0.5, plain.matrix_rate)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"minutes": 0}, "0 minutes: more than 0 and at most 720"),
        ({"minutes": float("nan")}, "nan minutes"),
        ({"minutes": 721}, "721 minutes"),
        ({"minutes": 1, "steps": 1}, "minutes or steps, not both"),
        ({"steps": 0}, "0 steps: 1 to 2000000"),
        ({"steps": 2_000_001}, "2000001 steps"),
        ({"seed": -1}, "seed -1: a whole number from 0"),
        ({"threads": 5}, "5 threads: 1 to 4 are possible here"),
        ({"threads": 0}, "0 threads"),
        ({"name": "x" * 81}, "1 to 80 printable characters"),
        ({"name": "two\nlines"}, "1 to 80 printable characters"),
    ],
)
def test_an_option_out_of_its_range_is_named(options: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        train_spec("notable-small", **options)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"width": 81}, "width 81 cannot be cut into 4 equal heads"),
        ({"width": 0}, "width is 0; it must be at least 1"),
        ({"n_heads": 16}, "rotary positions need an even head_dim, not 5"),
        ({"positions": "sideways"}, "positions 'sideways'; allowed"),
        ({"attention": "synthesizer"}, "a Synthesizer has neither"),
        ({"attention": "linear"}, "attention 'linear'; allowed: .*'elu', 'favor', 'taylor'"),
        ({"sizes": {"n_latents": 65, "latent_stride": 2}}, "latent 64 would stand at position 128"),
        ({"sizes": {"latent_stride": 2}}, "latent_stride.* belong to a model with n_latents"),
        ({"learning_rate": 0.0}, "learning rate 0.0: more than 0"),
        ({"learning_rate": float("inf")}, "learning rate inf"),
        ({"width": 1600}, "about 68 million parameters: at most 50 million are allowed here"),
        (
            {"width": 4000},
            "2 layers of width 4000 .* about 40. million parameters; at most 200",
        ),
        ({"width": 10**200}, "width is 10{29}.*; it must be at least 1 and at most 8,192"),
        ({"n_layers": 10**12}, "n_layers is 1000000000000; .* at most 512"),
        ({"n_heads": 10**12}, "n_heads is 1000000000000; .* at most 256"),
        ({"sizes": {"n_features": 64}}, "n_features belongs to attention 'favor', not 'softmax'"),
        ({"sizes": {"n_latents": 10**12}}, "n_latents is 1000000000000; .* at most 16,384"),
    ],
)
def test_an_override_that_does_not_fit_is_refused_in_the_models_own_words(
    overrides: dict[str, Any], message: str
):
    with pytest.raises(ValueError, match=message):
        train_spec("notable-small", overrides=Overrides(**overrides))


def test_an_unknown_preset_is_refused():
    with pytest.raises(ValueError, match="unknown preset 'large'; presets: "):
        train_spec("large")


def test_the_courses_files_are_only_where_the_server_says(
    make_spec: MakeSpec, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
):
    make_spec()
    for missing in (None, "", str(tmp_path / "nothing")):
        if missing is None:
            monkeypatch.delenv(COURSE_VARIABLE)
        else:
            monkeypatch.setenv(COURSE_VARIABLE, missing)
        with pytest.raises(ValueError, match="are not shipped: set A5_DATA to their folder"):
            make_spec()


def test_a_limit_beyond_the_servers_is_refused(make_spec: MakeSpec):
    spec = make_spec()
    with pytest.raises(ValueError, match="the limit steps is 3000000: more than 0 and at most 2e"):
        check(replace(spec, limits=replace(SERVER, steps=3_000_000)))
    with pytest.raises(ValueError, match="20 steps: 1 to 19"):
        check(replace(spec, limits=replace(SERVER, steps=19)))


def test_a_spec_comes_back_from_json_as_it_was(make_spec: MakeSpec):
    overrides = Overrides(width=32, learning_rate=0.1)
    for options in ({"minutes": 2.5}, {"steps": 9, "name": "Zoë <script>"}):
        spec = make_spec(overrides=overrides, **options)
        assert spec_from_dict(json.loads(json.dumps(spec.to_dict()))) == spec


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"verb": "sweep"}, "unknown verb 'sweep'; this version knows train, bench"),
        ({"verb": None}, "unknown verb None"),
        ({"shell": "rm -rf /"}, "unknown keys: shell"),
        ({"overrides": {"depth": 3}}, "unknown keys: depth"),
        ({"limits": {"minutes": 1}}, "missing keys: steps, disk_bytes"),
        ({"overrides": []}, r"overrides is \[\], an object is needed"),
        ({"recipe": {"name": "x"}}, "job.json: not a recipe: 'phases'"),
        ({"recipe": {"kind": "smell"}}, "job.json: not a recipe: kind 'smell'; this version"),
        ({"recipe": "tiny"}, "recipe is 'tiny', an object is needed"),
        ({"recipe": {"n_snapshots": 10**12}}, "job.json: n_snapshots is 1000000000000; whole num"),
        (
            {"recipe": {"tokens_per_batch": 10**12}},
            "tokens_per_batch is 1000000000000; whole num",
        ),
        ({"seed": 1.5}, "seed is 1.5, int is needed"),
        ({"seed": True}, "seed is True, int is needed"),
        ({"name": 7}, "name is 7, str is needed"),
        ({"steps": "20"}, "steps is '20', int | None is needed"),
        ({"overrides": {"width": "64"}}, "width is '64'"),
    ],
)
def test_a_spec_that_is_not_exactly_one_is_refused(
    make_spec: MakeSpec, changes: dict[str, Any], message: str
):
    whole = make_spec().to_dict()
    if isinstance(changes.get("recipe"), dict) and "name" not in changes["recipe"]:
        changes = {"recipe": {**whole["recipe"], **changes["recipe"]}}
    data = {**whole, **changes}
    with pytest.raises(ValueError, match=message.replace("|", r"\|")):
        spec_from_dict(data)


@dataclass(frozen=True, slots=True, kw_only=True)
class EchoRecipe(Recipe):
    """A recipe of a second kind: another class, and `kind` among its keys."""

    kind: str = "echo"


def test_a_recipe_of_another_kind_comes_back_by_the_reader_of_its_row(
    make_spec: MakeSpec, monkeypatch: pytest.MonkeyPatch
):
    def read(data: dict[str, Any]) -> EchoRecipe:
        values: dict[str, Any] = {**data, "phases": tuple(Phase(**p) for p in data["phases"])}
        return EchoRecipe(**values)

    row = replace(kinds.CORPUS, name="echo", recipe=EchoRecipe, read_recipe=read)
    monkeypatch.setattr(kinds, "KINDS", (*kinds.KINDS, row))
    plain = make_spec()
    told = {field.name: getattr(plain.recipe, field.name) for field in fields(Recipe)}
    spec = replace(plain, recipe=EchoRecipe(**told))
    data = json.loads(json.dumps(spec.to_dict()))
    assert data["recipe"]["kind"] == "echo"
    assert spec_from_dict(data) == spec
    del data["recipe"]["kind"]
    assert spec_from_dict(data) == plain


def test_a_missing_key_is_named(make_spec: MakeSpec):
    data = make_spec().to_dict()
    del data["seed"]
    with pytest.raises(ValueError, match="job.json: missing keys: seed"):
        spec_from_dict(data)
