"""Sizes that do not fit each other are refused with what is allowed."""

from dataclasses import replace
from typing import Any

import pytest

from core.catalogue import SIZES, TRAINED
from core.models.config import VARIANTS, GPTConfig
from core.models.gpt import GPT

SYNTHESIZER = {"attention": "synthesizer"}
COURSE = GPTConfig(vocabulary_size=256, attention="synthesizer")


@pytest.mark.parametrize(
    ("variant", "n_parameters"),
    [
        ("vanilla", 3_323_392),
        ("rotary", 3_290_624),
        ("synthesizer", 3_076_988),
        ("perceiver", 3_339_776),
    ],
)
def test_every_variant_has_exactly_the_course_s_parameters(variant: str, n_parameters: int):
    assert GPT(GPTConfig(vocabulary_size=256, **VARIANTS[variant])).n_parameters == n_parameters


def test_a_synthesizer_with_a_column_for_the_whole_block_has_132_parameters_more():
    assert GPT(replace(COURSE, n_columns=128)).n_parameters == 3_077_120


def test_every_head_of_a_dense_synthesizer_has_its_own_columns():
    dense = replace(COURSE, attention="dense-synthesizer")
    assert GPT(dense).n_parameters == 3_076_988 + 4 * 7 * (32 * 127 + 127)


@pytest.mark.parametrize(
    ("changes", "longest"),
    [
        ({}, 128),
        ({"attention": "synthesizer"}, 127),
        ({"attention": "synthesizer", "n_columns": 128}, 128),
        ({"attention": "dense-synthesizer", "n_columns": 5}, 5),
        ({"n_latents": 64}, 128),
        ({"attention": "elu", "positions": "rotary"}, 128),
    ],
)
def test_the_longest_input_is_the_block_or_the_columns(changes: dict[str, Any], longest: int):
    assert GPTConfig(vocabulary_size=10, **changes).longest_input == longest


