"""What a recogniser writes of sounds, in batches of sounds of similar length.

What is written is kept on the processor, whatever the device of the model: a character costs one
pass there and back. Usually the best of a beam, by the decoder and CTC together
(core.generation.beam); with a beam of 1 greedily, by the decoder alone. Every step reads all that
is written so far again, for the decoder keeps no past; a text is short.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from core.checkpoints.store import Checkpoint
from core.generation.beam import BEAM, best_texts
from core.models.heads import Heads
from core.models.recogniser import Memory, Recogniser, columns_of
from core.models.seam import Attend
from core.speech.features import N_BANDS
from core.speech.sentences import LONGEST

SOUNDS_AT_ONCE = 32


@dataclass(frozen=True, slots=True)
class Heard:
    """What was written of a sound: characters by id without the end, and the decoder's probability
    of each, that of the end behind them if it came.
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
    beam: int = BEAM,
) -> list[Heard]:
    """What is written of each sound's frames (frames, N_BANDS); at most `most` characters.

    `attend` says how heads attend, as in core.models.seam. Cost: a pass of the encoder a sound, and
    of the decoder over `beam` texts a character. Raises ValueError for a sound that is too long,
    and for a checkpoint that hears nothing.
    """
    model = recogniser_of(stored)
    order = sorted(range(len(sounds)), key=lambda i: len(sounds[i]))
    found: list[Heard | None] = [None] * len(sounds)
    with torch.inference_mode():
        for start in range(0, len(order), SOUNDS_AT_ONCE):
            places = order[start : start + SOUNDS_AT_ONCE]
            frames, n_frames = padded([sounds[i] for i in places])
            same = bool((n_frames == n_frames[0]).all())
            attending = attend or fused
            real = None if same else n_frames.to(model.device)
            memory = model.encode(frames.to(model.device), attending, n_frames=real)
            texts = _texts(stored, model, memory, attending, most=most, beam=beam)
            shares = _shares(stored, model, memory, attending, texts, most=most)
            for place, ids, share in zip(places, texts, shares, strict=True):
                found[place] = Heard(stored.vocabulary.decode(ids), ids, share)
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


def _texts(
    stored: Checkpoint, model: Recogniser, memory: Memory, attend: Attend, *, most: int, beam: int
) -> list[tuple[int, ...]]:
    """Ids of what is written of each sound, without the end."""
    blank, end = stored.vocabulary.pad_id, stored.vocabulary.mask_id
    if beam > 1:
        return best_texts(model, memory, attend, blank=blank, end=end, most=most, beam=beam)
    ids = torch.full((len(memory.x), 1), end)
    is_over = torch.zeros(len(ids), dtype=torch.bool)
    for _ in range(most):
        stream = model.decode(ids.to(model.device), memory, attend)
        logits = model.logits(stream[:, -1]).cpu()
        logits[:, blank] = -torch.inf  # it stands for nothing
        best = logits.argmax(-1)
        is_over |= best == end
        if bool(is_over.all()):
            break
        ids = torch.cat([ids, best.masked_fill(is_over, end)[:, None]], 1)
    rows = cast(list[list[int]], ids[:, 1:].tolist())
    return [tuple(row[: row.index(end)] if end in row else row) for row in rows]


def _shares(
    stored: Checkpoint,
    model: Recogniser,
    memory: Memory,
    attend: Attend,
    texts: Sequence[tuple[int, ...]],
    *,
    most: int,
) -> list[tuple[float, ...]]:
    """The decoder's probability of each character given those before it, and of the end where a
    text is not cut off at `most`.
    """
    blank, end = stored.vocabulary.pad_id, stored.vocabulary.mask_id
    longest = max(map(len, texts)) + 1
    given = torch.tensor([[end, *ids, *[end] * (longest - 1 - len(ids))] for ids in texts])
    logits = model.logits(model.decode(given.to(model.device), memory, attend)).cpu()
    logits[..., blank] = -torch.inf
    wrote = torch.tensor([[*ids, *[end] * (longest - len(ids))] for ids in texts])
    shares = logits.softmax(-1).gather(-1, wrote[..., None])[..., 0]
    rows = cast(list[list[float]], shares.tolist())
    n_said = [len(ids) + (len(ids) < most) for ids in texts]
    return [tuple(row[:n]) for row, n in zip(rows, n_said, strict=True)]


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
