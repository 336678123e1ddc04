"""Heads by their names, those of a model, and a choice of them that is checked against it."""

import re

import numpy as np
import pytest

from core.inspection.heads import (
    EVERY_HEAD_ON,
    HeadMeans,
    HeadsOff,
    check_head,
    checked_off,
    every_head,
    head_name,
    parse_head,
)
from core.models.seam import Shape

SHAPE = Shape(
    n_layers=3,
    n_heads=2,
    n_kv_heads=1,
    head_dim=8,
    vocabulary_size=30,
    longest_input=24,
    mechanism="softmax",
)
NAMES_WHAT_THERE_IS = "is not a head of this model: layers are 0 to 2, heads 0 to 1"


def means_of(*shape: int) -> HeadMeans:
    values = np.zeros(shape, dtype=np.float32)
    return HeadMeans(reading=values, writing=values)


@pytest.mark.parametrize("at", [(0, 0), (3, 7), (11, 10)])
def test_a_heads_name_is_read_back(at: tuple[int, int]):
    assert parse_head(head_name(*at)) == at


@pytest.mark.parametrize("typed", ["L11H5", "l11h5", "l11.h5", "L11-H5", "L11·H5", " l11·h5 "])
def test_a_head_may_be_typed_as_is_easy(typed: str):
    assert parse_head(typed) == (11, 5)


@pytest.mark.parametrize("name", ["", "0·H3", "L·H", "L-1·H0", "L0·H²", "L0 H3", "L0·H3·H4", "L0"])
def test_what_is_no_heads_name_is_refused(name: str):
    message = f"^{re.escape(repr(name.upper()))} is not a head such as L0·H3$"
    with pytest.raises(ValueError, match=message):
        parse_head(name)


def test_every_head_comes_layer_by_layer_and_is_there():
    heads = every_head(SHAPE)
    assert heads == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]
    for head in heads:
        check_head(SHAPE, *head)


@pytest.mark.parametrize("head", [(3, 0), (0, 2), (-1, 0), (0, -1)])
def test_a_head_that_is_not_there_is_refused_alone_and_among_others(head: tuple[int, int]):
    message = f"^{head_name(*head)} {NAMES_WHAT_THERE_IS}$"
    with pytest.raises(ValueError, match=message):
        check_head(SHAPE, *head)
    with pytest.raises(ValueError, match=message):
        checked_off(HeadsOff(heads=((0, 0), head)), SHAPE)


def test_what_is_checked_holds_each_head_once_and_in_order():
    means = means_of(3, 2, 8)
    off = checked_off(HeadsOff(heads=((2, 1), (0, 0), (2, 1)), mode="mean", means=means), SHAPE)
    assert (off.heads, off.mode) == (((0, 0), (2, 1)), "mean")
    assert off.means is means
    assert checked_off(EVERY_HEAD_ON, SHAPE) == EVERY_HEAD_ON


def test_unknown_modes_and_means_that_lack_or_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="mode 'half'; allowed: zero, mean"):
        checked_off(HeadsOff(mode="half"), SHAPE)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="mode 'mean' needs the heads' means over the dev"):
        checked_off(HeadsOff(mode="mean"), SHAPE)
    with pytest.raises(ValueError, match=r"means of shape \(2, 4, 4\); .* need \(3, 2, 8\)"):
        checked_off(HeadsOff(mode="mean", means=means_of(2, 4, 4)), SHAPE)
