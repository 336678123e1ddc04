"""From utterances to batches of frames and characters, and the loss of a recogniser.

    loss = cross-entropy of each character given those before it and the sound
         + ctc_weight · CTC of the whole text given the sound, a character of it

All that is random (order, masks, dropout) follows from the seed and the place of the batch.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, cast

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from core.data.own_vocabulary import CharVocabulary
from core.data.vocabulary import Vocabulary
from core.models.recogniser import Memory, Recogniser, columns_of
from core.speech.features import N_BANDS
from core.speech.sentences import CHARACTERS
from core.training.examples import IGNORE, POOL_SIZE
from core.training.loop import Trainer, trainer_factory
from core.training.recipe import Phase, Recipe
from core.training.shares import Whole, share_of
from core.training.speech_recipe import SpeechRecipe
from core.training.where import HERE, Where

WIDEST_BANDS, WIDEST_TIME = 6, 8  # of a mask


class Hearable(Protocol):
    """A sound's frames (frames, N_BANDS), and the plain text that is said in it."""

    @property
    def frames(self) -> NDArray[np.floating]: ...

    @property
    def text(self) -> str: ...


@dataclass(frozen=True, slots=True)
class SpeechBatch:
    """Sounds and texts, each padded to the longest.

    frames (B, T, N_BANDS), of which each row has n_frames (B,) real ones; inputs (B, L) begin with
    the mark, targets (B, L) end with it and are IGNORE where there is nothing; `n_tokens` of them
    count. `seed` is that of the dropout. A share tells of its `whole`.
    """

    frames: Tensor
    n_frames: Tensor
    inputs: Tensor
    targets: Tensor
    n_tokens: int
    seed: int
    whole: Whole | None = None

    def share(self, part: int, n_parts: int) -> "SpeechBatch":
        """The rows of one of n_parts processes, each with a dropout of its own."""
        rows, whole = share_of(self.targets != IGNORE, part, n_parts)
        return replace(
            self,
            frames=self.frames[rows],
            n_frames=self.n_frames[rows],
            inputs=self.inputs[rows],
            targets=self.targets[rows],
            seed=self.seed + (part << 32),
            whole=whole,
        )


def speech_vocabulary() -> CharVocabulary:
    """The characters of plain texts; what pads is CTC's blank, the mark begins and ends a text."""
    return CharVocabulary.from_text(CHARACTERS)


def pool_of_sounds(
    data: Sequence[Hearable], recipe: Recipe, phase: Phase, *, seed: int, pool: int
) -> list[SpeechBatch]:
    """The batches of one pool of utterances, of similar length inside and in random order.

    All are heard before one is heard again. The same arguments give the same batches.
    """
    speech = cast(SpeechRecipe, recipe)
    generator = random.Random(f"{seed}:{phase.name}:{pool}")
    members = [data[i] for i in _drawn(len(data), seed=seed, pool=pool)]
    groups: list[list[Hearable]] = [[]]
    for one in sorted(members, key=lambda one: len(one.frames)):
        if groups[-1] and (len(groups[-1]) + 1) * len(one.frames) > recipe.tokens_per_batch:
            groups.append([])
        groups[-1].append(one)
    generator.shuffle(groups)
    return [collate(group, speech, seed=generator.randrange(2**31)) for group in groups]


def collate(group: Sequence[Hearable], recipe: SpeechRecipe, *, seed: int) -> SpeechBatch:
    """A batch; its masks are drawn by the seed."""
    vocabulary = speech_vocabulary()
    generator = np.random.default_rng(seed)
    frames = torch.zeros(len(group), max(len(one.frames) for one in group), N_BANDS)
    texts = [vocabulary.encode(one.text) for one in group]
    longest = max(map(len, texts)) + 1
    inputs = torch.full((len(group), longest), vocabulary.pad_id)
    targets = torch.full((len(group), longest), IGNORE)
    for row, (one, ids) in enumerate(zip(group, texts, strict=True)):
        heard = np.array(one.frames, dtype=np.float32)
        mask(heard, recipe, generator)
        frames[row, : len(heard)] = torch.from_numpy(heard)
        inputs[row, : len(ids) + 1] = torch.tensor([vocabulary.mask_id, *ids])
        targets[row, : len(ids) + 1] = torch.tensor([*ids, vocabulary.mask_id])
    n_tokens = sum(map(len, texts)) + len(texts)
    n_frames = torch.tensor([len(one.frames) for one in group])
    return SpeechBatch(frames, n_frames, inputs, targets, n_tokens, seed)


