"""What a recogniser writes of sounds: greedy, in batches of sounds of similar length.

Every step reads all that is written so far again, for the decoder keeps no past; a text is short.
Cost: a pass of the encoder a sound, and of the decoder a character.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from core.checkpoints.store import Checkpoint
from core.models.heads import Heads
from core.models.recogniser import Memory, Recogniser, columns_of
from core.models.seam import Attend
from core.speech.features import N_BANDS
from core.speech.sentences import LONGEST

SOUNDS_AT_ONCE = 32


@dataclass(frozen=True, slots=True)
class Heard:
    """What was written of a sound: characters by id without the end, and the probability of each,
    that of the end behind them if it came.
    """

    text: str
    ids: tuple[int, ...]
    probabilities: tuple[float, ...]

    @property
    def probability(self) -> float:
        """Of exactly this text."""
        return float(np.prod(self.probabilities))


def recogniser_of(stored: Checkpoint) -> Recogniser:
    """Its model. Raises ValueError for a checkpoint that hears nothing."""
    if not isinstance(stored.model, Recogniser):
        raise ValueError(f"{stored.name or 'this model'} reads texts: it hears nothing")
    return stored.model


def hear(
    stored: Checkpoint,
    sounds: Sequence[NDArray[np.floating]],
    *,
    attend: Attend | None = None,
    most: int = LONGEST,
) -> list[Heard]:
    """What is written of each sound's frames (frames, N_BANDS); at most `most` characters.

    `attend` says how heads attend, as in core.models.seam. Raises ValueError for a sound that is
    too long, and for a checkpoint that hears nothing.
    """
    model = recogniser_of(stored)
    order = sorted(range(len(sounds)), key=lambda i: len(sounds[i]))
    found: list[Heard | None] = [None] * len(sounds)
    with torch.inference_mode():
        for start in range(0, len(order), SOUNDS_AT_ONCE):
            places = order[start : start + SOUNDS_AT_ONCE]
            heard = _hear_batch(stored, model, [sounds[i] for i in places], attend or fused, most)
            for place, one in zip(places, heard, strict=True):
                found[place] = one
    return cast(list[Heard], found)


def fused(_layer: int, heads: Heads) -> Tensor:
    """Heads as they attend when nobody looks."""
    return heads.output()


def padded(sounds: Sequence[NDArray[np.floating]]) -> tuple[Tensor, Tensor]:
    """(frames (B, T, N_BANDS), n_frames (B,)) of sounds of any length."""
    frames = torch.zeros(len(sounds), max(map(len, sounds)), N_BANDS)
    for row, sound in enumerate(sounds):
        frames[row, : len(sound)] = torch.from_numpy(np.asarray(sound, dtype=np.float32))
    return frames, torch.tensor([len(sound) for sound in sounds])


def _hear_batch(
    stored: Checkpoint,
    model: Recogniser,
    sounds: Sequence[NDArray[np.floating]],
    attend: Attend,
    most: int,
) -> list[Heard]:
    frames, n_frames = padded(sounds)
    same = bool((n_frames == n_frames[0]).all())
    memory = model.encode(frames, attend, n_frames=None if same else n_frames)
    end = stored.vocabulary.mask_id
    ids = torch.full((len(sounds), 1), end)
    chosen = torch.zeros(len(sounds), 0)
    is_over = torch.zeros(len(sounds), dtype=torch.bool)
    for _ in range(most + 1):
        logits = model.logits(model.decode(ids, memory, attend)[:, -1])
        logits[:, stored.vocabulary.pad_id] = -torch.inf  # it stands for nothing
        probabilities, best = logits.softmax(-1).max(-1)
        chosen = torch.cat([chosen, probabilities[:, None]], 1)
        ids = torch.cat([ids, best.masked_fill(is_over, end)[:, None]], 1)
        is_over |= best == end
        if bool(is_over.all()):
            break
    rows = cast(list[list[int]], ids[:, 1:].tolist())
    shares = cast(list[list[float]], chosen.tolist())
    return [_heard(stored, row, share) for row, share in zip(rows, shares, strict=True)]


def _heard(stored: Checkpoint, row: list[int], shares: list[float]) -> Heard:
    end = stored.vocabulary.mask_id
    n = row.index(end) if end in row else len(row)
    ids = tuple(row[:n])
    return Heard(stored.vocabulary.decode(ids), ids, tuple(shares[: n + 1]))


def ctc_text(stored: Checkpoint, memory: Memory, n_frames: Tensor | None = None) -> list[str]:
    """What the encoder alone says of each sound: the best character of every column, repeats once,
    blanks not at all. Raises ValueError for a model without that head.
    """
    model = recogniser_of(stored)
    if model.ctc is None:
        raise ValueError(f"{stored.name or 'this model'} was trained without CTC")
    best = cast(list[list[int]], model.ctc(memory.x).argmax(-1).tolist())
    columns = [len(row) for row in best]
    if n_frames is not None:
        columns = cast(list[int], columns_of(n_frames).tolist())
    blank = stored.vocabulary.pad_id
    texts: list[str] = []
    for row, n in zip(best, columns, strict=True):
        kept = [c for c, before in zip(row[:n], [blank, *row], strict=False) if c != before]
        texts.append(stored.vocabulary.decode([c for c in kept if c != blank]))
    return texts
