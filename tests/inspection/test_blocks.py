"""Layers by kind: whose rows and columns, which heads share keys, what is written."""

from dataclasses import replace

import pytest

from core.inspection.blocks import (
    block_name,
    first_row,
    group_size,
    kinds_of,
    seen_in,
    sharing,
    spans,
    written_rows,
)
from core.inspection.captions import strongest_head
from core.inspection.traced import AttentionTrace
from tests.fake_trace import fake_trace

BOTH = ("encoder", "encoder", "decoder", "cross", "decoder", "cross")


@pytest.fixture
def translated() -> AttentionTrace:
    """An encoder of 5 tokens beside a decoder of 4, of which the last two were written."""
    return fake_trace(6, 2, 9, kinds=BOTH, n_source=5)


def test_a_layer_is_named_by_the_block_of_its_own_half(translated: AttentionTrace):
    assert kinds_of(translated) == ["encoder", "decoder", "cross"]
    assert block_name(translated, 1) == "L1 is the self-attention of the encoder's block 1"
    assert block_name(translated, 4) == "L4 is the self-attention of the decoder's block 1"
    assert block_name(translated, 5) == "L5 is the cross-attention of the decoder's block 1"
    assert kinds_of(fake_trace(2, 1, 4)) == ["decoder"]


def test_each_kind_of_layer_has_its_own_rows_and_columns(translated: AttentionTrace):
    source, target = range(5), range(5, 9)
    assert [spans(translated, layer) for layer in (0, 2, 3)] == [
        (source, source),
        (target, target),
        (target, source),
    ]
    for layer in range(6):
        down, across = spans(translated, layer)
        outside = seen_in(translated, layer).copy()
        outside[down.start : down.stop, across.start : across.stop] = False
        assert not outside.any()


def test_nothing_is_written_in_an_encoder_beside_a_decoder(translated: AttentionTrace):
    assert [written_rows(translated, layer) for layer in (0, 2, 3)] == [[], [7, 8], [7, 8]]
    assert [first_row(translated, layer) for layer in (0, 2, 3)] == [0, 7, 7]
    unwritten = replace(translated, steps=())
    assert [first_row(unwritten, layer) for layer in (0, 2, 3)] == [0, 8, 8]
    bare = fake_trace(1, 1, 4, kinds=("encoder",), n_steps=0)
    assert (written_rows(bare, 0), first_row(bare, 0)) == ([], 0)


def test_query_heads_that_share_keys_are_named():
    grouped = fake_trace(1, 9, 3, n_kv_heads=3)
    assert group_size(grouped) == 3
    assert [sharing(grouped, head) for head in (0, 4, 8)] == [[1, 2], [3, 5], [6, 7]]
    assert sharing(fake_trace(1, 9, 3), 4) == sharing(fake_trace(1, 3, 3, n_kv_heads=3), 1) == []


def test_of_some_layers_the_strongest_is_one_of_theirs(translated: AttentionTrace):
    for kind in kinds_of(translated):
        layers = translated.layers_of(kind)
        assert strongest_head(translated, layers)[0] in layers
    assert strongest_head(translated) == strongest_head(translated, range(6))
