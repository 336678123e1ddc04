"""Singular values of maps whose rank is known."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from core.data.vocabulary import Vocabulary
from core.inspection.spectrum import Spectra, spectra
from core.inspection.trace import record_layers
from core.models.gpt import GPT
from tests.with_task import with_task

TEXT = "Ada Arden was born in Lagos. Bruno Bello was born in Kyoto."


def made(*rows: list[float]) -> Spectra:
    return Spectra(n_tokens=len(rows[0]), values=np.array([rows], dtype=float))


def test_shares_are_cumulative_and_a_rank_is_how_many_make_up_a_share():
    found = made([4, 3, 2, 1], [10, 0, 0, 0])
    np.testing.assert_allclose(found.cumulative[0, 0], [0.4, 0.7, 0.9, 1])
    np.testing.assert_allclose(found.cumulative[0, 1], 1)
    assert found.rank_for(0.7).tolist() == [[2, 1]]
    assert found.rank_for(0.71).tolist() == [[3, 1]]


@torch.inference_mode()
def test_values_are_those_of_the_recorded_maps(variant: GPT, characters: Vocabulary):
    found = spectra(with_task(variant, characters), TEXT)
    ids = characters.encode(TEXT)[: variant.config.longest_input]
    assert found.n_tokens == len(ids)
    layers = record_layers(variant, torch.tensor([ids]))
    for index, layer in enumerate(layers):
        weights = layer.weights[0].double()
        # Σ σ² is the squared Frobenius norm.
        squares = weights.square().sum((-1, -2)).numpy()
        np.testing.assert_allclose((found.values[index] ** 2).sum(-1), squares, rtol=1e-6)
        assert (np.diff(found.values[index]) <= 1e-12).all()
        n_least = min(weights.shape[-2:])
        assert (found.values[index, :, n_least:] == 0).all()


def test_a_text_longer_than_the_model_reads_is_cut(make_gpt: Callable, characters: Vocabulary):
    model = make_gpt(vocabulary_size=characters.size, block_size=24)
    assert spectra(with_task(model, characters), TEXT).n_tokens == 24


@pytest.mark.parametrize("text", ["", "A"])
def test_less_than_two_tokens_are_no_map(make_gpt: Callable, characters: Vocabulary, text: str):
    model = make_gpt(vocabulary_size=characters.size)
    with pytest.raises(ValueError, match="a map needs at least 2"):
        spectra(with_task(model, characters), text)
