"""Sizes that do not fit each other are refused with what is allowed."""

from typing import Any

import pytest

from core.models.config import GPTConfig, course_preset
from core.models.gpt import GPT


@pytest.mark.parametrize(
    ("positions", "n_parameters"), [("learned", 3_323_392), ("rotary", 3_290_624)]
)
def test_the_course_preset_has_exactly_the_course_s_parameters(positions: Any, n_parameters: int):
    assert GPT(course_preset(positions=positions)).n_parameters == n_parameters


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
        ({"attention": "linear"}, r"attention 'linear'; allowed: \('softmax',\)"),
        ({"positions": "rotary", "width": 6, "n_heads": 2}, "even head_dim, not 3"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(changes: dict[str, Any], message: str):
    sizes: dict[str, Any] = {"vocabulary_size": 10, "width": 32, "n_heads": 4}
    with pytest.raises(ValueError, match=message):
        GPTConfig(**sizes | changes)


def test_an_odd_head_dim_is_fine_with_learned_positions():
    assert GPTConfig(vocabulary_size=10, width=6, n_heads=2).head_dim == 3
