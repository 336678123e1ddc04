"""A mechanism is a row, and all that its row promises is there."""

import pytest

from core.bench.methods import MAKERS
from core.catalogue import (
    EFFECTIVE,
    FEATURE_MAPS,
    LINEAR,
    MECHANISMS,
    METHODS,
    ONLY_CAUSAL,
    SIZES,
    SYNTHESIZERS,
    TRAINED,
    WITHOUT_CAUSAL_FORM,
    WITHOUT_LATENTS,
    WRITERS,
    MechanismSizes,
    family,
    in_file_order,
    label,
    model_label,
    settable_sizes,
    size_of,
)
from core.mechanisms import FAMILIES
from core.models.blocks import BLOCKS
from core.models.config import GPTConfig
from core.models.gpt import GPT
from core.theory.costs import Shape, Sizes, predict
from core.training.recipe import Recipe


def test_every_mechanism_is_trained_and_measured_or_says_why_not():
    for row in MECHANISMS.values():
        assert (row.name in TRAINED) == (not row.not_trained), row.name
        assert (row.name in METHODS) == (not row.not_measured), row.name
        assert row.name in TRAINED or row.name in METHODS, row.name
        assert row.family in FAMILIES
    assert {row.family for row in MECHANISMS.values()} == set(FAMILIES)


def test_every_trained_mechanism_has_its_block_and_every_block_its_row():
    assert set(BLOCKS) == set(TRAINED)
    for name in TRAINED:
        model = GPT(GPTConfig(vocabulary_size=5, width=8, n_heads=2, n_layers=1, attention=name))
        assert type(model.layers[0]) is BLOCKS[name]


def test_every_measured_mechanism_has_its_cost_and_its_call_and_every_call_its_row():
    assert set(MAKERS) == set(METHODS)
    for name in METHODS:
        shape, causal = Shape(seq_len=64, head_dim=8), name in ONLY_CAUSAL
        assert predict(name, shape, causal=causal).operations > 0
    for name in (row.name for row in MECHANISMS.values() if row.not_measured):
        with pytest.raises(ValueError, match=f"unknown method '{name}'; methods: explicit, sdpa"):
            predict(name, Shape(seq_len=64, head_dim=8))


def test_every_measured_mechanism_has_a_hint_and_a_share_of_the_machine_s_rate():
    for name in METHODS:
        assert MECHANISMS[name].meaning
        assert 0 < MECHANISMS[name].reached <= 1
    assert all(MECHANISMS[name].map_note for name in LINEAR)
    assert all(MECHANISMS[name].weights_note for name in EFFECTIVE if name not in LINEAR)
    assert [name for name in TRAINED if not MECHANISMS[name].is_normalised] == [
        "delta",
        "gated-delta",
        "gate",
    ]


def test_choices_stand_in_the_order_of_pages_and_command_line():
    softmax, pairless, maps = ("softmax",), ("synthesizer", "dense-synthesizer"), FEATURE_MAPS
    assert maps == ("elu", "favor", "taylor")
    states = ("delta", "gated-delta", "gate", "window", "based")
    assert (*softmax, *pairless, *maps, *states) == TRAINED
    low_rank = ("linformer", "bigbird", "nystrom", "perceiver")
    assert ("explicit", "sdpa", *maps, *low_rank, *states, "synthesizer") == METHODS
    assert (maps, pairless) == (LINEAR, SYNTHESIZERS)
    assert states == ONLY_CAUSAL
    assert (*maps, *(name for name in states if name != "window")) == EFFECTIVE
    assert (*maps, *states) == WITHOUT_LATENTS
    assert WITHOUT_CAUSAL_FORM == ("linformer", "nystrom")
    assert ("explicit", "sdpa", *maps, *states) == WRITERS


def test_a_method_of_a_later_version_goes_by_its_own_name():
    assert (label("nystrom"), family("nystrom")) == ("Nyström", "low rank")
    assert (label("mamba"), family("mamba"), size_of("mamba", Sizes())) == ("mamba", "no pairs", "")


def test_sizes_of_measured_methods_are_said_in_words():
    sizes = Sizes(
        n_features=9,
        n_terms=2,
        n_mixed=3,
        n_landmarks=4,
        n_latents=5,
        block_size=6,
        window=7,
        n_sinks=2,
    )
    said = {name: size_of(name, sizes) for name in METHODS}
    assert {name: words for name, words in said.items() if words} == {
        "favor": "9 features",
        "taylor": "K = 2",
        "linformer": "k = 3",
        "nystrom": "4 landmarks",
        "perceiver": "5 latents",
        "bigbird": "blocks of 6",
        "window": "7 tokens, 2 sinks",
        "based": "a window of 7",
    }


def test_models_are_called_by_their_mechanism_and_those_with_softmax_by_their_positions():
    kinds = ("vanilla", "rotary", "perceiver", *TRAINED[1:])
    assert [model_label(kind) for kind in kinds] == [
        "vanilla",
        "rotary",
        "Perceiver",
        "Synthesizer",
        "Synthesizer (per head)",
        "linear (elu+1)",
        "linear (FAVOR+)",
        "linear (Taylor)",
        "delta rule",
        "gated delta",
        "scalar gate",
        "window",
        "Based",
    ]


def test_what_a_training_may_set_has_an_option_a_label_and_a_help():
    sizes = settable_sizes()
    assert {name: size.option for name, size in sizes.items()} == {
        "n_latents": "--latents",
        "latent_stride": "--latent-stride",
        "n_features": "--features",
        "n_terms": "--terms",
        "window": "--window",
        "n_sinks": "--sinks",
        "short_convolution": "--short-convolution",
    }
    assert all(size.label and size.help and size.least < size.most for size in sizes.values())


def test_every_size_is_a_size_of_the_configuration_and_of_the_recipe():
    config = GPTConfig(vocabulary_size=5)
    assert isinstance(config, MechanismSizes)
    assert issubclass(Recipe, MechanismSizes)
    for name, size in SIZES.items():
        assert getattr(config, name) == size.default
        assert set(size.owners) <= set(MECHANISMS)


def test_sizes_stand_right_behind_the_attention():
    values = {"n_terms": 3, "n_columns": None, "name": "x", "attention": "elu", "minutes": 1}
    assert list(in_file_order(values)) == ["name", "attention", "n_columns", "n_terms", "minutes"]