def mask(heard: NDArray[np.float32], recipe: SpeechRecipe, generator: np.random.Generator) -> None:
    """Set stretches of bands and of time to 0, which is their mean, in place."""
    for n_masks, widest, axis in (
        (recipe.n_band_masks, WIDEST_BANDS, 1),
        (recipe.n_time_masks, WIDEST_TIME, 0),
    ):
        for _ in range(n_masks):
            width = int(generator.integers(0, widest + 1))
            start = int(generator.integers(0, max(1, heard.shape[axis] - width)))
            chosen = slice(start, start + width)
            heard[(chosen, slice(None)) if axis == 0 else (slice(None), chosen)] = 0.0


def loss_of(recipe: SpeechRecipe) -> Callable[[nn.Module, SpeechBatch], Tensor]:
    """The loss of this recipe's batches; dropout is drawn by the batch's own seed."""

    def drop(x: Tensor) -> Tensor:
        return F.dropout(x, recipe.dropout)

    def loss(model: nn.Module, batch: SpeechBatch) -> Tensor:
        recogniser = cast(Recogniser, model)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(batch.seed)
            logits, memory = recogniser(batch.frames, batch.inputs, batch.n_frames, drop)
        written = F.cross_entropy(
            logits.flatten(0, 1),
            batch.targets.flatten(),
            ignore_index=IGNORE,
            label_smoothing=recipe.label_smoothing,
        )
        tokens, rows = _parts_of_whole(batch)
        if recogniser.ctc is None:
            return tokens * written
        aligned = ctc_loss(recogniser.ctc, memory, batch)
        return tokens * written + recipe.ctc_weight * rows * aligned

    return loss


def _parts_of_whole(batch: SpeechBatch) -> tuple[float, float]:
    """Which part of the whole batch's characters and rows a share has: a mean over characters and
    one over rows go into the loss, and each has to add up over the shares.
    """
    if batch.whole is None:
        return 1.0, 1.0
    n_counted, n_rows, own_counted, own_rows = batch.whole
    return own_counted / n_counted, own_rows / n_rows


def ctc_loss(head: nn.Module, memory: Memory, batch: SpeechBatch) -> Tensor:
    """−log of the sum over all alignments of a text with the columns of its sound (Graves et al.
    2006), a character; a text of more characters than columns has none, and counts as 0.
    """
    columns = columns_of(batch.n_frames)
    lengths = (batch.targets != IGNORE).sum(1) - 1  # without the mark
    texts = batch.inputs[:, 1:]
    logs = head(memory.x).log_softmax(-1).transpose(0, 1)
    return F.ctc_loss(logs, texts, columns, lengths, blank=0, zero_infinity=True)


def speech_trainers(
    recipe: Recipe,
    data: Sequence[Hearable],
    vocabulary: Vocabulary,
    seed: int,
    weights: Path | None,
    *,
    where: Where = HERE,
) -> Callable[[int], Trainer]:
    """Trainers of a number of steps that hear these utterances."""
    return trainer_factory(
        recipe,
        data,
        vocabulary_size=vocabulary.size,
        seed=seed,
        weights=weights,
        make_pool=pool_of_sounds,
        loss=loss_of(cast(SpeechRecipe, recipe)),
        where=where,
    )


def _drawn(n: int, *, seed: int, pool: int) -> list[int]:
    """POOL_SIZE places of an endless row of shuffled rounds over all n."""
    found: list[int] = []
    first = pool * POOL_SIZE
    for round_ in range(first // n, (first + POOL_SIZE - 1) // n + 1):
        order = list(range(n))
        random.Random(f"{seed}:round:{round_}").shuffle(order)
        begin = max(0, first - round_ * n)
        found += order[begin : max(begin, first + POOL_SIZE - round_ * n)]
    return found
