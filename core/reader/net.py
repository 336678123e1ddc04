"""The reader's network: where in a sentence the answer begins, and where it ends.

Words, their endings and features go through a bidirectional LSTM of two layers; of each word two
numbers say how well an answer would begin and end there (a pointer network, Vinyals et al. 2015,
with the boundary model of Wang & Jiang 2017). 0.5 million parameters, most of them of the words.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from core.reader.words import LONGEST_ANSWER, N_ENDINGS, N_FEATURES, Sentence

WORD, ENDING, HIDDEN = 48, 16, 96  # widths
DROPOUT_IN, DROPOUT_BETWEEN, DROPOUT_OUT = 0.4, 0.3, 0.4
NEVER = -1e4


class Batch(NamedTuple):
    """B sentences of at most T words: ids and endings (B, T), features (B, T, N_FEATURES), which
    words are there (B, T), and which spans are the answer (B, T, LONGEST_ANSWER).
    """

    ids: Tensor
    endings: Tensor
    features: Tensor
    is_word: Tensor
    is_answer: Tensor


class Pointer(nn.Module):
    """The network. Its first parameters are those of torch's global seed."""

    def __init__(self, n_words: int) -> None:
        super().__init__()
        self.words = nn.Embedding(n_words, WORD, padding_idx=0)
        self.endings = nn.Embedding(N_ENDINGS, ENDING)
        self.lstm = nn.LSTM(
            WORD + ENDING + N_FEATURES,
            HIDDEN,
            num_layers=2,
            batch_first=True,
            bidirectional=True,
            dropout=DROPOUT_BETWEEN,
        )
        self.drop_in, self.drop_out = nn.Dropout(DROPOUT_IN), nn.Dropout(DROPOUT_OUT)
        self.ends = nn.Linear(2 * HIDDEN, 2)

    def forward(self, batch: Batch) -> Tensor:
        """(B, T, LONGEST_ANSWER): log-probability of each span, from its first word (T) and its
        length; of those that stand in the sentence they sum to 1 at most.
        """
        read = [self.words(batch.ids), self.endings(batch.endings), batch.features]
        hidden = self._read(self.drop_in(torch.cat(read, -1)), batch.is_word)
        ends = self.ends(self.drop_out(hidden)).masked_fill(~batch.is_word[..., None], NEVER)
        begin, end = ends.log_softmax(1).unbind(-1)
        padded = nn.functional.pad(end, (0, LONGEST_ANSWER - 1), value=NEVER)
        return begin[..., None] + padded.unfold(1, LONGEST_ANSWER, 1)

    def _read(self, x: Tensor, is_word: Tensor) -> Tensor:
        """(B, T, 2 · HIDDEN). Packed, so that a sentence is read as it would be alone."""
        lengths = is_word.sum(1).clamp(min=1)
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        hidden, _ = self.lstm(packed)
        return pad_packed_sequence(hidden, batch_first=True, total_length=x.shape[1])[0]


def batch_of(sentences: Sequence[Sentence]) -> Batch:
    """Sentences side by side, the shorter ones padded."""
    n, longest = len(sentences), max(1, *(len(sentence.ids) for sentence in sentences))
    batch = Batch(
        torch.zeros(n, longest, dtype=torch.long),
        torch.zeros(n, longest, dtype=torch.long),
        torch.zeros(n, longest, N_FEATURES),
        torch.zeros(n, longest, dtype=torch.bool),
        torch.zeros(n, longest, LONGEST_ANSWER, dtype=torch.bool),
    )
    for row, sentence in enumerate(sentences):
        there = slice(len(sentence.ids))
        if sentence.ids:
            batch.ids[row, there] = torch.tensor(sentence.ids)
            batch.endings[row, there] = torch.tensor(sentence.endings)
            batch.features[row, there] = torch.tensor(sentence.features)
        batch.is_word[row, there] = True
        for first, last in sentence.answers:
            if last - first < LONGEST_ANSWER:
                batch.is_answer[row, first, last - first] = True
    return batch


def loss_of(spans: Tensor, batch: Batch) -> Tensor:
    """Mean −log of the probability that all spans have together that are the answer."""
    return -spans.masked_fill(~batch.is_answer, NEVER).flatten(1).logsumexp(1).mean()
