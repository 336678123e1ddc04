"""Readers are trained on the training pairs, and read what they have never seen.

Each of a few networks begins with a seed of its own; what they find is the mean of their
probabilities. Nothing but the training pairs is learned from.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn

from core.checkpoints.progress import Counted
from core.reader.net import Pointer, batch_of, loss_of
from core.reader.words import Lexicon, Pair, Sentence, lexicon_of, sentence_of

N_NETS, N_EPOCHS, BATCH = 3, 14, 32
SORTED = 16  # batches of similar length are made of so many at once
RATE, DECAY, LEAST_RATE = 2e-3, 0.05, 0.02
READ_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Found:
    """What was found in a text, and its probability; nothing in an empty text."""

    answer: str
    probability: float


@dataclass(frozen=True, slots=True)
class Readers:
    """Networks that were trained on the pairs of one lexicon."""

    nets: tuple[Pointer, ...]
    lexicon: Lexicon


def train_readers(
    pairs: Sequence[Pair],
    *,
    seed: int,
    n_nets: int = N_NETS,
    n_epochs: int = N_EPOCHS,
    progress: Counted | None = None,
) -> Readers:
    """Readers of training pairs; those whose answer the text does not hold are passed over.

    The same arguments give the same readers on the same machine. torch's global seed is left as it
    was. `progress` is told the epochs of all networks. Raises ValueError if no text holds its
    answer. Cost: about 4 s an epoch of 1,700 pairs on 2 cores.
    """
    lexicon = lexicon_of(pairs)
    known = [sentence_of(pair, lexicon, is_known=True) for pair in pairs]
    useful = [sentence for sentence in known if sentence.answers]
    if not useful:
        raise ValueError(f"none of {len(pairs)} texts holds its answer: a reader learns from those")
    nets: list[Pointer] = []
    for number in range(n_nets):
        told = _After(progress, number * n_epochs, n_nets * n_epochs)
        nets.append(_train(useful, lexicon, seed=seed + number, n_epochs=n_epochs, told=told))
    return Readers(tuple(nets), lexicon)


@torch.inference_mode()
def read(readers: Readers, pairs: Sequence[Pair]) -> list[Found]:
    """What the readers find in texts they were not trained on; answers are not looked at."""
    unseen = [Pair(name=pair.name, text=pair.text, answer=None) for pair in pairs]
    sentences = [sentence_of(pair, readers.lexicon, is_known=False) for pair in unseen]
    found: list[Found] = []
    for start in range(0, len(sentences), READ_AT_ONCE):
        found += _read(readers, sentences[start : start + READ_AT_ONCE])
    return found


class _After:
    """Progress of a part of the whole."""

    def __init__(self, progress: Counted | None, before: int, total: int) -> None:
        self._progress, self._before, self._total = progress, before, total

    def done(self, n: int) -> None:
        if self._progress is not None:
            self._progress(self._before + n, self._total)


def _train(
    sentences: Sequence[Sentence], lexicon: Lexicon, *, seed: int, n_epochs: int, told: _After
) -> Pointer:
    """One network. Its dropout draws from torch's global generator, which is put back after."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net, generator = Pointer(lexicon.size), random.Random(seed)
        optimizer = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=DECAY)
        n_steps, step = n_epochs * _n_batches(sentences), 0
        for epoch in range(n_epochs):
            for rows in _shuffled(sentences, generator):
                batch = batch_of(rows)
                loss = loss_of(net(batch), batch)
                for group in optimizer.param_groups:
                    group["lr"] = RATE * max(LEAST_RATE, 1 - step / n_steps)
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(net.parameters(), 1.0)
                optimizer.step()
                step += 1
            told.done(epoch + 1)
    return net.eval()


def _n_batches(sentences: Sequence[Sentence]) -> int:
    return -(-len(sentences) // BATCH)


def _shuffled(sentences: Sequence[Sentence], generator: random.Random) -> list[list[Sentence]]:
    """Batches of all sentences in random order, each of sentences of similar length."""
    order = [*sentences]
    generator.shuffle(order)
    batches: list[list[Sentence]] = []
    for start in range(0, len(order), SORTED * BATCH):
        alike = sorted(order[start : start + SORTED * BATCH], key=lambda one: len(one.ids))
        batches += [alike[first : first + BATCH] for first in range(0, len(alike), BATCH)]
    generator.shuffle(batches)
    return batches


def _read(readers: Readers, sentences: Sequence[Sentence]) -> list[Found]:
    batch = batch_of(sentences)
    spans = torch.stack([net(batch).exp() for net in readers.nets]).mean(0)
    best = spans.flatten(1).max(1)
    found: list[Found] = []
    for sentence, value, place in zip(sentences, best.values, best.indices, strict=True):
        first, length = divmod(int(place), spans.shape[2])
        if sentence.ids:
            found.append(Found(sentence.said(first, first + length), float(value)))
        else:
            found.append(Found("", 0.0))
    return found
