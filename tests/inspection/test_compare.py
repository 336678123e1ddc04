"""One head of two runs: the difference, where it is largest, and how far all heads lie apart."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from core.data.vocabulary import Vocabulary
from core.inspection.align import PARTS, TOKENS, Alignment, AlignmentError, alignments
from core.inspection.compare import compare_heads, distances
from core.inspection.trace import trace
from core.inspection.traced import AttentionTrace
from core.models.gpt import GPT
from tests.with_task import with_task

ADA, HINA = "Where was Ada Arden born?", "Where was Hina born?"
Pair = tuple[AttentionTrace, AttentionTrace]
Rows = list[list[float]]
ByHand = Callable[..., tuple[Pair, Alignment]]


@pytest.fixture(scope="module")
def pair(make_variant: Callable[[str], GPT], characters: Vocabulary) -> Pair:
    model = make_variant("rotary")
    return trace(with_task(model, characters), ADA), trace(with_task(model, characters), HINA)


ONE = [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.2, 0.8, 0.0]]
TWO = [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.9, 0.0, 0.1]]


@pytest.fixture
def by_hand(small_trace: AttentionTrace) -> Callable[..., tuple[Pair, Alignment]]:
    """Two traces of one head and three tokens with these weights, aligned token by token."""

    def make(rows: Rows) -> AttentionTrace:
        hidden = np.where(np.tri(3, dtype=bool), 0, -np.inf)[None, None]
        return replace(
            small_trace,
            labels=tuple("abc"),
            weights=np.array([[rows]], dtype=np.float32),
            scores=hidden.astype(np.float32),
            value_norm=np.array([[[1, 2, 4]]], dtype=np.float32),
        )

    def by_hand_(first: Rows, second: Rows) -> tuple[Pair, Alignment]:
        each = (True,) * 3
        alignment = Alignment(kind=TOKENS, how="", labels=tuple("abc"), starts=(each, each))
        return (make(first), make(second)), alignment

    return by_hand_


def test_the_difference_is_signed_and_its_largest_cell_is_named(by_hand: ByHand):
    traces, alignment = by_hand(ONE, TWO)
    found = compare_heads(traces, alignment, ((0, 0), (0, 0)))
    np.testing.assert_allclose(found.difference[2], [0.7, -0.8, 0.1], atol=1e-6)
    assert found.largest == (2, 1)
    assert (found.top, found.reach) == (1.0, pytest.approx(0.8))
    assert found.distance == pytest.approx(0.8 / 3)
    back = compare_heads((traces[1], traces[0]), alignment, ((0, 0), (0, 0)))
    np.testing.assert_allclose(back.difference, -found.difference)


def test_a_contribution_is_weight_times_the_norm_of_the_value(by_hand: ByHand):
    traces, alignment = by_hand(ONE, TWO)
    found = compare_heads(traces, alignment, ((0, 0), (0, 0)), "contribution")
    np.testing.assert_allclose(found.difference[2], [0.7, -1.6, 0.4], atol=1e-6)
    with pytest.raises(ValueError, match="quantity 'size'; allowed: weight, contribution"):
        compare_heads(traces, alignment, ((0, 0), (0, 0)), "size")


def test_the_same_map_has_no_difference_and_still_a_scale(by_hand: ByHand):
    traces, alignment = by_hand(ONE, ONE)
    found = compare_heads(traces, alignment, ((0, 0), (0, 0)))
    assert (found.distance, found.reach) == (0.0, 1.0)
    assert distances(traces, alignment).tolist() == [[0.0]]


def test_a_row_that_looks_at_other_keys_lies_at_distance_1(by_hand: ByHand):
    eye, first = np.eye(3).tolist(), [[1.0, 0.0, 0.0]] * 3
    traces, alignment = by_hand(eye, first)
    assert distances(traces, alignment)[0, 0] == pytest.approx(2 / 3)  # row 0 is the same


def test_rows_where_nothing_stands_do_not_count(by_hand: ByHand):
    one, two = [[1.0, 0, 0], [0.0, 0, 0], [1.0, 0, 0]], [[1.0, 0, 0], [0.0, 0, 0], [0, 0, 1.0]]
    traces, alignment = by_hand(one, two)
    assert distances(traces, alignment)[0, 0] == pytest.approx(1 / 2)


def test_distances_of_all_heads_are_those_of_each(pair: Pair):
    alignment = alignments(*pair)[PARTS]
    found = distances(pair, alignment)
    assert found.shape == (2, 4)
    for at in np.ndindex(2, 4):
        head = (at[0], at[1])
        one = compare_heads(pair, alignment, (head, head))
        assert found[at] == pytest.approx(one.distance)
        assert one.labels == alignment.labels
        assert one.visible.tolist() == np.tri(6, dtype=bool).tolist()
    assert 0 < found.max() <= 1


def test_masked_cells_are_those_of_the_traces(
    make_variant: Callable[[str], GPT], characters: Vocabulary
):
    record = trace(with_task(make_variant("perceiver-stride"), characters), ADA)
    alignment = alignments(record, record)[TOKENS]
    found = compare_heads((record, record), alignment, ((0, 0), (0, 1)))
    n = len(found.labels)
    assert (found.visible == record.visible[0][:n, :n]).all()
    assert not found.visible[1].any()  # no latent stands at position 1


def test_models_with_other_numbers_of_heads_are_refused(
    pair: Pair, make_variant: Callable[[str], GPT], characters: Vocabulary
):
    other = trace(with_task(make_variant("learned"), characters), ADA)
    alignment = alignments(pair[0], other)[TOKENS]
    with pytest.raises(ValueError, match="2 layers of 4 heads here, 3 of 2 there"):
        distances((pair[0], other), alignment)
    found = compare_heads((pair[0], other), alignment, ((0, 3), (2, 1)))
    assert found.difference.shape == (len(alignment.labels),) * 2


def test_without_the_first_token_the_others_are_compared(by_hand: ByHand):
    traces, alignment = by_hand(ONE, TWO)
    found = compare_heads(traces, alignment, ((0, 0), (0, 0)), no_first=True)
    np.testing.assert_allclose(found.first[1:], [[0, 1, 0], [0, 1, 0]], atol=1e-6)
    np.testing.assert_allclose(found.second[1:], [[0, 1, 0], [0, 0, 1]], atol=1e-6)
    assert not found.visible[:, 0].any()
    assert found.largest == (2, 1)
    assert found.distance == pytest.approx(0.5)  # rows 1 and 2; none is left of row 0
    np.testing.assert_allclose(distances(traces, alignment, no_first=True), [[0.5]], atol=1e-6)
    assert distances(traces, alignment)[0, 0] == pytest.approx(0.8 / 3)


def test_contributions_without_the_first_token_are_what_they_were(by_hand: ByHand):
    traces, alignment = by_hand(ONE, TWO)
    heads = ((0, 0), (0, 0))
    whole, others = (
        compare_heads(traces, alignment, heads, "contribution", no_first=no_first)
        for no_first in (False, True)
    )
    np.testing.assert_array_equal(others.second[:, 1:], whole.second[:, 1:])
    assert not others.second[:, 0].any()


def test_where_no_row_is_left_in_both_there_is_no_distance(by_hand: ByHand):
    resting = [[1.0, 0.0, 0.0]] * 3
    traces, alignment = by_hand(ONE, resting)
    assert distances(traces, alignment, no_first=True).tolist() == [[0]]


def test_an_encoders_cells_ahead_are_compared_and_folded_to_words(two_texts: AttentionTrace):
    words = replace(two_texts, word_starts=(True, True, False, True) * 2)
    other = replace(words, weights=words.weights[:, ::-1])
    for kind in alignments(words, other):
        alignment = alignments(words, other)[kind]
        found = compare_heads((words, other), alignment, ((0, 0), (0, 0)))
        assert found.visible[0, 1]
        np.testing.assert_allclose(found.first[found.visible.any(-1)].sum(-1), 1, atol=1e-6)
    assert distances((words, other), alignments(words, other)[TOKENS]).shape == (3, 2)


def test_heads_of_layers_of_two_kinds_are_not_compared(two_texts: AttentionTrace):
    alignment = alignments(two_texts, two_texts)[TOKENS]
    with pytest.raises(AlignmentError, match="L0·H1 is a head of kind 'encoder' and L2·H0 of kind"):
        compare_heads((two_texts, two_texts), alignment, ((0, 1), (2, 0)))