def test_head_dim_is_the_width_cut_into_heads():
    assert GPTConfig(vocabulary_size=10, width=48, n_heads=3).head_dim == 16


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vocabulary_size": 0}, "vocabulary_size is 0; it must be at least 1"),
        ({"block_size": -1}, "block_size is -1"),
        ({"n_layers": 0}, "n_layers is 0"),
        ({"n_heads": 0}, "n_heads is 0"),
        ({"width": 0}, "width is 0"),
        ({"width": 30, "n_heads": 4}, "width 30 cannot be cut into 4 equal heads"),
        ({"positions": "sinus"}, r"positions 'sinus'; allowed: \('learned', 'rotary'\)"),
        ({"attention": "linear"}, r"attention 'linear'; allowed: \('softmax', 'synthesizer'"),
        ({"positions": "rotary", "width": 6, "n_heads": 2}, "even head_dim, not 3"),
        ({"activation": "relu"}, r"activation 'relu'; allowed: \('gelu', 'gelu-tanh'\)"),
        ({"tied": "yes"}, "tied is 'yes'; true or false"),
        ({"n_columns": 9}, "n_columns belongs to a Synthesizer"),
        ({**SYNTHESIZER, "positions": "rotary"}, "positions must be 'learned'"),
        ({**SYNTHESIZER, "n_latents": 4}, "n_latents must be 0"),
        ({**SYNTHESIZER, "block_size": 1}, "0 columns: a Synthesizer has 1 to block_size = 1"),
        ({**SYNTHESIZER, "n_columns": 129}, "129 columns: a Synthesizer has 1 to block_size = 128"),
        ({"n_features": 9}, "n_features belongs to attention 'favor', not 'softmax'"),
        ({"attention": "elu", "n_terms": 2}, "n_terms belongs to attention 'taylor', not 'elu'"),
        ({"attention": "favor", "n_features": 0}, "n_features is 0; it must be at least 1"),
        ({"attention": "favor", "n_features": 4097}, "n_features is 4097; .* at most 4,096"),
        ({"attention": "taylor", "n_terms": 5}, "n_terms is 5; .* at least 1 and at most 4, a who"),
        (
            {"attention": "taylor", "n_terms": 4, "width": 512},
            "4 Taylor terms of heads of 128 numbers are 366,145 features; at most 65,536 are",
        ),
        ({"attention": "elu", "n_columns": 9}, "belongs to a Synthesizer; attention is 'elu'"),
        ({"attention": "elu", "n_latents": 4}, "linear attention needs: n_latents must be 0"),
        ({"n_latents": -1}, "n_latents is -1; it must be at least 0 and at most 16,384, a whole"),
        ({"n_latents": 4, "latent_stride": 0}, "latent_stride is 0; it must be at least 1"),
        (
            {"n_latents": 1, "latent_stride": 10**9},
            "latent_stride is 1000000000; .* at most 16,384",
        ),
        ({"n_latents": 4, "latent_residual": "no"}, "latent_residual is 'no'; true or false"),
        ({"vocabulary_size": 200_001}, "vocabulary_size is 200001; .* at most 200,000, a whole"),
        ({"block_size": 2**14 + 1}, "block_size is 16385; .* at most 16,384"),
        ({"n_layers": 513}, "n_layers is 513; .* at most 512"),
        ({"n_heads": 257}, "n_heads is 257; .* at most 256"),
        ({"width": 2**13 + 1}, r"width is 8193; .* at most 8,192"),
        ({"width": 32.0}, r"width is 32\.0; it must be .* a whole number"),
        ({"n_layers": "2"}, "n_layers is '2'; it must be .* a whole number"),
        ({"n_layers": 10**300}, "n_layers is 1000000000.{0,40}; it must be"),
        (
            {"width": 4096, "n_layers": 64},
            "64 layers of width 4096 with 10 words have about 12886 million .*; at most 200 m",
        ),
        ({"latent_stride": 2}, "belong to a model with n_latents"),
        ({"latent_residual": False}, "belong to a model with n_latents"),
        ({"latent_norm": "latents"}, "latent_norm belong to a model with n_latents"),
        ({"latent_norm": "none"}, r"latent_norm 'none'; allowed: \('both', 'latents'\)"),
        ({"n_latents": 4, "latent_norm": "tokens"}, "latent_norm 'tokens'; allowed: "),
        ({"n_latents": 4, "n_layers": 1}, "at least 2 layers: one down to its latents, one up"),
        ({"n_latents": 129}, "latent 128 would stand at position 128, outside the block of 128"),
        ({"n_latents": 65, "latent_stride": 2}, "latent 64 would stand at position 128"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(changes: dict[str, Any], message: str):
    sizes: dict[str, Any] = {"vocabulary_size": 10, "width": 32, "n_heads": 4}
    with pytest.raises(ValueError, match=message):
        GPTConfig(**sizes | changes)


@pytest.mark.parametrize(
    "sizes",
    [
        {},
        {"positions": "rotary"},
        {"attention": "synthesizer"},
        {"attention": "dense-synthesizer"},
        {"n_latents": 64},
        {"attention": "favor", "n_features": 4096, "n_heads": 1},
        {"tied": True, "n_layers": 1},
        {"short_convolution": 16, "width": 16, "n_heads": 2},
    ],
)
def test_the_rough_number_of_parameters_is_near_the_true_one(sizes: dict[str, Any]):
    config = GPTConfig(vocabulary_size=256, **sizes)
    n_numbers = sum(tensor.numel() for tensor in GPT(config).state_dict().values())
    assert config.rough_parameters == pytest.approx(n_numbers, rel=0.1)


def test_an_odd_head_dim_is_fine_with_learned_positions():
    assert GPTConfig(vocabulary_size=10, width=6, n_heads=2).head_dim == 3


def test_a_configuration_is_written_in_the_order_of_every_file_so_far():
    config = GPTConfig(vocabulary_size=10, attention="favor", n_features=16)
    names = "vocabulary_size block_size n_layers n_heads width positions attention n_columns "
    names += "n_latents latent_stride latent_residual latent_norm n_features n_terms "
    names += "window n_sinks short_convolution"
    assert list(config.to_dict()) == names.split()
    assert GPTConfig(**config.to_dict()) == config


def test_what_only_models_from_elsewhere_have_stands_in_their_files_alone():
    config = GPTConfig(vocabulary_size=10, activation="gelu-tanh", tied=True)
    written = config.to_dict()
    assert (written["activation"], written["tied"]) == ("gelu-tanh", True)
    assert GPTConfig(**written) == config
    usual = replace(config, activation="gelu", tied=False).to_dict()
    assert not usual.keys() & {"activation", "tied"}
    assert list(written) == [*usual, "activation", "tied"]


@pytest.mark.parametrize(
    "name", [n for n, size in SIZES.items() if not size.choices and n != "n_latents"]
)
def test_a_size_of_one_mechanism_is_refused_in_a_model_of_another(name: str):
    value = 2 if SIZES[name].default != 2 else 3
    given: dict[str, Any] = {"vocabulary_size": 10, name: value}
    owners = [attention for attention in TRAINED if attention in SIZES[name].owners]
    for attention in (a for a in TRAINED if a not in owners):
        with pytest.raises(ValueError, match=f"{name}.* belongs? to "):
            GPTConfig(**given, attention=attention)
    for attention in owners:
        assert getattr(GPTConfig(**given, attention=attention), name) == value
