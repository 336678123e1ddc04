"""Where latents stand: the whole of a Perceiver's masks follows from it."""

import pytest
import torch

from core.attention import softmax
from core.attention.perceiver import latent_positions


@pytest.mark.parametrize(
    ("n_latents", "stride", "start", "end", "standing"),
    [
        (4, 1, 0, 3, [0, 1, 2]),
        (4, 1, 0, 9, [0, 1, 2, 3]),
        (4, 1, 3, 4, [3]),
        (4, 1, 4, 9, []),
        (4, 2, 0, 5, [0, 2, 4]),
        (4, 2, 5, 6, []),
        (4, 2, 5, 7, [6]),
        (3, 5, 0, 1, [0]),
    ],
)
def test_a_latent_belongs_to_the_tokens_among_which_it_stands(
    n_latents: int, stride: int, start: int, end: int, standing: list[int]
):
    tokens = torch.arange(start, end)
    assert latent_positions(n_latents, stride, tokens).tolist() == standing


@pytest.mark.parametrize("stride", [1, 2, 3])
def test_standing_in_parts_equals_standing_at_once(stride: int):
    whole = latent_positions(5, stride, torch.arange(14))
    parts = [latent_positions(5, stride, torch.arange(i, i + 2)) for i in range(0, 14, 2)]
    assert torch.cat(parts).tolist() == whole.tolist()


def test_both_masks_of_the_course_are_triangular_by_index():
    tokens = torch.arange(6)
    latents = latent_positions(4, 1, tokens)
    down, up = softmax.future(latents, tokens), softmax.future(tokens, latents)
    assert (~down).int().tolist() == torch.ones(4, 6).tril().int().tolist()
    assert (~up).int().tolist() == torch.ones(6, 4).tril().int().tolist()
