"""The network's probabilities of spans, and their loss."""

import pytest
import torch

from core.reader.net import Batch, Pointer, batch_of, loss_of
from core.reader.words import LONGEST_ANSWER, Pair, lexicon_of, sentence_of

TEXTS = ["She was born in Oslo, far from Oslo town.", "He left.", ""]
PAIRS = [Pair(name="D", text=text, answer="Oslo") for text in TEXTS]
LEXICON = lexicon_of(PAIRS)


def spans_of(*which: int) -> tuple[torch.Tensor, Batch]:
    torch.manual_seed(0)
    net = Pointer(LEXICON.size).eval()
    batch = batch_of([sentence_of(PAIRS[i], LEXICON, is_known=True) for i in which])
    with torch.inference_mode():
        return net(batch), batch


def test_a_span_is_as_likely_as_its_beginning_and_its_end_together():
    torch.manual_seed(0)
    net = Pointer(LEXICON.size).eval()
    batch = batch_of([sentence_of(PAIRS[0], LEXICON, is_known=True)])
    with torch.inference_mode():
        spans = net(batch)[0]
        hidden, _ = net.lstm(
            torch.cat([net.words(batch.ids), net.endings(batch.endings), batch.features], -1)
        )
        begin, end = net.ends(hidden)[0].log_softmax(0).unbind(-1)
    n = len(begin)
    for first in range(n):
        for length in range(LONGEST_ANSWER):
            if first + length < n:
                expected = float(begin[first] + end[first + length])
                assert float(spans[first, length]) == pytest.approx(expected, abs=1e-5)
            else:
                assert float(spans[first, length].exp()) == 0


def test_spans_that_stand_there_are_at_most_certain_together():
    spans, _ = spans_of(0, 1)
    assert (spans.exp().flatten(1).sum(1) <= 1 + 1e-5).all()


def test_a_shorter_sentence_beside_a_longer_one_is_read_as_alone():
    beside, alone = spans_of(0, 1)[0][1], spans_of(1)[0][0]
    there = alone.shape[0]
    assert beside[there:].exp().sum() == 0
    assert torch.allclose(beside[:there].exp(), alone.exp(), atol=1e-6)


def test_the_loss_is_that_of_all_places_of_the_answer_together():
    spans, batch = spans_of(0)
    oslo = [5 - 1, 8]
    expected = -torch.stack([spans[0, first, 0] for first in oslo]).logsumexp(0)
    assert loss_of(spans, batch) == pytest.approx(float(expected), abs=1e-5)


def test_an_empty_sentence_has_no_likely_span():
    spans, _ = spans_of(2)
    assert spans.exp().max() <= 1
    assert spans.shape == (1, 1, LONGEST_ANSWER)
