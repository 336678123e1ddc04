"""BigBird: which blocks are seen, and that gathering them is softmax with a mask."""

import pytest
import torch
from torch import Tensor

from core.attention import bigbird, softmax
from core.attention.masks import hidden_pairs


def draw(n_tokens: int, *, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    query, key, value = (
        torch.randn(2, 3, n_tokens, 4, generator=generator).double() for _ in range(3)
    )
    return query, key, value


def blocks(n_blocks: int, *, causal: bool = False, seed: int = 1, **sizes: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return bigbird.draw_blocks(n_blocks, causal=causal, generator=generator, **sizes)


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("n_tokens", [1, 40, 64, 77])
def test_gathered_blocks_equal_masked_softmax(n_tokens: int, causal: bool, padded: bool):
    query, key, value = draw(n_tokens)
    table = blocks(-(-n_tokens // 4), causal=causal, n_global=2, n_window=3, n_random=2)
    padding = torch.zeros(2, n_tokens, dtype=torch.bool) if padded else None
    if padding is not None:
        padding[0, (n_tokens + 1) // 2 :] = True
    weights = bigbird.weights(
        query, key, table, block_size=4, n_global=2, causal=causal, padding=padding
    )
    output = bigbird.attend(
        query, key, value, table, block_size=4, n_global=2, causal=causal, padding=padding
    )
    assert (output - weights @ value).abs().max() < 1e-12
    torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]))
    hidden = hidden_pairs(query, key, causal=causal, padding=padding)
    if hidden is not None:
        assert (weights[hidden.expand_as(weights)] == 0).all()


def test_every_block_sees_the_global_ones_its_window_and_random_others():
    table = blocks(20, n_global=2, n_window=3, n_random=3)
    for row, seen in enumerate(table.tolist()):
        kept = [j for j in seen if j >= 0]
        assert kept == sorted(set(kept))
        window = set(range(max(0, row - 1), min(20, row + 2)))
        assert {0, 1} | window <= set(kept)
        assert len(set(kept) - {0, 1} - window) == 3


def test_causal_blocks_never_lie_ahead():
    table = blocks(20, causal=True, n_global=1, n_window=2, n_random=3)
    assert (table <= torch.arange(20)[:, None]).all()
    assert [j for j in table[0].tolist() if j >= 0] == [0]
    assert (table[10:] >= 0).all()
    assert table.shape == (20, 6)


def test_a_short_text_is_attended_to_in_full():
    query, key, value = draw(28)
    table = blocks(7, n_global=1, n_window=3, n_random=3)
    output = bigbird.attend(query, key, value, table, block_size=4)
    full, _ = softmax.attend(query, key, value)
    assert (output - full).abs().max() < 1e-12


def test_any_two_tokens_are_two_steps_apart_through_the_global_block():
    table = blocks(16, n_global=1, n_window=1, n_random=0)
    seen = bigbird.seen_pairs(table, 1, 16, n_global=1, causal=False).double()
    assert (seen @ seen > 0).all()
    assert not (seen > 0).all()


def test_blocks_depend_on_their_generator_alone():
    assert torch.equal(blocks(30), blocks(30))
    assert not torch.equal(blocks(30), blocks(30, seed=2))


def test_gradients_reach_only_what_is_seen():
    query, key, value = (x.requires_grad_() for x in draw(40))
    table = blocks(10, causal=True, n_global=1, n_window=1, n_random=1)
    output = bigbird.attend(query, key, value, table, block_size=4, causal=True)
    output[:, :, 20].sum().backward()
    seen = bigbird.seen_pairs(table, 4, 40, n_global=1, causal=True)[20] & (torch.arange(40) <= 20)
    reached = value.grad
    assert reached is not None
    assert torch.equal((reached != 0).any(-1)[0, 0], seen)


@pytest.mark.parametrize("n_window", [0, 2])
def test_a_window_without_a_middle_is_refused(n_window: int):
    with pytest.raises(ValueError, match=r"a window of \d blocks; it must be odd and at least 1"):
        blocks(4, n_window=n_window)


def test_negative_numbers_of_blocks_are_refused():
    with pytest.raises(ValueError, match="-1 global and 3 random blocks; neither can be negative"):
        blocks(4, n_global=-1)


def test_blocks_for_another_length_are_refused():
    query, key, value = draw(40)
    with pytest.raises(ValueError, match="9 rows of blocks; 10 are needed for 40 tokens in blocks"):
        bigbird.attend(query, key, value, blocks(9), block_size=4)


def test_other_tokens_for_queries_are_refused():
    query, key, value = draw(40)
    with pytest.raises(ValueError, match="8 queries and 40 keys: BigBird needs the same tokens"):
        bigbird.attend(query[:, :, :8], key, value, blocks(10), block_size=4)
